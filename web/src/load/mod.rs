//! From dropped files to a [`crate::dataset::Dataset`]: picking, reading in workers, and the words between the page and
//! its workers.

mod estimate;
mod loading;
pub(crate) mod pick;
pub(crate) mod protocol;
mod source;
pub(crate) mod viewer;
mod worker_handle;

pub(crate) use estimate::{BUDGET_BYTES, memory_bytes};
pub(crate) use loading::{Analyst, LoadEvent, Loading, Progress};
pub(crate) use source::{Opened, PACK_ENDING};
