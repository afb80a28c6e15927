//! The entries of a dump as columns.

use alloc::vec::Vec;

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

/// The entries of a dump, one column per field.
///
/// A job has one entry per rank and operation, so an entry costs 70 bytes here and nothing behind it: what repeats
/// is in the symbol tables.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    pub(crate) record_id: Vec<u32>,
    pub(crate) group_ref: Vec<u32>,
    pub(crate) collective_seq: Vec<u32>,
    pub(crate) p2p_seq: Vec<u32>,
    pub(crate) op_id: Vec<u32>,
    pub(crate) op: Vec<StrId>,
    pub(crate) args: Vec<ArgsId>,
    pub(crate) stack: Vec<StackId>,
    pub(crate) created_ns: Vec<i64>,
    pub(crate) started_ns: Vec<i64>,
    pub(crate) completed_ns: Vec<i64>,
    pub(crate) duration_ms: Vec<f32>,
    pub(crate) timeout_ms: Vec<u32>,
    pub(crate) thread: Vec<StrId>,
    pub(crate) state: Vec<State>,
    pub(crate) flags: Vec<u8>,
}

const RETIRED: u8 = 1;
const P2P: u8 = 2;
const P2P_KNOWN: u8 = 4;
/// Stands for "the file does not say" in the columns of numbers.
const ABSENT: u32 = u32::MAX;

impl Entries {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.state.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// Appends an entry.
    pub fn push(&mut self, entry: &Entry) {
        self.record_id.push(entry.record_id.unwrap_or(ABSENT));
        self.group_ref.push(entry.group_ref);
        self.collective_seq.push(entry.collective_seq.unwrap_or(ABSENT));
        self.p2p_seq.push(entry.p2p_seq.unwrap_or(ABSENT));
        self.op_id.push(entry.op_id.unwrap_or(ABSENT));
        self.op.push(entry.op);
        self.args.push(entry.args);
        self.stack.push(entry.stack);
        self.created_ns.push(entry.created_ns);
        self.started_ns.push(entry.started_ns);
        self.completed_ns.push(entry.completed_ns);
        self.duration_ms.push(entry.duration_ms.unwrap_or(f32::NAN));
        self.timeout_ms.push(entry.timeout_ms);
        self.thread.push(entry.thread);
        self.state.push(entry.state);
        let mut flags = 0;
        if entry.retired {
            flags |= RETIRED;
        }
        if let Some(is_p2p) = entry.is_p2p {
            flags |= P2P_KNOWN | if is_p2p { P2P } else { 0 };
        }
        self.flags.push(flags);
    }

    /// The entry at `index`; an empty one when there is none.
    pub fn get(&self, index: EntryIdx) -> Entry {
        let at = index.0 as usize;
        if at >= self.len() {
            return Entry::default();
        }
        let known = |value: u32| (value != ABSENT).then_some(value);
        let flags = self.flags[at];
        Entry {
            record_id: known(self.record_id[at]),
            group_ref: self.group_ref[at],
            collective_seq: known(self.collective_seq[at]),
            p2p_seq: known(self.p2p_seq[at]),
            op_id: known(self.op_id[at]),
            op: self.op[at],
            args: self.args[at],
            stack: self.stack[at],
            created_ns: self.created_ns[at],
            started_ns: self.started_ns[at],
            completed_ns: self.completed_ns[at],
            duration_ms: Some(self.duration_ms[at]).filter(|ms| !ms.is_nan()),
            timeout_ms: self.timeout_ms[at],
            thread: self.thread[at],
            state: self.state[at],
            is_p2p: (flags & P2P_KNOWN != 0).then_some(flags & P2P != 0),
            retired: flags & RETIRED != 0,
        }
    }

    /// All entries in the dump's order.
    pub fn iter(&self) -> impl Iterator<Item = (EntryIdx, Entry)> + '_ {
        (0..self.len() as u32).map(|at| (EntryIdx(at), self.get(EntryIdx(at))))
    }

    /// The entries of a range, as columns of their own.
    pub(super) fn slice(&self, rows: core::ops::Range<usize>) -> Entries {
        let mut slice = Entries::default();
        for row in rows {
            slice.push(&self.get(EntryIdx(row as u32)));
        }
        slice
    }

    /// Puts the entries in the order of their record ids where all have one; equal ids keep the order of the file.
    ///
    /// Recorders write them so; files that other programs saved again need not be.
    pub fn sort_by_record_id(&mut self) {
        if self.record_id.is_sorted() || self.record_id.contains(&ABSENT) {
            return;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&at| self.record_id[at]);
        fn apply<T: Copy>(order: &[usize], column: &mut Vec<T>) {
            *column = order.iter().map(|&at| column[at]).collect();
        }
        apply(&order, &mut self.record_id);
        apply(&order, &mut self.group_ref);
        apply(&order, &mut self.collective_seq);
        apply(&order, &mut self.p2p_seq);
        apply(&order, &mut self.op_id);
        apply(&order, &mut self.op);
        apply(&order, &mut self.args);
        apply(&order, &mut self.stack);
        apply(&order, &mut self.created_ns);
        apply(&order, &mut self.started_ns);
        apply(&order, &mut self.completed_ns);
        apply(&order, &mut self.duration_ms);
        apply(&order, &mut self.timeout_ms);
        apply(&order, &mut self.thread);
        apply(&order, &mut self.state);
        apply(&order, &mut self.flags);
    }

    /// Gives back memory that was reserved for growth.
    pub fn shrink_to_fit(&mut self) {
        self.record_id.shrink_to_fit();
        self.group_ref.shrink_to_fit();
        self.collective_seq.shrink_to_fit();
        self.p2p_seq.shrink_to_fit();
        self.op_id.shrink_to_fit();
        self.op.shrink_to_fit();
        self.args.shrink_to_fit();
        self.stack.shrink_to_fit();
        self.created_ns.shrink_to_fit();
        self.started_ns.shrink_to_fit();
        self.completed_ns.shrink_to_fit();
        self.duration_ms.shrink_to_fit();
        self.timeout_ms.shrink_to_fit();
        self.thread.shrink_to_fit();
        self.state.shrink_to_fit();
        self.flags.shrink_to_fit();
    }
}
