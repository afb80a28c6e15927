//! Dumps: from a snapshot to a file that PyTorch's own analyser reads.

mod document;
mod dumper;
mod file;
mod order;

pub(crate) use dumper::Dumper;
pub(crate) use file::host_name;
