//! The collectives of one group, row by row.

use alloc::vec::Vec;

use super::absence::{Window, counters};
use super::blocks::{Blocks, is_message};
use super::{Band, Cell};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, Job, RankIdx};

/// The collectives of one rank in one group.
#[derive(Default)]
struct Lane {
    /// Number and entry, ascending by number.
    issued: Vec<(u32, EntryIdx)>,
    window: Window,
}

/// Lines up the collectives of a group.
///
/// `entries` gives, for each member's dump, its entries in this group in the dump's order.
pub(super) fn align(job: &Job, group: GroupIdx, blocks: &[Blocks], entries: &[(RankIdx, Vec<EntryIdx>)]) -> Band {
    let members = &job.group(group).members;
    let columns: Vec<Option<RankIdx>> = members.iter().map(|&rank| job.rank_idx(rank)).collect();
    let present: Vec<(usize, RankIdx)> =
        columns.iter().enumerate().filter_map(|(at, &column)| Some((at, column?))).collect();
    let mut lanes: Vec<Lane> = present
        .iter()
        .map(|&(_, rank)| {
            let own = entries.binary_search_by_key(&rank, |item| item.0).ok();
            let own = own.and_then(|at| entries.get(at)).map_or(&[][..], |item| &item.1);
            lane(job, rank, own, blocks)
        })
        .collect();
    trust_counters(job, group, &present, &mut lanes);
    let mut numbers: Vec<u32> = lanes.iter().flat_map(|lane| lane.issued.iter().map(|item| item.0)).collect();
    numbers.sort_unstable();
    numbers.dedup();

    let width = present.len();
    let mut cells = alloc::vec![Cell::NO_DUMP; width * numbers.len()];
    for (position, (&(_, rank), lane)) in present.iter().zip(&lanes).enumerate() {
        let mut issued = lane.issued.iter().peekable();
        for (row, &number) in numbers.iter().enumerate() {
            let cell = match issued.next_if(|item| item.0 == number) {
                Some(&(_, entry)) => Cell::issued(entry),
                None => lane.window.absent(number, job, rank),
            };
            if let Some(place) = cells.get_mut(row * width + position) {
                *place = cell;
            }
        }
    }
    Band { group, columns, numbers, lanes: present, cells, messages: Vec::new() }
}

fn lane(job: &Job, rank: RankIdx, entries: &[EntryIdx], blocks: &[Blocks]) -> Lane {
    let dump = job.rank(rank);
    let mut lane = Lane::default();
    let Some(blocks) = blocks.get(rank.0 as usize) else { return lane };
    let mut last: Option<u32> = None;
    let mut ordinal = 0;
    for &at in entries {
        let entry = dump.entries.get(at);
        let message = is_message(job, &entry);
        lane.window.messages |= message;
        lane.window.used_messages |= message || entry.p2p_seq.is_some_and(|seq| seq > 0);
        // A message carries the number of the last collective, which may have left the ring.
        if !dump.capabilities.single_counter
            && let Some(seq) = entry.collective_seq
            && seq > 0
        {
            last = last.max(Some(seq));
        }
        if message || blocks.is_folded(at) {
            continue;
        }
        ordinal += 1;
        let number = match entry.collective_seq {
            Some(seq) if !dump.capabilities.single_counter => seq,
            _ => ordinal,
        };
        lane.issued.push((number, at));
    }
    lane.issued.sort_by_key(|item| item.0);
    // A number twice on one rank: the first one counts.
    lane.issued.dedup_by_key(|item| item.0);
    lane.window.first = lane.issued.first().map(|item| item.0);
    lane.window.last = last.max(lane.issued.last().map(|item| item.0));
    lane
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
