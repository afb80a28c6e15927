//! What reading one file gives.

use alloc::string::String;
use alloc::vec::Vec;

use super::Entries;
use crate::symbols::{StrId, Symbols};

/// How a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Python pickle, as recorders write to disk.
    Pickle,
    /// JSON, as debug servers answer.
    Json,
}

/// What one file gave: any number of dumps and what was wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The file as the user knows it.
    pub file: String,
    /// The dumps in it: one as a rule, several in a bundle `{rank: dump}`, none in a file that is no dump.
    pub dumps: Vec<Dump>,
    /// What could not be read, in the order of the file.
    pub faults: Vec<Fault>,
    /// Size of the file, as it was given.
    pub size_bytes: u64,
}

/// One dump: what one rank left behind.
#[derive(Clone, Debug)]
pub struct Dump {
    /// The file it came from, as the user knows it.
    pub file: String,
    /// Global rank: from the dump or the bundle if it says, else from the file name; `None` when neither does.
    pub rank: Option<u32>,
    /// How the file was written.
    pub encoding: Encoding,
    /// `version`; empty for the oldest form, a bare list of entries.
    pub version: String,
    /// `comm_lib_version` or `nccl_version`; empty when absent.
    pub comm_lib_version: String,
    /// Whether the file had a list of entries at all.
    pub has_entries_key: bool,
    /// Whether the file broke off or could not be decoded to its end: what is here came before that place.
    pub truncated: bool,
    /// The entries, oldest first.
    pub entries: Entries,
    /// Groups as the entries name them; [`super::Entry::group_ref`] is an index into it.
    pub group_refs: Vec<GroupRef>,
    /// `pg_config`.
    pub group_configs: Vec<GroupConfig>,
    /// `pg_status`.
    pub group_statuses: Vec<GroupStatus>,
    /// Top-level and entry keys that the reader does not know, sorted; shown, never an error.
    pub unknown_keys: Vec<String>,
    /// Texts, frames, stacks and arguments of the entries.
    pub symbols: Symbols,
}

/// A group as an entry names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupRef {
    /// `pg_id`: counts the groups of this process; joins an entry to [`GroupStatus`], and means nothing on another rank.
    pub pg_id: Option<i64>,
    /// First item of `process_group`.
    pub name: StrId,
    /// Second item of `process_group`.
    pub desc: StrId,
}

/// An item of `pg_config`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupConfig {
    /// Name of the group; gloo writes an empty one.
    pub name: String,
    /// Its description.
    pub desc: String,
    /// Its members, as global ranks, sorted and without repetition.
    pub ranks: Vec<u32>,
}

/// An item of `pg_status`. `-1` means never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupStatus {
    /// The group's number in this process.
    pub pg_id: i64,
    /// `last_enqueued_collective`.
    pub last_enqueued: i64,
    /// `last_started_collective`; stays -1 where start events are off.
    pub last_started: i64,
    /// `last_completed_collective`.
    pub last_completed: i64,
}

/// Something that was wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of thing.
    pub kind: FaultKind,
    /// Byte offset in the file (for a gzip file: in what it holds); `None` where no single place is to blame.
    pub offset: Option<u64>,
    /// What was expected, what was found and what to do: a lowercase phrase that can follow the file's name and a colon.
    pub message: String,
}

/// The kinds of [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The file has no bytes.
    Empty,
    /// The file is neither pickle nor JSON, or holds no dump.
    NotADump,
    /// The file ends in the middle.
    Truncated,
    /// The file has something that no dump has.
    Malformed,
    /// A value has another type than the format says; it counts as absent.
    UnexpectedValue,
}
