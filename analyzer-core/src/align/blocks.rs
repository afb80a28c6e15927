//! Coalesced blocks of one rank, and how far each entry has come with its block's end taken into account.

use alloc::vec::Vec;

use super::Progress;
use super::slots::Slots;
use crate::dump::{Entry, EntryIdx, State};
use crate::job::{Job, RankIdx};
use crate::small_sort::SmallSort as _;

/// What one rank's entries mean together.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// How far each entry has come, [`FOLDED`] and [`MESSAGE`]. The members of a block have no events of their own: they are where its end is.
    marks: Vec<u8>,
    /// Blocks that have collectives: the entry that stands for each, and where its members are; sorted when all are there.
    blocks: Vec<(EntryIdx, u32, u32)>,
    /// Entries inside blocks, one block after the other.
    members: Vec<EntryIdx>,
    /// Whether an unfinished block lost members to the ring, so that no row shows it.
    pub lost_pending: bool,
    /// Whether blocks of messages are in use, as far as seen.
    has_blocks: bool,
}

/// Mark of entries that are part of a block and do not stand for it, and of the ends of blocks of messages: no row of their own.
const FOLDED: u8 = 0x80;
/// Mark of entries that are one end of a message.
const MESSAGE: u8 = 0x40;
/// What is left of a mark then: how far the entry has come.
const PROGRESS_BITS: u8 = 0x3f;

const PROGRESS: [Progress; 5] =
    [Progress::Unknown, Progress::Scheduled, Progress::Started, Progress::Late, Progress::Completed];

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
    #[inline(never)]
    pub(super) fn of(job: &Job, rank: RankIdx, slots: &Slots) -> Blocks {
        let dump = job.rank(rank);
        let mut blocks = Blocks { marks: alloc::vec![0; dump.entries.len()], ..Blocks::default() };
        let mut given_up = false;
        let mut any_late = false;
        let heads = dump.entries.heads();
        let of_head = |op| if job.op(op).peer.is_some() { MESSAGE } else { 0 };
        let of_heads: Vec<u8> = heads.iter().map(|head| of_head(head.op)).collect();
        let mut marks = blocks.marks.iter_mut();
        job.for_each_stage(rank, |head, state, retired, late| {
            let progress = progress(state, late);
            given_up |= retired && progress.is_pending();
            any_late |= progress == Progress::Late;
            if let Some(mark) = marks.next() {
                *mark = progress as u8 | of_heads.get(head).copied().unwrap_or(0);
            }
        });
        if any_late {
            blocks.forgive_late(job, rank);
        }
        if given_up {
            blocks.forget_given_up(job, rank);
        }
        let closes: Vec<bool> = heads.iter().map(|head| job.op(head.op).closes_block()).collect();
        let mut runs: Vec<Run> = slots.slots.iter().map(|_| Run::default()).collect();
        let only_active = dump.capabilities.only_active;
        dump.entries.for_each_head(|at, head| {
            let slot = slots.of_entry.get(at.0 as usize).and_then(|&slot| runs.get_mut(slot as usize));
            let Some(run) = slot else { return };
            let key = dump.entries.seqs(at);
            let is_close = closes.get(head) == Some(&true);
            if run.key != Some(key) {
                // The usual case: an entry by itself is no block.
                if let [only] = run.entries.as_mut_slice()
                    && !is_close
                    && !only_active
                {
                    (*only, run.key) = (at, Some(key));
                    return;
                }
                blocks.end_without_close(job, rank, run);
                run.key = Some(key);
            }
            if is_close {
                run.key = None;
                blocks.close(job, rank, at, &run.entries);
                run.entries.clear();
            } else {
                run.entries.push(at);
            }
        });
        for run in &mut runs {
            if dump.capabilities.truncated {
                blocks.forget_cut(run);
            }
            blocks.end_without_close(job, rank, run);
        }
        blocks.blocks.sort_small();
        blocks.blocks.shrink_to_fit();
        blocks.members.shrink_to_fit();
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
        for (at, entry) in entries.iter() {
            let limit = entry.created_ns.saturating_add(i64::from(entry.timeout_ms) * 1_000_000);
            let is_old = entry.retired && !finished(&entry) && entry.created_ns > 0 && newest > limit;
            if is_old && self.progress_of(at).is_pending() {
                self.set_progress(at, Progress::Unknown);
            }
        }
    }

    /// The file breaks off where the end of a block may have been, which tells how far its members have come.
    fn forget_cut(&mut self, run: &Run) {
        if run.entries.len() > 1 || run.entries.iter().any(|&at| self.is_message(at)) {
            for &at in &run.entries {
                if self.progress_of(at).is_pending() {
                    self.set_progress(at, Progress::Unknown);
                }
            }
        }
    }

    fn close(&mut self, job: &Job, rank: RankIdx, end: EntryIdx, inner: &[EntryIdx]) {
        let progress = self.progress_of(end);
        let first_member = self.members.len();
        let mut has_messages = job.entry(rank, end).is_p2p == Some(true);
        // Its first members left the ring, or all of them: what it was is as unknown as what went before it.
        let is_cut = job.rank(rank).capabilities.wrapped && inner.first().unwrap_or(&end).0 == 0;
        self.lost_pending |= is_cut && progress.is_pending();
        self.has_blocks |= has_messages;
        for &at in inner {
            self.set_progress(at, progress);
            if self.is_message(at) {
                has_messages = true;
            } else {
                self.fold(at);
                self.members.push(at);
            }
        }
        if self.members.len() == first_member && has_messages || is_cut {
            self.members.truncate(first_member);
            self.fold(end);
        } else {
            self.add_block(end, first_member);
        }
    }

    /// Several collectives of one number without an end are a block that was being put together; its newest member stands for it.
    fn end_without_close(&mut self, job: &Job, rank: RankIdx, run: &mut Run) {
        if job.rank(rank).capabilities.only_active {
            self.end_finished(job, rank, &run.entries);
        }
        // Without a number nothing says that they belong together.
        let is_numbered = run.key.is_some_and(|key| key.0.is_some());
        if is_numbered && run.entries.len() > 1 {
            let first_member = self.members.len();
            for &at in &run.entries {
                if !self.is_message(at) {
                    self.members.push(at);
                }
            }
            match self.members.get(first_member..) {
                Some(&[.., _, newest]) => {
                    for at in first_member..self.members.len() - 1 {
                        if let Some(&member) = self.members.get(at) {
                            self.fold(member);
                        }
                    }
                    self.add_block(newest, first_member);
                }
                _ => self.members.truncate(first_member),
            }
        }
        run.entries.clear();
    }

    fn add_block(&mut self, stands_for: EntryIdx, first_member: usize) {
        self.blocks.push((stands_for, first_member as u32, self.members.len() as u32));
    }

    /// Members of a block never finish by themselves, so that a dump of what is unfinished has all of them, and leaves out the end of
    /// those blocks that finished. Messages of one number are such a block; one message alone looks like one without a block, unless
    /// the entry after it is there.
    fn end_finished(&mut self, job: &Job, rank: RankIdx, entries: &[EntryIdx]) {
        let entry = |at: EntryIdx| job.entry(rank, at);
        let messages: Vec<EntryIdx> = entries.iter().copied().filter(|&at| self.is_message(at)).collect();
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
            if let Some(finished) = finished {
                self.set_progress(at, finished);
            }
        }
    }

    fn fold(&mut self, at: EntryIdx) {
        if let Some(mark) = self.marks.get_mut(at.0 as usize) {
            *mark |= FOLDED;
        }
    }

    fn set_progress(&mut self, at: EntryIdx, progress: Progress) {
        if let Some(mark) = self.marks.get_mut(at.0 as usize) {
            *mark = *mark & !PROGRESS_BITS | progress as u8;
        }
    }

    /// How far an entry has come.
    pub fn progress_of(&self, at: EntryIdx) -> Progress {
        let mark = self.marks.get(at.0 as usize).map_or(0, |mark| mark & PROGRESS_BITS);
        PROGRESS.get(usize::from(mark)).copied().unwrap_or(Progress::Unknown)
    }

    /// Whether an entry is one end of a message.
    #[inline(always)]
    pub fn is_message(&self, at: EntryIdx) -> bool {
        self.marks.get(at.0 as usize).is_some_and(|mark| mark & MESSAGE != 0)
    }

    /// Whether an entry has no row of its own.
    #[inline(always)]
    pub fn is_folded(&self, at: EntryIdx) -> bool {
        self.marks.get(at.0 as usize).is_none_or(|mark| mark & FOLDED != 0)
    }

    /// Entries inside the block that an entry stands for; `None` for one that is no block.
    pub fn members_of(&self, at: EntryIdx) -> Option<&[EntryIdx]> {
        let place = self.blocks.binary_search_by_key(&at, |block| block.0).ok()?;
        let &(_, from, to) = self.blocks.get(place)?;
        self.members.get(from as usize..to as usize)
    }

    /// The blocks: the entry that stands for each, ascending, and the entries inside.
    pub fn iter(&self) -> impl Iterator<Item = (EntryIdx, &[EntryIdx])> {
        self.blocks.iter().map(|&(at, from, to)| (at, self.members.get(from as usize..to as usize).unwrap_or(&[])))
    }

    /// After an abort nothing is issued that finishes: a rank that went on after a late operation had waited long, and no more.
    fn forgive_late(&mut self, job: &Job, rank: RankIdx) {
        let entries = || job.rank(rank).entries.iter();
        let in_time = entries().filter(|(at, _)| self.progress_of(*at) == Progress::Completed);
        let went_on_ns = in_time.map(|(_, entry)| entry.created_ns).max().unwrap_or(0);
        for (at, entry) in entries() {
            if self.progress_of(at) == Progress::Late && entry.completed_ns <= went_on_ns {
                self.set_progress(at, Progress::Completed);
            }
        }
    }

    /// Makes unknown what is not finished.
    pub(super) fn forget_pending(&mut self) {
        for at in (0..self.marks.len() as u32).map(EntryIdx) {
            if self.progress_of(at).is_pending() {
                self.set_progress(at, Progress::Unknown);
            }
        }
    }
}

fn progress(state: State, late: bool) -> Progress {
    match state {
        State::Completed if late => Progress::Late,
        State::Completed => Progress::Completed,
        State::Started => Progress::Started,
        State::Scheduled => Progress::Scheduled,
        State::Unknown => Progress::Unknown,
    }
}
