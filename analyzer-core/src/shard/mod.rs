//! Many files' readings with one set of symbols: what threads, browser workers and machines each make of their part of a job.
//!
//! Shards merge in any order with the same result, and are written as packs: one file with all that the report and the page show.

mod config_table;
mod shard;
mod shard_dump;

pub use config_table::{Config, ConfigId, ConfigTable, MembersId};
pub use shard::{FileNote, Shard};
pub use shard_dump::ShardDump;
