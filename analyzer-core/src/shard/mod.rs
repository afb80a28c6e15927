//! Many files' readings with one set of symbols: what threads, browser workers and machines each make of their part of a job.
//!
//! Shards merge in any order with the same result. As a [`pack`] a shard is a file: all that the report and the page show, in a
//! fraction of the size.

mod config_table;
mod gathered;
pub mod message;
pub mod pack;
mod shard_dump;
mod wire;

pub use config_table::{Config, ConfigId, ConfigTable, MembersId};
pub use gathered::{FileNote, Shard};
pub use shard_dump::ShardDump;
