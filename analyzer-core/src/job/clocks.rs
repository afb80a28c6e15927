//! Clocks of hosts that disagree.

use alloc::format;
use alloc::vec::Vec;

use super::{GroupIdx, Job, RankIdx};
use crate::dump::{Entry, EntryIdx, State};
use crate::report::{Quality, QualityKind, rank_words};
use crate::small_sort::SmallSort as _;
use crate::symbols::{ArgsId, StrId};
use crate::tree_map::TreeMap;

/// Less than this isn't worth a word: times of different ranks are not compared anyway.
const NOTABLE_NS: i64 = 5_000_000_000;
/// From here on, dumps of different runs explain it as well: hosts of one job seldom differ by more.
const LONG_NS: i64 = 60_000_000_000;
/// So many of the newest entries of each rank are looked at: clocks don't change, so that a few rows tell.
const NEWEST: usize = 256;
/// In a job of many ranks fewer of each do, so that it is this many of all, ...
const NEWEST_OF_ALL: usize = 1 << 19;
/// ... but not fewer than these.
const FEWEST: usize = 32;
/// So many rows must say it; a single one can be a call that an abort released.
const ROWS: usize = 3;

/// The part of a row that one rank recorded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    row: (GroupIdx, u32, StrId, ArgsId),
    rank: u32,
    created_ns: i64,
    /// `None`: not completed.
    completed_ns: Option<i64>,
}

/// A note where a rank finished a collective, by its clock, before another one began it: nobody gets past an all-reduce that a member has not joined, so
/// the clocks are at least that far apart. With it, whether it is so much that the dumps may be of different runs.
pub(super) fn skew(job: &Job) -> Option<(Quality, bool)> {
    let mut parts: Vec<Part> = Vec::new();
    let newest = (NEWEST_OF_ALL / job.ranks.len().max(1)).clamp(FEWEST, NEWEST);
    for (at, dump) in job.ranks.iter().enumerate().filter(|(_, dump)| !dump.capabilities.single_counter) {
        let from = dump.entries.len().saturating_sub(newest);
        let entries = (from..dump.entries.len()).map(|entry| dump.entries.get(EntryIdx(entry as u32)));
        parts.extend(entries.filter_map(|entry| part(job, RankIdx(at as u32), &entry)));
    }
    parts.sort_small();
    let (mut ahead, mut behind) = (TreeMap::new(), TreeMap::new());
    let mut distances: Vec<i64> = Vec::new();
    for row in parts.chunk_by(|a, b| a.row == b.row) {
        let first_done = row.iter().map(|part| part.completed_ns).min().flatten();
        let last_begun = row.iter().map(|part| part.created_ns).max();
        let (Some(first_done), Some(last_begun)) = (first_done, last_begun) else { continue };
        let distance = last_begun.saturating_sub(first_done);
        if distance <= NOTABLE_NS {
            continue;
        }
        distances.push(distance);
        for part in row {
            if part.created_ns.saturating_sub(first_done) > NOTABLE_NS {
                *ahead.entry(part.rank).or_insert(0_usize) += 1;
            }
            if part.completed_ns.is_some_and(|done| last_begun.saturating_sub(done) > NOTABLE_NS) {
                *behind.entry(part.rank).or_insert(0_usize) += 1;
            }
        }
    }
    distances.sort_small_by(|a, b| b.cmp(a));
    let distance = *distances.get(ROWS - 1)?;
    let often = |ranks: TreeMap<u32, usize>| -> Vec<u32> {
        ranks.into_iter().filter(|&(_, rows)| rows >= ROWS).map(|(rank, _)| rank).collect()
    };
    let (ahead, behind) = (often(ahead), often(behind));
    if ahead.is_empty() || behind.is_empty() {
        return None;
    }
    let is_long = distance >= LONG_NS;
    let or_runs = if is_long { ", or the dumps are of different runs" } else { "" };
    let detail = format!(
        "the clock of {} is at least {} s ahead of that of {}{or_runs}; times of different ranks are not compared",
        rank_words(&ahead),
        distance / 1_000_000_000,
        rank_words(&behind)
    );
    let rank = if ahead.len() == 1 { ahead.first().copied() } else { None };
    Some((Quality { kind: QualityKind::ClockSkew, rank, file: None, detail }, is_long))
}

/// An entry as part of a row that nobody leaves before all have joined.
fn part(job: &Job, rank: RankIdx, entry: &Entry) -> Option<Part> {
    let seq = entry.collective_seq.filter(|_| entry.is_p2p != Some(true) && entry.created_ns > 0)?;
    let name = job.op_name(entry.op);
    if !job.waits_for_all(entry) {
        return None;
    }
    let group = job.group_of(rank, entry)?;
    let done = entry.state == State::Completed && entry.completed_ns > 0 && !job.is_late(entry);
    Some(Part {
        row: (group, seq, name, entry.args),
        rank: job.ranks.get(rank.0 as usize)?.rank,
        created_ns: entry.created_ns,
        completed_ns: done.then_some(entry.completed_ns),
    })
}
