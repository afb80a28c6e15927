//! One entry of a dump.

use crate::symbols::{ArgsId, StackId, StrId};

/// Names an entry of one dump: its place in the dump's order, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryIdx(pub u32);

/// How far an operation had come when its rank dumped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// The dump says nothing about it, or something that no known recorder writes.
    #[default]
    Unknown,
    /// The CPU issued it. Without start events it may be running.
    Scheduled,
    /// The device reached it.
    Started,
    /// This rank's part is done.
    Completed,
}

impl State {
    /// The word that dumps use.
    pub fn name(self) -> &'static str {
        match self {
            State::Unknown => "unknown",
            State::Scheduled => "scheduled",
            State::Started => "started",
            State::Completed => "completed",
        }
    }

    /// The state that a dump's word means.
    pub fn from_name(name: &str) -> State {
        match name {
            "scheduled" => State::Scheduled,
            "started" => State::Started,
            "completed" => State::Completed,
            _ => State::Unknown,
        }
    }
}

/// One entry, put together from the columns. What the file does not say is `None`, zero or the empty handle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Entry {
    /// `record_id`: counts all operations of the process.
    pub record_id: Option<u32>,
    /// Which of the dump's `(pg_id, name, description)` triples it belongs to: an index into [`crate::dump::Dump::group_refs`].
    pub group_ref: u32,
    /// `collective_seq_id` (older: `seq_id`).
    pub collective_seq: Option<u32>,
    /// `p2p_seq_id`.
    pub p2p_seq: Option<u32>,
    /// `op_id`.
    pub op_id: Option<u32>,
    /// `profiling_name`, such as `nccl:all_reduce`.
    pub op: StrId,
    /// Sizes and dtypes.
    pub args: ArgsId,
    /// Call stack.
    pub stack: StackId,
    /// `time_created_ns`: Unix time in nanoseconds by the rank's own clock; 0 when the file does not say.
    pub created_ns: i64,
    /// `time_discovered_started_ns`; 0 for none.
    pub started_ns: i64,
    /// `time_discovered_completed_ns`; 0 for none.
    pub completed_ns: i64,
    /// `duration_ms`: device time.
    pub duration_ms: Option<f32>,
    /// `timeout_ms`; 0 when the file does not say.
    pub timeout_ms: u32,
    /// `thread_name` of the issuing thread.
    pub thread: StrId,
    /// `state`.
    pub state: State,
    /// `is_p2p`; `None` when the file does not say.
    pub is_p2p: Option<bool>,
    /// `retired`: the watchdog no longer tracks it.
    pub retired: bool,
}
