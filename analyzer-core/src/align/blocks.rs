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
    /// Whether an unfinished block lost members to the ring, so that no row shows it.
    pub lost_pending: bool,
    /// Whether blocks of messages are in use, as far as seen.
    has_blocks: bool,
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
            lost_pending: false,
            has_blocks: false,
        };
        blocks.forget_given_up(job, rank);
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

    /// What the watchdog gave up belongs to the past where the rank has since finished other operations, issued after the time limit
    /// of what it gave up: the group was made anew, say.
    fn forget_given_up(&mut self, job: &Job, rank: RankIdx) {
        let entries = &job.rank(rank).entries;
        let finished = |entry: &Entry| entry.state == State::Completed;
        let Some(newest) = entries.iter().filter(|(_, entry)| finished(entry)).map(|(_, entry)| entry.created_ns).max()
        else {
            return;
        };
        for ((_, entry), progress) in entries.iter().zip(&mut self.progress) {
            let limit = entry.created_ns.saturating_add(i64::from(entry.timeout_ms) * 1_000_000);
            if entry.retired && progress.is_pending() && !finished(&entry) && entry.created_ns > 0 && newest > limit {
                *progress = Progress::Unknown;
            }
        }
    }

    fn close(&mut self, job: &Job, rank: RankIdx, end: EntryIdx, inner: Vec<EntryIdx>) {
        let progress = self.progress_of(end);
        let mut collectives = Vec::new();
        let mut has_messages = job.entry(rank, end).is_p2p == Some(true);
        // Its first members left the ring, or all of them: what it was is as unknown as what went before it.
        let is_cut = job.rank(rank).capabilities.wrapped && inner.first().unwrap_or(&end).0 == 0;
        self.lost_pending |= is_cut && progress.is_pending();
        self.has_blocks |= has_messages;
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
        if collectives.is_empty() && has_messages || is_cut {
            self.fold(end);
        } else {
            self.members.insert(end, collectives);
        }
    }

    /// Several collectives of one number without an end are a block that was being put together; its newest member stands for it.
    fn end_without_close(&mut self, job: &Job, rank: RankIdx, run: &mut Run) {
        if job.rank(rank).capabilities.only_active {
            self.end_finished(job, rank, &run.entries);
        }
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

    /// Members of a block never finish by themselves, so that a dump of what is unfinished has all of them, and leaves out the end of
    /// those blocks that finished. Messages of one number are such a block; one message alone looks like one without a block, unless
    /// the entry after it is there.
    fn end_finished(&mut self, job: &Job, rank: RankIdx, entries: &[EntryIdx]) {
        let entry = |at: EntryIdx| job.entry(rank, at);
        let messages: Vec<EntryIdx> = entries.iter().copied().filter(|&at| is_message(job, &entry(at))).collect();
        let numbered = messages.first().is_some_and(|&at| entry(at).p2p_seq.is_some_and(|seq| seq > 0));
        let finished = match messages.as_slice() {
            [] => return,
            &[one] => {
                let end = entry(one).record_id.map(|id| id + 1);
                let next = EntryIdx(one.0 + 1);
                let is_there = (next.0 as usize) < job.rank(rank).entries.len() && entry(next).record_id == end;
                (self.has_blocks && !is_there).then_some(Progress::Unknown)
            }
            _ => numbered.then_some(Progress::Completed),
        };
        self.has_blocks |= numbered && messages.len() > 1;
        for at in messages {
            if let (Some(place), Some(finished)) = (self.progress.get_mut(at.0 as usize), finished) {
                *place = finished;
            }
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
