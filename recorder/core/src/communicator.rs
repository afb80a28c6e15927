//! A communicator: the group that operations belong to, with its own counters.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use crate::{Block, Operation};

/// What its maker knows of a communicator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommunicatorInfo {
    /// The same on all its ranks, and another for every communicator.
    pub name: String,
    /// What people call it.
    pub description: String,
    /// This process's rank in it.
    pub rank: u32,
    /// How many ranks it has.
    pub size: u32,
    /// The global ranks of its members, in the order of their ranks in it. `None`: not known yet.
    pub members: Option<Vec<u32>>,
    /// The library's own number for it, the same on all ranks, by which ranks that know only their own place in it find
    /// each other. `None`: the members are known otherwise.
    pub shared_id: Option<u64>,
}

impl CommunicatorInfo {
    /// A communicator of all ranks.
    #[must_use]
    pub fn of_world(name: &str, rank: u32, size: u32) -> Self {
        let members = Some((0..size).collect());
        Self { name: name.to_owned(), description: String::new(), rank, size, members, shared_id: None }
    }
}

/// A communicator of this process. Its counters are the recorder's own: libraries count otherwise, or not at all.
#[derive(Debug)]
pub struct Communicator {
    pub(crate) index: u32,
    /// The ring's next ticket when it was made: its number may have belonged to another one before.
    pub(crate) since: u64,
    info: CommunicatorInfo,
    members: OnceLock<Vec<u32>>,
    collectives: AtomicU64,
    messages: AtomicU64,
    operations: AtomicU64,
    last_enqueued: AtomicI64,
    freed: AtomicBool,
}

/// Numbers of one operation, as in a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub collective_seq: u64,
    pub p2p_seq: u64,
    pub op_id: u64,
}

impl Communicator {
    pub(crate) fn new(index: u32, since: u64, info: CommunicatorInfo) -> Self {
        let members = OnceLock::new();
        if let Some(known) = &info.members {
            // A new cell takes it.
            let _ = members.set(known.clone());
        }
        Self {
            index,
            since,
            info,
            members,
            collectives: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            operations: AtomicU64::new(0),
            last_enqueued: AtomicI64::new(-1),
            freed: AtomicBool::new(false),
        }
    }

    /// What its maker told.
    #[must_use]
    pub fn info(&self) -> &CommunicatorInfo {
        &self.info
    }

    /// The global ranks of its members by their ranks in it; `None`: not known yet.
    #[must_use]
    pub fn members(&self) -> Option<&[u32]> {
        self.members.get().map(Vec::as_slice)
    }

    /// Tells who its members are. The first who tells is believed; a list of another length is not.
    pub fn tell_members(&self, members: Vec<u32>) {
        if members.len() == self.info.size as usize {
            let _ = self.members.set(members);
        }
    }

    /// Whether the program has given it up.
    #[must_use]
    pub fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Relaxed)
    }

    pub(crate) fn free(&self) {
        self.freed.store(true, Ordering::Relaxed);
    }

    /// Numbers the next operation. As in PyTorch: an operation of the other kind carries the current number unchanged,
    /// and a block has one number, which its first operation takes.
    pub(crate) fn number(&self, operation: &Operation) -> Numbers {
        let joins = matches!(operation.block, Block::Inner | Block::End);
        let next = |counter: &AtomicU64, is_own: bool| {
            if is_own && !joins { counter.fetch_add(1, Ordering::Relaxed) + 1 } else { counter.load(Ordering::Relaxed) }
        };
        let is_message = operation.kind.is_message();
        let collective_seq = next(&self.collectives, !is_message);
        let p2p_seq = next(&self.messages, is_message);
        let op_id = self.operations.fetch_add(1, Ordering::Relaxed) + 1;
        let numbers = Numbers { collective_seq, p2p_seq, op_id };
        self.last_enqueued.store(numbers.of(is_message), Ordering::Relaxed);
        numbers
    }

    /// The number of the last operation that was issued, of either kind, as `pg_status` tells it; -1 is never.
    pub(crate) fn last_enqueued(&self) -> i64 {
        self.last_enqueued.load(Ordering::Relaxed)
    }
}

impl Numbers {
    /// The number that counts for `pg_status`, where both kinds share one field.
    pub(crate) fn of(self, is_message: bool) -> i64 {
        i64::try_from(if is_message { self.p2p_seq } else { self.collective_seq }).unwrap_or(i64::MAX)
    }
}
