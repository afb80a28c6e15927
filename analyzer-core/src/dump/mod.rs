//! Reading: the bytes of one file to the columns of the dumps in it.
//!
//! A reader cannot fail a job. [`read`] always answers with a [`Reading`]: the dumps it found and a list of
//! diagnostics, each with its place in the file. A file that breaks off keeps what came before the break.
//!
//! The way of the bytes: `container` finds out what a file is, `gzip` unpacks it, `pickle` and `json` decode it, and both hand each
//! container's items to `digest`, which stores them in columns.

mod column;
mod container;
mod digest;
mod dump_file;
mod entries;
mod entry;
mod entry_rows;
mod file_name;
mod float_text;
mod foreign;
mod gzip;
mod json;
mod keys;
mod pickle;
mod value;

pub(crate) use column::Column;
pub use container::read;
pub use dump_file::{Dump, Encoding, Fault, FaultKind, GroupConfig, GroupRef, GroupStatus, Reading};
pub use entries::{Entries, EntryHead};
pub use entry::{Entry, EntryIdx, State};
pub use entry_rows::EntryRows;
pub use file_name::{is_bystander, rank_of_broken_file, rank_of_file_name};
