//! The shortest way on which waits come back to where they began.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::wait_graph::{WaitGraph, holds_up};
use super::{Case, Place};
use crate::dump::EntryIdx;
use crate::job::RankIdx;
use crate::small_sort::SmallSort as _;

/// A place of a cycle, in which ranks wait for those who wait in the next place; the last waits for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitStep {
    /// Where.
    pub place: Place,
    /// Who waits there, ascending.
    pub ranks: Vec<u32>,
    /// The operation that stands for them, of the lowest rank.
    pub entry: (RankIdx, EntryIdx),
    /// Those of the next place who hold this one up, ascending.
    pub waits_for: Vec<u32>,
}

impl WaitGraph {
    /// The shortest cycle of waits through a place, beginning there; empty if there is none. Of several, the one whose
    /// places come first.
    pub fn cycle(&self, case: &Case<'_>, from: Place) -> Vec<WaitStep> {
        let Some(start) = self.places.iter().position(|&place| place == from) else { return Vec::new() };
        let way = self.way_round(start);
        let places: Vec<Place> = way.iter().filter_map(|&at| self.places.get(at).copied()).collect();
        let next = places.iter().cycle().skip(1);
        places.iter().zip(next).filter_map(|(&place, &next)| step(case, place, next)).collect()
    }

    /// Indices of the places on the shortest way from `start` back to it.
    pub(super) fn way_round(&self, start: usize) -> Vec<usize> {
        let mut came_from: Vec<Option<usize>> = alloc::vec![None; self.places.len()];
        let mut seen_ranks = alloc::vec![false; self.edges.len()];
        let mut open = VecDeque::from([start]);
        while let Some(at) = open.pop_front() {
            // A place does not wait for itself.
            let closes = |rank: &usize| self.leads_to(*rank).binary_search(&start).is_ok();
            if at != start && self.leads_to(at).iter().any(closes) {
                let mut way = alloc::vec![at];
                let mut last = at;
                while let Some(before) = came_from.get(last).copied().flatten() {
                    way.push(before);
                    last = before;
                }
                way.reverse();
                return way;
            }
            let mut next: Vec<usize> = Vec::new();
            for &rank in self.leads_to(at) {
                if seen_ranks.get_mut(rank).is_some_and(|seen| !core::mem::replace(seen, true)) {
                    next.extend(self.leads_to(rank).iter().filter(|&&to| to != start));
                }
            }
            next.sort_small();
            for to in next {
                if let Some(slot) = came_from.get_mut(to).filter(|slot| slot.is_none()) {
                    *slot = Some(at);
                    open.push_back(to);
                }
            }
        }
        Vec::new()
    }
}

fn step(case: &Case<'_>, place: Place, next: Place) -> Option<WaitStep> {
    let parties = case.parties(place);
    let waits_in = |rank: Option<RankIdx>, place| rank.is_some_and(|rank| case.waits_at(rank, place));
    let waiting: Vec<_> = parties.iter().filter(|party| waits_in(party.dump, place)).collect();
    let first = waiting.first()?;
    Some(WaitStep {
        place,
        ranks: waiting.iter().map(|party| party.rank).collect(),
        entry: (first.dump?, first.cell.entry()?),
        waits_for: parties
            .iter()
            .filter(|party| holds_up(case, place, party) && waits_in(party.dump, next))
            .map(|party| party.rank)
            .collect(),
    })
}
