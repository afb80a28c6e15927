//! A message that one rank left out of a block.

use alloc::format;
use alloc::vec::Vec;

use super::{message, words};
use crate::align::Cell;
use crate::diagnose::case::Party;
use crate::diagnose::{Case, Draft, Place};
use crate::job::RankIdx;
use crate::report::Confidence;
use crate::small_sort::SmallSort as _;

/// In a circle of blocks all messages have both their ends but those of one rank, and its block is smaller than that of most others, while
/// those who wait for it posted as many as most: it left them out. Where blocks are of many sizes nothing tells which of the two ends is wrong.
///
/// `places` are the members of the circle, sorted.
pub(in crate::diagnose) fn find_left_out(case: &Case<'_>, places: &[Place]) -> Option<Draft> {
    let mut left_out: Vec<(Place, Party, Party)> = Vec::new();
    let mut ranks: Vec<RankIdx> = Vec::new();
    for &place in places {
        case.message(place)?;
        let parties = case.parties(place);
        ranks.extend(parties.iter().filter_map(|party| party.dump));
        let [one, other] = parties.as_slice() else { return None };
        match (one.cell, other.cell) {
            (Cell::MISSING, other_cell) if other_cell.entry().is_some() => left_out.push((place, *one, *other)),
            (one_cell, Cell::MISSING) if one_cell.entry().is_some() => left_out.push((place, *other, *one)),
            (one_cell, other_cell) if one_cell.entry().is_some() && other_cell.entry().is_some() => {}
            // What left the ring may be what is missing.
            _ => return None,
        }
    }
    let &(place, absent, waiting) = left_out.first()?;
    ranks.sort_small();
    ranks.dedup();
    let usual = usual_size(case, &ranks)?;
    let size = |party: &Party| party.dump.map_or(0, |rank| case.fronts(rank).len());
    let has_left_out = |(_, absent, waiting): &(Place, Party, Party)| size(absent) < usual && size(waiting) == usual;
    if left_out.iter().any(|item| item.1.rank != absent.rank) || !left_out.iter().all(has_left_out) {
        return None;
    }
    let mut draft = message::describe_unmatched(case, place, &[absent, waiting], &absent)?;
    let (own, at) = (size(&absent), words::place(case, place));
    let compared = format!("it waits in a block of {own} where most ranks posted {usual}");
    let lacking = if case.message(place)?.src == absent.rank { "send" } else { "recv" };
    draft.confidence = Confidence::Medium;
    draft.headline = format!(
        "Rank {} never posted the {lacking} for {at}: {compared}, and rank {} waits",
        absent.rank, waiting.rank
    );
    let to = if lacking == "send" { "to" } else { "from" };
    if let Some(first) = draft.next_steps.first_mut() {
        *first = format!(
            "look at how rank {} chooses its peers: why is there no {lacking} {to} rank {} in the block?",
            absent.rank, waiting.rank
        );
    }
    if let Some(last) = draft.evidence.last_mut() {
        *last = format!("rank {}: {compared}; every other message of these blocks has both its ends", absent.rank);
    }
    Some(draft)
}

/// How many messages most ranks wait in; `None` if there is no such number.
fn usual_size(case: &Case<'_>, ranks: &[RankIdx]) -> Option<usize> {
    let mut sizes: Vec<usize> = ranks.iter().map(|&rank| case.fronts(rank).len()).collect();
    sizes.sort_small();
    let most = sizes.chunk_by(|a, b| a == b).max_by_key(|chunk| chunk.len())?;
    (2 * most.len() > ranks.len()).then(|| most.first().copied()).flatten()
}
