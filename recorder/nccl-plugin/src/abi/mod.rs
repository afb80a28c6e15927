//! What NCCL and the plugin agree on: numbers, layouts and words.

pub(crate) mod descriptor;
pub(crate) mod event;
mod mask;
mod version;
pub(crate) mod words;

pub(crate) use descriptor::Head;
pub(crate) use mask::Mask;
pub(crate) use version::Version;
