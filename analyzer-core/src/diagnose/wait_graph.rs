//! Who waits for whom, as a graph over places.

use alloc::vec::Vec;

use super::case::Party;
use super::{Case, Place};
use crate::align::{Cell, Progress};
use crate::small_sort::SmallSort as _;
use crate::tree_map::TreeMap;

/// Places in which ranks wait, oldest first, and what each of them waits for.
#[derive(Debug, Default)]
pub(super) struct WaitGraph {
    /// The places, what began first first.
    pub places: Vec<Place>,
    /// For each place, the places in which ranks wait that it waits for: indices, sorted.
    pub edges: Vec<Vec<usize>>,
}

/// Whether a party may keep a place from ending: it has not joined it, or cannot have begun it.
pub(super) fn holds_up(case: &Case<'_>, place: Place, party: &Party) -> bool {
    let held_up = match case.progress(party) {
        None => party.cell == Cell::MISSING,
        Some(Progress::Scheduled | Progress::Late) => true,
        Some(_) => false,
    };
    // Parts of one block of messages wait for each other; which of them holds up the block shows in its own edges.
    let in_block =
        || matches!(place, Place::Message(..)) && party.dump.is_some_and(|rank| case.fronts(rank).contains(&place));
    party.dump.is_some() && (held_up || in_block())
}

impl WaitGraph {
    /// Builds the graph.
    ///
    /// A place waits for another one when a member that has not joined it waits there, or when a member that has joined it
    /// cannot have begun it because something older is unfinished on the same rank. A member whose device has
    /// started the operation holds nobody up.
    pub fn of(case: &Case<'_>) -> WaitGraph {
        let mut index: TreeMap<Place, usize> = TreeMap::new();
        for rank in 0..case.job.ranks.len() as u32 {
            for place in case.fronts(crate::job::RankIdx(rank)) {
                index.insert(place, 0);
            }
        }
        let mut places: Vec<Place> = index.keys().copied().collect();
        places.sort_small_by_cached_key(|&place| case.order(place));
        for (at, place) in places.iter().enumerate() {
            index.insert(*place, at);
        }
        let edges = places
            .iter()
            .map(|&place| {
                let mut to: Vec<usize> = Vec::new();
                for party in case.parties(place) {
                    let Some(rank) = party.dump.filter(|_| holds_up(case, place, &party)) else { continue };
                    to.extend(
                        case.fronts(rank)
                            .into_iter()
                            .filter(|&front| front != place)
                            .filter_map(|front| index.get(&front)),
                    );
                }
                to.sort_small();
                to.dedup();
                to
            })
            .collect();
        WaitGraph { places, edges }
    }

    /// Everything that a place leads to, itself included, as flags by index.
    pub fn reach(&self, from: usize) -> Vec<bool> {
        let mut seen = alloc::vec![false; self.places.len()];
        let mut open = alloc::vec![from];
        while let Some(at) = open.pop() {
            let Some(flag) = seen.get_mut(at) else { continue };
            if !core::mem::replace(flag, true) {
                open.extend(self.edges.get(at).into_iter().flatten().copied());
            }
        }
        seen
    }

    /// Sets of places that lead to each other and to nothing else: where every walk ends. Each is sorted.
    pub fn ends(&self) -> Vec<Vec<usize>> {
        let components = self.components();
        let mut of = alloc::vec![0; self.places.len()];
        for (at, component) in components.iter().enumerate() {
            for &place in component {
                if let Some(slot) = of.get_mut(place) {
                    *slot = at;
                }
            }
        }
        let leaves = |place: &usize| {
            let own = of.get(*place);
            self.edges.get(*place).into_iter().flatten().any(|to| of.get(*to) != own)
        };
        let mut ends: Vec<Vec<usize>> =
            components.into_iter().filter(|component| !component.iter().any(leaves)).collect();
        ends.sort_small();
        ends
    }

    /// Strongly connected components (Tarjan's algorithm, without recursion).
    fn components(&self) -> Vec<Vec<usize>> {
        const NEW: usize = usize::MAX;
        let count = self.places.len();
        let (mut order, mut low, mut on_stack) =
            (alloc::vec![NEW; count], alloc::vec![0; count], alloc::vec![false; count]);
        let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
        for root in 0..count {
            if order[root] != NEW {
                continue;
            }
            let mut work = alloc::vec![(root, 0)];
            while let Some((at, edge)) = work.pop() {
                if edge == 0 {
                    (order[at], low[at], on_stack[at]) = (next, next, true);
                    next += 1;
                    stack.push(at);
                }
                match self.edges[at].get(edge) {
                    Some(&to) => {
                        work.push((at, edge + 1));
                        if order[to] == NEW {
                            work.push((to, 0));
                        } else if on_stack[to] {
                            low[at] = low[at].min(order[to]);
                        }
                    }
                    None => {
                        if low[at] == order[at] {
                            let mut component = Vec::new();
                            while let Some(top) = stack.pop() {
                                on_stack[top] = false;
                                component.push(top);
                                if top == at {
                                    break;
                                }
                            }
                            component.sort_small();
                            found.push(component);
                        }
                        if let Some(&(parent, _)) = work.last() {
                            low[parent] = low[parent].min(low[at]);
                        }
                    }
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::RowIdx;
    use crate::job::GroupIdx;

    #[test]
    fn walks_end_in_components_without_an_exit() {
        let check = |edges: &[&[usize]], ends: &[&[usize]]| {
            let graph = WaitGraph {
                places: (0..edges.len() as u32).map(|at| Place::Row(GroupIdx(at), RowIdx(0))).collect(),
                edges: edges.iter().map(|to| to.to_vec()).collect(),
            };
            assert_eq!(graph.ends(), ends);
        };
        check(&[], &[]);
        check(&[&[]], &[&[0]]);
        check(&[&[1], &[]], &[&[1]]);
        check(&[&[1], &[2], &[0], &[0]], &[&[0, 1, 2]]);
        check(&[&[1], &[0, 2], &[], &[4], &[3]], &[&[2], &[3, 4]]);
    }
}
