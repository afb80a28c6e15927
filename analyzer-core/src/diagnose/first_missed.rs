//! Which of several places a rank that stopped would have come to first.

use alloc::vec::Vec;

use super::case::Party;
use super::{Case, Place, custom};
use crate::align::Cell;
use crate::dump::EntryIdx;
use crate::job::{Direction, RankIdx};
use crate::small_sort::SmallSort as _;
use crate::tree_map::TreeMap;

/// How many of the newest entries of a rank are searched for one that it shares with a witness.
const HISTORY: u32 = 256;
/// Distance where nothing is shared.
const FAR: u32 = u32::MAX;

/// For each rank that waits for nothing and is missing where others wait: the place where it is missing first, in the order of the
/// program.
///
/// The order is read off the rank's own past: what followed when it last did what it did now. Where that does not tell, it is read off a
/// witness that waits there: how many operations it issued after the last one that both have. Clocks are asked only where that does
/// not tell either.
pub(super) fn of(case: &Case<'_>, mut places: Vec<Place>) -> TreeMap<u32, Place> {
    // Of equally near places the first one stays.
    places.sort_small_by_cached_key(|&place| case.order(place));
    let mut first: TreeMap<u32, (Key, Place)> = TreeMap::new();
    let mut next: TreeMap<RankIdx, Option<EntryIdx>> = TreeMap::new();
    for place in places {
        let parties = case.parties(place);
        let Some(witness) = parties.iter().find(|party| case.waits(party)) else { continue };
        for party in parties.iter().filter(|party| party.cell == Cell::MISSING) {
            let Some(rank) = party.dump.filter(|&rank| case.is_idle(rank)) else { continue };
            let usual = *next.entry(rank).or_insert_with(|| {
                let end = EntryIdx(case.job.rank(rank).entries.len() as u32);
                custom::usual_after(case, rank, end).map(|item| item.0)
            });
            let unusual = !usual.is_some_and(|entry| is_like(case, rank, entry, place, witness));
            let key = (unusual, distance(case, rank, witness));
            let known = first.entry(party.rank).or_insert((key, place));
            if key < known.0 {
                *known = (key, place);
            }
        }
    }
    first.into_iter().map(|(rank, (_, place))| (rank, place)).collect()
}

/// Unusual or not, and distance: the least is the first.
type Key = (bool, u32);

/// Whether an earlier operation of a rank is of the kind that it is missing in a place.
fn is_like(case: &Case<'_>, rank: RankIdx, earlier: EntryIdx, place: Place, witness: &Party) -> bool {
    let entry = case.job.entry(rank, earlier);
    let op = case.job.op(entry.op);
    if case.job.group_of(rank, &entry) != Some(place.group()) {
        return false;
    }
    match case.message(place) {
        Some(message) => {
            let group = case.job.group(place.group());
            let is = |end: Option<u32>, wanted| end.and_then(|end| group.global_rank(end)) == Some(wanted);
            let me = case.job.rank(rank).rank;
            op.peer.is_some_and(|peer| {
                is(peer.src, message.src)
                    && is(peer.dst, message.dst)
                    && (peer.direction == Direction::Send) == (me == message.src)
            })
        }
        None => {
            let theirs = witness.dump.zip(witness.cell.entry()).map(|(dump, at)| case.job.entry(dump, at).op);
            op.peer.is_none() && theirs.is_some_and(|theirs| case.job.op_name(theirs) == case.job.op_name(entry.op))
        }
    }
}

/// How many operations lie between the last one that a rank shares with a witness and the one in which the witness waits, less those
/// that the rank has issued since.
fn distance(case: &Case<'_>, rank: RankIdx, witness: &Party) -> u32 {
    let (Some(dump), Some(waits_in)) = (witness.dump, witness.cell.entry()) else { return FAR };
    let Some(last) = case.last_entry(rank) else { return FAR };
    (last.0.saturating_sub(HISTORY)..=last.0)
        .rev()
        .find_map(|at| {
            let shared = same_row(case, rank, EntryIdx(at), dump)?;
            let theirs = waits_in.0.checked_sub(shared.0)?;
            Some(theirs.saturating_sub(last.0 - at))
        })
        .unwrap_or(FAR)
}

/// The entry of another rank in the row of an entry of this one.
fn same_row(case: &Case<'_>, rank: RankIdx, at: EntryIdx, other: RankIdx) -> Option<EntryIdx> {
    let entry = case.job.entry(rank, at);
    let group = case.job.group_of(rank, &entry)?;
    let band = case.table.band(group);
    let row = band.row_of(entry.collective_seq?)?;
    // A message carries the number of a collective without being it.
    (band.entry_of(row, rank) == Some(at)).then(|| band.entry_of(row, other))?
}
