//! The collectives of one group, row by row.

use alloc::vec::Vec;

use super::absence::{Window, counters};
use super::blocks::Blocks;
use super::table::{Lot, TILE};
use super::{Band, Cell};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, Job, RankIdx};
use crate::small_sort::SmallSort as _;

/// The collectives of one rank in one group.
#[derive(Default)]
struct Lane {
    /// Where its entries begin among those of all lanes, ...
    entries: usize,
    /// ... where their numbers do, ascending, ...
    numbers: usize,
    /// ... and how many they are.
    count: usize,
    window: Window,
}

/// Lines up the collectives of a group.
///
/// `lots` gives, for each member's dump, where its entries in this group are in `order`; what is there afterwards is of no use.
pub(super) fn align(job: &Job, group: GroupIdx, blocks: &[Blocks], order: &mut [EntryIdx], lots: &[Lot]) -> Band {
    let members = &job.group(group).members;
    let columns: Vec<Option<RankIdx>> = members.iter().map(|&rank| job.rank_idx(rank)).collect();
    let present: Vec<(usize, RankIdx)> =
        columns.iter().enumerate().filter_map(|(at, &column)| Some((at, column?))).collect();
    let mut own_numbers: Vec<u32> = Vec::with_capacity(lots.iter().map(|lot| lot.count as usize).sum());
    let mut lanes: Vec<Lane> = present
        .iter()
        .map(|&(_, rank)| {
            let lot = lots.binary_search_by_key(&rank, |lot| lot.rank).ok().and_then(|at| lots.get(at));
            let own = lot.and_then(|lot| Some((lot.from, order.get_mut(lot.range())?)));
            own.map_or_else(Lane::default, |(from, own)| lane(job, rank, (from, own), &mut own_numbers, blocks))
        })
        .collect();
    trust_counters(job, group, &present, &mut lanes);
    let numbers = all_numbers(&lanes, &own_numbers);

    let width = present.len();
    let mut cells = alloc::vec![Cell::NO_DUMP; width * numbers.len()];
    let mut done: Vec<usize> = alloc::vec![0; width];
    for (tile, rows) in numbers.chunks(TILE).enumerate() {
        for (position, ((&(_, rank), lane), done)) in present.iter().zip(&lanes).zip(&mut done).enumerate() {
            let absent = |number| lane.window.absent(number, job, rank);
            let own = own_numbers.get(lane.numbers + *done..lane.numbers + lane.count).unwrap_or(&[]);
            let entries = order.get(lane.entries + *done..).unwrap_or(&[]);
            let from = tile * TILE * width + position;
            *done += fill(rows, own, entries, cells.get_mut(from..).unwrap_or(&mut []), width, &absent);
        }
    }
    Band { group, columns, numbers, lanes: present, cells, messages: Vec::new() }
}

/// Fills the cells of a lane in the rows of these numbers, `width` from one to the next, and gives how many of the lane's own numbers are there.
///
/// A function of its own, which is called often: a browser runs the quicker form of a function only from the next call on.
#[inline(never)]
fn fill(
    rows: &[u32],
    own: &[u32],
    entries: &[EntryIdx],
    cells: &mut [Cell],
    width: usize,
    absent: &dyn Fn(u32) -> Cell,
) -> usize {
    let (mut done, mut at) = (0, 0);
    for &number in rows {
        let cell = match entries.get(done) {
            Some(&entry) if own.get(done) == Some(&number) => {
                done += 1;
                Cell::issued(entry)
            }
            _ => absent(number),
        };
        if let Some(place) = cells.get_mut(at) {
            *place = cell;
        }
        at += width;
    }
    done
}

/// The numbers that some lane has, ascending. Lanes have runs of them, and mostly the same ones.
fn all_numbers(lanes: &[Lane], own_numbers: &[u32]) -> Vec<u32> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for lane in lanes {
        let own = own_numbers.get(lane.numbers..lane.numbers + lane.count).unwrap_or(&[]);
        for run in own.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
            let run = run.first().copied().zip(run.last().copied());
            // Neighbours often have the same run.
            runs.extend(run.filter(|run| runs.last() != Some(run)));
        }
    }
    runs.sort_small();
    let mut numbers: Vec<u32> = Vec::new();
    for (low, high) in runs {
        let low = numbers.last().map_or(low, |&last| low.max(last.saturating_add(1)));
        if low <= high && numbers.last() != Some(&u32::MAX) {
            numbers.extend(low..=high);
        }
    }
    numbers.shrink_to_fit();
    numbers
}

/// Puts the collectives of a rank to the front of its entries, which begin at `from` among all, and their numbers behind those of the lanes
/// before.
#[inline(never)]
fn lane(
    job: &Job,
    rank: RankIdx,
    (from, entries): (usize, &mut [EntryIdx]),
    numbers: &mut Vec<u32>,
    blocks: &[Blocks],
) -> Lane {
    let dump = job.rank(rank);
    let mut lane = Lane { entries: from, numbers: numbers.len(), ..Lane::default() };
    let Some(blocks) = blocks.get(rank.0 as usize) else { return lane };
    let mut last: Option<u32> = None;
    let mut ordinal = 0;
    let mut is_sorted = true;
    let mut place = 0;
    while let Some(&at) = entries.get(place) {
        place += 1;
        let (collective_seq, p2p_seq) = dump.entries.seqs(at);
        let message = blocks.is_message(at);
        lane.window.messages |= message;
        lane.window.used_messages |= message || p2p_seq.is_some_and(|seq| seq > 0);
        // A message carries the number of the last collective, which may have left the ring.
        if !dump.capabilities.single_counter
            && let Some(seq) = collective_seq
            && seq > 0
        {
            last = last.max(Some(seq));
        }
        if message || blocks.is_folded(at) {
            continue;
        }
        ordinal += 1;
        let number = match collective_seq {
            Some(seq) if !dump.capabilities.single_counter => seq,
            _ => ordinal,
        };
        is_sorted &= lane.count == 0 || numbers.last().is_some_and(|&before| before < number);
        if let Some(slot) = entries.get_mut(lane.count) {
            *slot = at;
        }
        numbers.push(number);
        lane.count += 1;
    }
    if !is_sorted {
        sort(&mut lane, entries, numbers);
    }
    let own = numbers.get(lane.numbers..).unwrap_or(&[]);
    lane.window.first = own.first().copied();
    lane.window.last = last.max(own.last().copied());
    lane
}

/// Puts the collectives of the newest lane in the order of their numbers. A number twice on one rank: the first one counts.
fn sort(lane: &mut Lane, entries: &mut [EntryIdx], numbers: &mut Vec<u32>) {
    let own = numbers.get(lane.numbers..).unwrap_or(&[]).iter().copied();
    let mut issued: Vec<(u32, EntryIdx)> = own.zip(entries.iter().copied()).collect();
    issued.sort_small_by_key(|item| item.0);
    issued.dedup_by_key(|item| item.0);
    numbers.truncate(lane.numbers);
    lane.count = issued.len();
    for (slot, (number, entry)) in entries.iter_mut().zip(issued) {
        *slot = entry;
        numbers.push(number);
    }
}

/// Takes over the counters of a group where they count its rows.
///
/// The counter holds the number of whatever came last, so it is of use only where no member sent messages. Some recorders count
/// from 0 there and from 1 in the entries: the ranks that have both say which.
fn trust_counters(job: &Job, group: GroupIdx, present: &[(usize, RankIdx)], lanes: &mut [Lane]) {
    if lanes.iter().any(|lane| lane.window.used_messages) {
        return;
    }
    let offsets = present.iter().zip(lanes.iter()).filter_map(|(&(_, rank), lane)| {
        lane.window.last?.checked_sub(counters(job, rank, group)?.0).filter(|&offset| offset <= 1)
    });
    let offset = offsets.max().unwrap_or(0);
    for (&(_, rank), lane) in present.iter().zip(lanes) {
        if !job.rank(rank).capabilities.single_counter {
            let counted = counters(job, rank, group);
            lane.window.counted = counted.map(|item| item.0.saturating_add(offset));
            lane.window.finished = counted.map(|item| item.1.saturating_add(offset));
        }
    }
}
