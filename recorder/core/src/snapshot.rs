//! What the recorder holds at one moment, whole.

use std::sync::Arc;

use crate::record::{Record, WORDS, marks};
use crate::recorder::Recorder;
use crate::ring::RingCopy;
use crate::slot::Progress;
use crate::{Block, Communicator, Operation};

/// Everything that a dump is made of.
#[derive(Debug)]
pub struct Snapshot {
    /// The recordings, in the order in which they were made.
    pub entries: Vec<SnapshotEntry>,
    /// The communicators that entries belong to, and all that are in use.
    pub communicators: Vec<Arc<Communicator>>,
    /// Recordings that could not be read, since they were being written all the time.
    pub unread: usize,
    /// Recordings that found no place.
    pub lost: u64,
}

/// One recording.
#[derive(Debug, Clone)]
pub struct SnapshotEntry {
    /// Numbers all recordings of the process.
    pub record_id: u64,
    /// The communicator that it belongs to.
    pub communicator: Arc<Communicator>,
    /// What was asked for.
    pub operation: Operation,
    /// The communicator's number of the collective.
    pub collective_seq: u64,
    /// The communicator's number of the message.
    pub p2p_seq: u64,
    /// The communicator's number of the operation.
    pub op_id: u64,
    /// Nanoseconds since 1970.
    pub created_ns: u64,
    /// Nanoseconds since 1970; `None`: it was not seen to begin.
    pub started_ns: Option<u64>,
    /// Nanoseconds since 1970; `None`: it was not seen to end.
    pub completed_ns: Option<u64>,
    /// Nobody waits for it any more.
    pub retired: bool,
    /// A thread waits for it now.
    pub waited: bool,
    /// It was handed to the device.
    pub launched: bool,
    /// It returned at once, and nobody has waited for it yet.
    pub nonblocking: bool,
    /// The thread that issued it: the system's number, and the name.
    pub thread: (u64, String),
    /// Words of its stack, innermost first.
    pub(crate) stack: Vec<u64>,
}

impl SnapshotEntry {
    /// Whether it is over: it ended, or was given up.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.completed_ns.is_some() || self.retired
    }

    fn of(copy: &RingCopy<WORDS>, registered: &[Vec<Option<Arc<Communicator>>>; 2]) -> Option<Self> {
        let record = Record::from_words(&copy.slot.words);
        let communicator = registered
            .iter()
            .filter_map(|list| list.get(record.communicator as usize)?.as_ref())
            .find(|communicator| communicator.since <= copy.slot.ticket)?;
        let communicator = Arc::clone(communicator);
        let Progress { started, completed, marks } = copy.slot.progress;
        let at = |elapsed: u64| (elapsed != 0).then(|| record.created_ns.saturating_add(elapsed));
        Some(Self {
            record_id: copy.slot.ticket,
            communicator,
            operation: record.operation,
            collective_seq: record.collective_seq,
            p2p_seq: record.p2p_seq,
            op_id: record.op_id,
            created_ns: record.created_ns,
            started_ns: at(started),
            completed_ns: at(completed),
            retired: marks & marks::RETIRED != 0,
            waited: marks & marks::WAITED != 0,
            launched: marks & marks::LAUNCHED != 0,
            nonblocking: marks & marks::NONBLOCKING != 0,
            thread: (record.thread.id, record.thread.name()),
            stack: copy.stack.iter().take(usize::from(record.stack_len)).copied().collect(),
        })
    }
}

impl Recorder {
    /// Copies what is recorded, while others go on recording.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        // What the copies refer to is in the registry afterwards, or was before its number was given to another one.
        let before = self.registry.all();
        let copies = self.ring.copies();
        let registered = [self.registry.all(), before];
        let entries: Vec<_> =
            copies.recordings.iter().filter_map(|copy| SnapshotEntry::of(copy, &registered)).collect();
        let [registered, _] = registered;
        let mut used = vec![false; registered.len()];
        for entry in &entries {
            if let Some(used) = used.get_mut(entry.communicator.index as usize) {
                *used = true;
            }
        }
        let communicators = registered
            .into_iter()
            .zip(used)
            .filter_map(|(place, used)| place.filter(|communicator| used || !communicator.is_freed()))
            .collect();
        Snapshot { entries, communicators, unread: copies.busy, lost: self.ring.lost() }
    }
}

impl Snapshot {
    /// The oldest unfinished operation of each communicator, by the communicator's number. Ends of blocks stand for
    /// their blocks, and what cannot be followed is left out.
    pub(crate) fn oldest_unfinished(&self) -> Vec<&SnapshotEntry> {
        let mut oldest: Vec<Option<&SnapshotEntry>> = Vec::new();
        for entry in &self.entries {
            let index = entry.communicator.index as usize;
            if entry.is_over() || entry.operation.untracked || entry.nonblocking && !entry.waited {
                continue;
            }
            if matches!(entry.operation.block, Block::First | Block::Inner) && !entry.waited {
                continue;
            }
            if oldest.len() <= index {
                oldest.resize(index + 1, None);
            }
            if let Some(place) = oldest.get_mut(index) {
                place.get_or_insert(entry);
            }
        }
        oldest.into_iter().flatten().collect()
    }
}
