//! Who waits for whom, as a graph over places.

use alloc::vec::Vec;

use super::case::Party;
use super::{Case, Place};
use crate::align::{Cell, Progress};
use crate::job::RankIdx;
use crate::small_sort::SmallSort as _;
use crate::tree_map::TreeMap;

/// Places in which ranks wait, oldest first, and what each of them waits for.
///
/// A place leads to the ranks that hold it up, and a rank to the places in which it waits: of a block of many messages each one waits for
/// the whole block, so that edges from place to place would be its size squared.
#[derive(Debug, Default)]
pub(super) struct WaitGraph {
    /// The places, what began first first. These are the first nodes.
    pub places: Vec<Place>,
    /// For each node, those that it leads to, ascending. After the places come the ranks, by their index.
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
    let in_block = || matches!(place, Place::Message(..)) && party.dump.is_some_and(|rank| case.waits_at(rank, place));
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
        let ranks = (0..case.job.ranks.len() as u32).map(RankIdx);
        for rank in ranks.clone() {
            for &place in case.fronts(rank) {
                index.insert(place, 0);
            }
        }
        let mut places: Vec<Place> = index.keys().copied().collect();
        places.sort_small_by_cached_key(|&place| case.order(place));
        for (at, place) in places.iter().enumerate() {
            index.insert(*place, at);
        }
        let sorted = |mut to: Vec<usize>| {
            to.sort_small();
            to.dedup();
            to
        };
        let of_place = |&place: &Place| {
            let parties = case.parties(place);
            let holding = parties.iter().filter(|party| holds_up(case, place, party)).filter_map(|party| party.dump);
            // A rank that waits nowhere leads nowhere.
            let waiting = holding.filter(|&rank| !case.fronts(rank).is_empty());
            sorted(waiting.map(|rank| places.len() + rank.0 as usize).collect())
        };
        let of_rank = |rank| sorted(case.fronts(rank).iter().filter_map(|front| index.get(front).copied()).collect());
        let edges = places.iter().map(of_place).chain(ranks.map(of_rank)).collect();
        WaitGraph { places, edges }
    }

    /// The nodes that a node leads to.
    pub fn leads_to(&self, node: usize) -> &[usize] {
        self.edges.get(node).map_or(&[], Vec::as_slice)
    }

    /// Everything that a place leads to, itself included, as flags by index.
    pub fn reach(&self, from: usize) -> Vec<bool> {
        let mut seen = alloc::vec![false; self.edges.len()];
        let mut open = alloc::vec![from];
        while let Some(at) = open.pop() {
            let Some(flag) = seen.get_mut(at) else { continue };
            if !core::mem::replace(flag, true) {
                open.extend_from_slice(self.leads_to(at));
            }
        }
        seen.truncate(self.places.len());
        seen
    }

    /// Sets of places that lead to each other and to nothing else: where every walk ends. Each is sorted.
    pub fn ends(&self) -> Vec<Vec<usize>> {
        let components = self.components();
        let mut of = alloc::vec![0; self.edges.len()];
        for (at, component) in components.iter().enumerate() {
            for &place in component {
                if let Some(slot) = of.get_mut(place) {
                    *slot = at;
                }
            }
        }
        let leaves = |node: &usize| {
            let own = of.get(*node);
            self.leads_to(*node).iter().any(|to| of.get(*to) != own)
        };
        let is_end = |component: &Vec<usize>| !component.iter().any(leaves);
        let mut ends: Vec<Vec<usize>> = components.into_iter().filter(is_end).collect();
        for end in &mut ends {
            end.retain(|&node| node < self.places.len());
        }
        // A rank that waits nowhere is no place.
        ends.retain(|end| !end.is_empty());
        ends.sort_small();
        ends
    }

    /// Strongly connected components (Tarjan's algorithm, without recursion).
    fn components(&self) -> Vec<Vec<usize>> {
        const NEW: usize = usize::MAX;
        let count = self.edges.len();
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
    use alloc::vec;

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

    #[test]
    fn ranks_stand_between_places() {
        let graph = |places: u32, edges: &[&[usize]]| WaitGraph {
            places: (0..places).map(|at| Place::Message(GroupIdx(0), at)).collect(),
            edges: edges.iter().map(|to| to.to_vec()).collect(),
        };
        // Rank 3 waits in a block of three messages, of which each waits for it.
        let block = graph(3, &[&[3], &[3], &[3], &[0, 1, 2]]);
        assert_eq!(block.ends(), [[0, 1, 2]]);
        assert_eq!((block.reach(1), block.way_round(1)), (vec![true; 3], vec![1, 0]));
        // A rank that waits in one place holds up nothing there but itself.
        let alone = graph(2, &[&[2], &[2], &[1]]);
        assert_eq!(alone.ends(), [[1]]);
        assert_eq!((alone.reach(1), alone.way_round(1), alone.way_round(0)), (vec![false, true], vec![], vec![]));
        // Two ranks, each in the place that waits for the other; another place waits for one of them.
        let circle = graph(3, &[&[4], &[3], &[3], &[0], &[1]]);
        assert_eq!(circle.ends(), [[0, 1]]);
        assert_eq!((circle.way_round(0), circle.way_round(2)), (vec![0, 1], vec![]));
    }
}
