//! Coalesced blocks of one rank, and how far each entry has come with its block's end taken into account.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Progress;
use crate::dump::{Entry, EntryIdx, State};
use crate::job::{GroupIdx, Job, RankIdx};

/// What one rank's entries mean together.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// How far each entry has come. The members of a block have no events of their own: they are where its end is.
    pub progress: Vec<Progress>,
    /// Entries inside each block that has collectives, by the entry that stands for the block.
    pub members: BTreeMap<EntryIdx, Vec<EntryIdx>>,
    /// For entries that are part of a block and do not stand for it, and for the ends of blocks of messages: no row of their own.
    pub folded: Vec<bool>,
}

/// A run of entries of one group that may turn out to be a block.
#[derive(Default)]
struct Run {
    key: Option<(Option<u32>, Option<u32>)>,
    entries: Vec<EntryIdx>,
}

impl Blocks {
    /// Finds the blocks of a rank.
    ///
    /// A block is a run of entries of one group with equal sequence numbers whose last one is a block end. The end of a block of
    /// messages need not be marked as one, so that only its neighbours tell. A block without an end was being put together
    /// when the rank dumped.
    pub fn of(job: &Job, rank: RankIdx) -> Blocks {
        let entries = &job.rank(rank).entries;
        let mut blocks = Blocks {
            progress: entries.iter().map(|(_, entry)| progress(job, rank, &entry)).collect(),
            members: BTreeMap::new(),
            folded: alloc::vec![false; entries.len()],
        };
        let mut runs: BTreeMap<GroupIdx, Run> = BTreeMap::new();
        for (at, entry) in entries.iter() {
            let Some(group) = job.group_of(rank, &entry) else { continue };
            let key = (entry.collective_seq, entry.p2p_seq);
            let run = runs.entry(group).or_default();
            if run.key != Some(key) {
                blocks.end_without_close(job, rank, run);
                *run = Run { key: Some(key), entries: Vec::new() };
            }
            if job.op(entry.op).closes_block() {
                let inner = core::mem::take(&mut run.entries);
                run.key = None;
                blocks.close(job, rank, at, inner);
            } else {
                run.entries.push(at);
            }
        }
        for run in runs.values_mut() {
            blocks.end_without_close(job, rank, run);
        }
        blocks
    }

    fn close(&mut self, job: &Job, rank: RankIdx, end: EntryIdx, inner: Vec<EntryIdx>) {
        let progress = self.progress_of(end);
        let mut collectives = Vec::new();
        let mut has_messages = job.entry(rank, end).is_p2p == Some(true);
        for at in inner {
            if let Some(place) = self.progress.get_mut(at.0 as usize) {
                *place = progress;
            }
            if is_message(job, &job.entry(rank, at)) {
                has_messages = true;
            } else {
                self.fold(at);
                collectives.push(at);
            }
        }
        if collectives.is_empty() && has_messages {
            self.fold(end);
        } else {
            self.members.insert(end, collectives);
        }
    }

    /// Several collectives of one number without an end are a block that was being put together; its newest member stands for it.
    fn end_without_close(&mut self, job: &Job, rank: RankIdx, run: &mut Run) {
        let mut collectives: Vec<EntryIdx> =
            run.entries.drain(..).filter(|&at| !is_message(job, &job.entry(rank, at))).collect();
        // Without a number nothing says that they belong together.
        if run.key.is_none_or(|key| key.0.is_none()) || collectives.len() < 2 {
            return;
        }
        if let Some(&newest) = collectives.last() {
            collectives.iter().filter(|&&at| at != newest).for_each(|&at| self.fold(at));
            self.members.insert(newest, core::mem::take(&mut collectives));
        }
    }

    fn fold(&mut self, at: EntryIdx) {
        if let Some(place) = self.folded.get_mut(at.0 as usize) {
            *place = true;
        }
    }

    /// How far an entry has come.
    pub fn progress_of(&self, at: EntryIdx) -> Progress {
        self.progress.get(at.0 as usize).copied().unwrap_or(Progress::Unknown)
    }

    /// Whether an entry has no row of its own.
    pub fn is_folded(&self, at: EntryIdx) -> bool {
        self.folded.get(at.0 as usize).copied().unwrap_or(true)
    }
}

/// Whether an entry is one end of a message.
pub(super) fn is_message(job: &Job, entry: &Entry) -> bool {
    job.op(entry.op).peer.is_some()
}

fn progress(job: &Job, rank: RankIdx, entry: &Entry) -> Progress {
    match job.state(rank, entry) {
        State::Completed if job.is_late(entry) => Progress::Late,
        State::Completed => Progress::Completed,
        State::Started => Progress::Started,
        State::Scheduled => Progress::Scheduled,
        State::Unknown => Progress::Unknown,
    }
}
