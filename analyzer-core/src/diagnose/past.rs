//! What a rank did before an operation, as far as it tells which program the rank runs.

use alloc::vec::Vec;

use super::Call;
use crate::align::Table;
use crate::dump::EntryIdx;
use crate::job::{Job, RankIdx};
use crate::symbols::{ArgsId, FrameId, StrId};

/// An operation as ranks with the same program see it: groups are told apart by description and size, since members differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    group: u32,
    call: Call,
    is_message: bool,
}

/// A [`Step`] by handles alone: equal ones are equal steps.
pub(super) type Key = (u32, (StrId, ArgsId, u32), Option<FrameId>);

impl Step {
    pub fn of(job: &Job, table: &Table, rank: RankIdx, key: &Key, entry: EntryIdx) -> Step {
        Step { group: key.0, call: Call::of(job, table, rank, entry), is_message: job.is_message(rank, entry) }
    }

    pub fn equals(&self, other: &Step) -> bool {
        self.group == other.group && self.call.equals(&other.call)
    }
}

/// The key of an entry; `None` for one that is part of another one, and for the end of a block of messages.
pub(super) fn key(job: &Job, table: &Table, rank: RankIdx, at: EntryIdx) -> Option<Key> {
    if table.blocks.get(rank.0 as usize)?.is_folded(at) {
        return None;
    }
    let head = job.head(rank, at)?;
    let group = *job.rank(rank).groups.get(head.group_ref as usize)?;
    Some((table.families.kind(group), table.signature(job, rank, at), job.user_frame(head.stack)))
}

/// How many operations are looked at.
const LENGTH: usize = 256;

/// What a rank did before an operation, newest first. Messages count: sends and receives tell the stages of a pipeline apart.
#[derive(Debug, Default)]
pub(super) struct Past {
    steps: Vec<Step>,
    /// Whether it reaches back to the beginning of the program.
    whole: bool,
    /// Whether the rank sends or receives messages at all.
    messages: bool,
}

impl Past {
    /// The past of a rank before an entry.
    pub fn of(job: &Job, table: &Table, rank: RankIdx, before: u32) -> Past {
        let (keys, whole) = Past::keys(job, table, rank, before);
        Past::from_keys(job, table, rank, &keys, whole)
    }

    /// The past by handles, and whether it is whole.
    pub fn keys(job: &Job, table: &Table, rank: RankIdx, before: u32) -> (Vec<(Key, EntryIdx)>, bool) {
        let entries = (0..before).rev().map(EntryIdx);
        let keys: Vec<(Key, EntryIdx)> =
            entries.filter_map(|at| Some((key(job, table, rank, at)?, at))).take(LENGTH).collect();
        let capabilities = &job.rank(rank).capabilities;
        let whole = !capabilities.wrapped && !capabilities.only_active && keys.len() < LENGTH;
        (keys, whole)
    }

    /// The past of keys.
    pub fn from_keys(job: &Job, table: &Table, rank: RankIdx, keys: &[(Key, EntryIdx)], whole: bool) -> Past {
        let messages = job.rank(rank).entries.heads().iter().any(|head| job.op(head.op).peer.is_some());
        Past { steps: keys.iter().map(|(key, at)| Step::of(job, table, rank, key, *at)).collect(), whole, messages }
    }

    /// Whether two pasts show one program: they agree as far as both are known, and that is all of both or at least once around a
    /// loop. Ranks of other stages of a pipeline come through the same rows and run other programs between them; what tells them apart
    /// is their messages, so that a stretch without any proves nothing where there are some.
    pub fn shows_the_same(&self, other: &Past) -> bool {
        let (ours, theirs) = (&self.steps, &other.steps);
        if !ours.iter().zip(theirs).all(|(a, b)| a.equals(b)) {
            return false;
        }
        let common = ours.get(..ours.len().min(theirs.len())).unwrap_or(&[]);
        let is_all = self.whole && other.whole && ours.len() == theirs.len() && !ours.is_empty();
        let telling = !(self.messages || other.messages) || common.iter().any(|step| step.is_message);
        is_all || telling && common.split_first().is_some_and(|(last, rest)| rest.iter().any(|step| step.equals(last)))
    }
}
