//! One order of the rows of all groups.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::contradiction::{Contradiction, Standstill};
use super::{Band, RowIdx, RowList, Table};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, Job, RankIdx};

/// Of a wide row so many members say when it was.
const ASKED: usize = 16;
/// An entry without a row of its own, and a row that is in the order already.
const NONE: u32 = u32::MAX;
/// Mark of an entry that is in one block of messages with the entry before it: their order is free.
const JOINED: u32 = 1 << 31;

/// All rows in one order.
#[derive(Clone, Debug, Default)]
pub struct ProgramOrder {
    /// The rows, by their place in the [`RowList`].
    pub rows: Vec<u32>,
    /// Where ranks contradict each other about the order, those of fewest rows first, then the earliest.
    pub contradictions: Vec<Contradiction>,
    /// How many times they do; more than are listed, it may be.
    pub contradicted: u32,
}

impl ProgramOrder {
    /// Puts the rows of a list in an order that agrees with every rank's own order wherever that can be, and else
    /// with the time; `time` gives an entry's by a clock that can be compared, 0 where it is not known.
    ///
    /// It plays the job as if each operation began when all who issued it had come to it. What nobody waits for any more comes by
    /// its time. Where nobody can go on, ranks contradict each other: then the operation of which the fewest ranks say that it
    /// is too early begins all the same.
    pub fn of(job: &Job, table: &Table, list: &RowList, time: &dyn Fn(RankIdx, EntryIdx) -> i64) -> ProgramOrder {
        let mut play = Play::new(job, table, list, time);
        for rank in 0..job.ranks.len() {
            play.go_on(rank, 0);
        }
        let (mut standstill, mut now) = (Standstill::default(), 0);
        loop {
            while let Some(Reverse((time, row))) = play.ready.pop() {
                now = time;
                play.issue(row, time);
            }
            let Some(row) = standstill.end(&play) else { break };
            play.issue(row, play.time_of(row, now));
        }
        let (contradictions, contradicted) = standstill.into_found();
        ProgramOrder { rows: play.order, contradictions, contradicted }
    }
}

/// Entries of a rank that it came to at once: one, or those of a block of messages.
#[derive(Clone, Copy, Debug, Default)]
struct Front {
    from: u32,
    to: u32,
    /// How many of them are not in the order yet.
    left: u32,
}

/// The job as it is played.
pub(super) struct Play<'a> {
    pub job: &'a Job,
    table: &'a Table,
    list: &'a RowList,
    /// The row of each entry, rank by rank, with [`JOINED`].
    row_of: Vec<u32>,
    /// Where the entries of each rank begin in it, and the end.
    starts: Vec<usize>,
    fronts: Vec<Front>,
    /// For each row, how many have not come to it: ranks, and the row before it in its group. [`NONE`] when it is in the order.
    pub waits_for: Vec<u32>,
    times: Vec<i64>,
    ready: BinaryHeap<Reverse<(i64, u32)>>,
    order: Vec<u32>,
}

impl<'a> Play<'a> {
    fn new(job: &'a Job, table: &'a Table, list: &'a RowList, time: &dyn Fn(RankIdx, EntryIdx) -> i64) -> Play<'a> {
        let mut starts = Vec::with_capacity(job.ranks.len() + 1);
        let mut entries = 0;
        for dump in &job.ranks {
            starts.push(entries);
            entries += dump.entries.len();
        }
        starts.push(entries);
        let count = list.len() as usize;
        let mut play = Play {
            job,
            table,
            list,
            row_of: alloc::vec![NONE; entries],
            starts,
            fronts: alloc::vec![Front::default(); job.ranks.len()],
            waits_for: alloc::vec![0; count],
            times: alloc::vec![0; count],
            ready: BinaryHeap::new(),
            order: Vec::with_capacity(count),
        };
        for stretch in list.stretches() {
            if stretch.messages {
                for row in stretch.first..stretch.first + stretch.count {
                    play.parties(row).for_each(|(rank, entry)| play.expect(row, rank, entry));
                }
                continue;
            }
            play.band(stretch.group).for_each_issued(|row, (.., rank), entry| {
                play.expect(stretch.first + row.0, rank, entry);
            });
            // Each waits for the one before it in its group.
            let rows = stretch.first as usize + 1..(stretch.first + stretch.count) as usize;
            for waits in play.waits_for.get_mut(rows).unwrap_or_default() {
                *waits += 1;
            }
        }
        play.join_blocks();
        play.set_times(time);
        if play.times.iter().all(|&time| time == 0) {
            play.set_times(&|_, entry| i64::from(entry.0) + 1);
        }
        play
    }

    /// Notes that a rank will come to a row.
    fn expect(&mut self, row: u32, rank: RankIdx, entry: EntryIdx) {
        if let Some(slot) = self.slot(rank, entry).and_then(|slot| self.row_of.get_mut(slot)) {
            *slot = row;
        }
        if let Some(waits) = self.waits_for.get_mut(row as usize) {
            *waits += 1;
        }
    }

    /// Marks entries that are in one block of messages with the entry before them.
    fn join_blocks(&mut self) {
        for stretch in self.list.stretches().iter().filter(|stretch| stretch.messages) {
            for row in stretch.first..stretch.first + stretch.count {
                for (rank, entry) in self.parties(row) {
                    if self.is_joined(rank, entry)
                        && let Some(slot) = self.slot(rank, entry).and_then(|slot| self.row_of.get_mut(slot))
                    {
                        *slot |= JOINED;
                    }
                }
            }
        }
    }

    fn is_joined(&self, rank: RankIdx, entry: EntryIdx) -> bool {
        let Some(before) = entry.0.checked_sub(1).map(EntryIdx) else { return false };
        let entries = &self.job.rank(rank).entries;
        let group = |at| entries.head(at).map(|head| head.group_ref);
        let seqs = entries.seqs(entry);
        seqs.1.is_some()
            && seqs == entries.seqs(before)
            && group(entry) == group(before)
            && self.job.is_message(rank, before)
    }

    /// Gives each row the median of its members' times.
    fn set_times(&mut self, time: &dyn Fn(RankIdx, EntryIdx) -> i64) {
        let mut known: Vec<i64> = Vec::new();
        for row in 0..self.list.len() {
            let step = self.parties(row).count().div_ceil(ASKED).max(1);
            known.clear();
            for (rank, entry) in self.parties(row).step_by(step) {
                let ns = time(rank, entry);
                if ns > 0 {
                    // A few at most.
                    known.insert(known.partition_point(|&other| other < ns), ns);
                }
            }
            let middle = known.len().saturating_sub(1) / 2;
            if let (Some(slot), Some(&median)) = (self.times.get_mut(row as usize), known.get(middle)) {
                *slot = median;
            }
        }
    }

    /// When a row was; where nobody says, with the row after which it could be.
    pub fn time_of(&self, row: u32, after: i64) -> i64 {
        self.times.get(row as usize).copied().filter(|&time| time != 0).unwrap_or(after)
    }

    fn slot(&self, rank: RankIdx, entry: EntryIdx) -> Option<usize> {
        Some(self.starts.get(rank.0 as usize)? + entry.0 as usize)
    }

    fn band(&self, group: GroupIdx) -> &'a Band {
        self.table.band(group)
    }

    /// The ranks that issued a row, and their entries.
    pub fn parties(&self, row: u32) -> impl Iterator<Item = (RankIdx, EntryIdx)> + use<'a> {
        let (job, found) = (self.job, self.list.stretch_of(row));
        let band = found.map(|(stretch, _)| self.band(stretch.group));
        let collective = found.filter(|(stretch, _)| !stretch.messages).and_then(|(_, at)| Some((band?, RowIdx(at))));
        let message = found.filter(|(stretch, _)| stretch.messages).and_then(|(_, at)| band?.messages.get(at as usize));
        let issued =
            collective.into_iter().flat_map(|(band, row)| band.issued(row)).map(|(_, rank, entry)| (rank, entry));
        let ends = message.into_iter().flat_map(|message| [(message.src, message.send), (message.dst, message.recv)]);
        issued.chain(ends.filter_map(move |(rank, cell)| Some((job.rank_idx(rank)?, cell.entry()?))))
    }

    /// The entry of a rank in a row.
    pub fn entry_in(&self, row: u32, rank: RankIdx) -> Option<EntryIdx> {
        let (stretch, at) = self.list.stretch_of(row)?;
        if stretch.messages {
            return self.parties(row).find(|party| party.0 == rank).map(|party| party.1);
        }
        self.band(stretch.group).entry_of(RowIdx(at), rank)
    }

    /// Whether a row is a message.
    pub fn is_message(&self, row: u32) -> bool {
        self.list.stretch_of(row).is_some_and(|(stretch, _)| stretch.messages)
    }

    /// The row before a row in its group, by their numbers.
    pub fn before_in_group(&self, row: u32) -> Option<u32> {
        let (stretch, at) = self.list.stretch_of(row)?;
        (!stretch.messages && at > 0).then(|| row - 1)
    }

    fn after_in_group(&self, row: u32) -> Option<u32> {
        let (stretch, at) = self.list.stretch_of(row)?;
        (!stretch.messages && at + 1 < stretch.count).then(|| row + 1)
    }

    /// Whether a row is in the order.
    pub fn is_done(&self, row: u32) -> bool {
        self.waits_for.get(row as usize).is_none_or(|&waits| waits == NONE)
    }

    /// Puts a row in the order; those who had come to it go on.
    fn issue(&mut self, row: u32, time: i64) {
        if let Some(waits) = self.waits_for.get_mut(row as usize) {
            *waits = NONE;
        }
        self.order.push(row);
        if let Some(next) = self.after_in_group(row) {
            self.come_to(next, time);
        }
        for (rank, entry) in self.parties(row) {
            let rank = rank.0 as usize;
            let Some(front) = self.fronts.get_mut(rank) else { continue };
            if (front.from..front.to).contains(&entry.0) {
                front.left = front.left.saturating_sub(1);
                if front.left == 0 {
                    self.go_on(rank, time);
                }
            }
        }
    }

    fn come_to(&mut self, row: u32, time: i64) {
        let Some(waits) = self.waits_for.get_mut(row as usize).filter(|waits| **waits != NONE) else { return };
        *waits = waits.saturating_sub(1);
        if *waits == 0 {
            self.ready.push(Reverse((self.time_of(row, time), row)));
        }
    }

    /// Takes a rank to what it issued next.
    fn go_on(&mut self, rank: usize, time: i64) {
        let (Some(&begin), Some(&end)) = (self.starts.get(rank), self.starts.get(rank + 1)) else { return };
        let Some(mut front) = self.fronts.get(rank).copied() else { return };
        let row_at = |play: &Self, at: u32| play.row_of.get(begin + at as usize).copied().unwrap_or(NONE);
        let length = (end - begin) as u32;
        front.left = 0;
        while front.left == 0 && front.to < length {
            front.from = front.to;
            front.to += 1;
            let first = row_at(self, front.from);
            if first == NONE {
                continue;
            }
            while front.to < length && row_at(self, front.to) != NONE && row_at(self, front.to) & JOINED != 0 {
                front.to += 1;
            }
            for at in front.from..front.to {
                front.left += u32::from(!self.is_done(row_at(self, at) & !JOINED));
            }
        }
        if front.left == 0 {
            front.from = front.to;
        }
        if let Some(slot) = self.fronts.get_mut(rank) {
            *slot = front;
        }
        for at in front.from..front.to {
            let row = row_at(self, at) & !JOINED;
            self.come_to(row, time);
        }
    }

    /// The first row that a rank has come to and that is not in the order yet; `None` for one that is through.
    pub fn front(&self, rank: RankIdx) -> Option<u32> {
        let front = self.fronts.get(rank.0 as usize)?;
        let begin = *self.starts.get(rank.0 as usize)?;
        let rows = self.row_of.get(begin + front.from as usize..begin + front.to as usize)?;
        rows.iter().map(|row| row & !JOINED).find(|&row| !self.is_done(row))
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.fronts.len() as u32
    }

    /// Whether a rank has come to one of its entries.
    pub fn has_come(&self, rank: RankIdx, entry: EntryIdx) -> bool {
        self.fronts.get(rank.0 as usize).is_some_and(|front| entry.0 < front.to)
    }

    /// Whether two entries of a rank are in one block of messages.
    pub fn in_one_block(&self, rank: RankIdx, one: EntryIdx, other: EntryIdx) -> bool {
        let (low, high) = (one.min(other), one.max(other));
        let rows = self.slot(rank, low).zip(self.slot(rank, high));
        let between = rows.and_then(|(low, high)| self.row_of.get(low + 1..=high));
        between.is_some_and(|rows| rows.iter().all(|&row| row != NONE && row & JOINED != 0))
    }
}
