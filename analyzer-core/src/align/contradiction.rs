//! Rows whose order ranks contradict each other about.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::program_order::Play;
use crate::job::RankIdx;
use crate::small_sort::SmallSort as _;
use crate::tree_map::TreeMap;

/// Most contradictions that are listed.
const LISTED: usize = 64;
/// Rows of the longest one that is listed.
const LONGEST: usize = 16;
/// So many of the rows at which others stand are held against a row, one by one.
const RIVALS: usize = 16;

/// Rows that no order can put right: of two, some ranks issued the first one first, others the second one; of more, the orders go round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The rows, by their place in the list of all rows.
    pub rows: Vec<u32>,
    /// For each of them, the global ranks that issued it before the next one, and the last one before the first; ascending.
    pub ranks: Vec<Vec<u32>>,
}

/// Finds what keeps a job that is played from going on.
#[derive(Default)]
pub(super) struct Standstill {
    found: Vec<Contradiction>,
    count: u32,
    /// A rank that stood last; where the search begins.
    rank: Option<RankIdx>,
    /// All ranks below are through.
    through: u32,
}

impl Standstill {
    /// The row that must begin before everybody has come to it; `None` where all rows are in the order.
    pub fn end(&mut self, play: &Play<'_>) -> Option<u32> {
        let start = self.start(play)?;
        let knot = knot(play, start);
        let order = |&row: &u32| (play.waits_for.get(row as usize).copied(), play.time_of(row, 0), row);
        let row = knot.iter().copied().min_by_key(order)?;
        let late: Vec<(RankIdx, u32)> = late(play, row);
        self.rank = late.first().map(|item| item.0);
        let mut rivals: Vec<u32> = late.iter().map(|item| item.1).collect();
        rivals.sort_small();
        rivals.dedup();
        let rows = rivals
            .iter()
            .take(RIVALS)
            .map(|&rival| alloc::vec![row, rival])
            .find(|rows| ranks(play, rows).iter().all(|ranks| !ranks.is_empty()))
            .unwrap_or_else(|| circle(play, row));
        self.note(play, rows);
        Some(row)
    }

    /// What was found, and how many there were: those of fewest rows first, then the earliest.
    pub fn into_found(mut self) -> (Vec<Contradiction>, u32) {
        // They were found in the order of the rows.
        self.found.sort_small_by_key(|found| found.rows.len());
        (self.found, self.count)
    }

    /// A row that somebody stands at.
    fn start(&mut self, play: &Play<'_>) -> Option<u32> {
        if let Some(front) = self.rank.and_then(|rank| play.front(rank)) {
            return Some(front);
        }
        while self.through < play.ranks() {
            if let Some(front) = play.front(RankIdx(self.through)) {
                return Some(front);
            }
            self.through += 1;
        }
        None
    }

    fn note(&mut self, play: &Play<'_>, rows: Vec<u32>) {
        let ranks = ranks(play, &rows);
        // Only what ranks say counts. Which send met which receive is inferred where a ring wrapped.
        let wrapped = |rank: &u32| play.job.rank_idx(*rank).is_some_and(|at| play.job.rank(at).capabilities.wrapped);
        let inferred = rows.iter().any(|&row| play.is_message(row)) && ranks.iter().flatten().any(wrapped);
        if rows.len() < 2 || ranks.iter().any(Vec::is_empty) || inferred {
            return;
        }
        self.count = self.count.saturating_add(1);
        if self.found.len() < LISTED && rows.len() <= LONGEST {
            self.found.push(Contradiction { rows, ranks });
        }
    }
}

/// The ranks that have not come to a row that they issued, and what each of them stands at.
fn late(play: &Play<'_>, row: u32) -> Vec<(RankIdx, u32)> {
    let late = play.parties(row).filter(|&(rank, entry)| !play.has_come(rank, entry));
    late.filter_map(|(rank, _)| Some((rank, play.front(rank)?))).collect()
}

/// The rows that a row waits for: those at which the ranks stand that have not come to it, and the one before it in its group.
fn waits(play: &Play<'_>, row: u32) -> Vec<u32> {
    let mut waits: Vec<u32> = late(play, row).into_iter().map(|item| item.1).collect();
    waits.extend(play.before_in_group(row).filter(|&before| !play.is_done(before)));
    waits.sort_small();
    waits.dedup();
    waits
}

/// Rows that wait for each other and for nothing else, found from a row that leads to them (Tarjan's algorithm up to the first component
/// that is complete: nothing leads out of it).
fn knot(play: &Play<'_>, start: u32) -> Vec<u32> {
    struct Visit {
        waits: Vec<u32>,
        next: usize,
        order: u32,
        low: u32,
    }
    let visit =
        |row: u32, order: usize| Visit { waits: waits(play, row), next: 0, order: order as u32, low: order as u32 };
    let mut seen: TreeMap<u32, u32> = TreeMap::from_iter([(start, 0)]);
    let mut rows = alloc::vec![start];
    let mut way = alloc::vec![visit(start, 0)];
    while let Some(top) = way.last_mut() {
        let Some(&to) = top.waits.get(top.next) else {
            let Some(done) = way.pop() else { break };
            if done.low == done.order {
                return rows.split_off(done.order as usize);
            }
            if let Some(parent) = way.last_mut() {
                parent.low = parent.low.min(done.low);
            }
            continue;
        };
        top.next += 1;
        match seen.get(&to) {
            // Nothing is complete before the end, so whatever was seen is still open.
            Some(&order) => top.low = top.low.min(order),
            None => {
                let order = rows.len();
                seen.insert(to, order as u32);
                rows.push(to);
                way.push(visit(to, order));
            }
        }
    }
    rows
}

/// The shortest way on which a row waits for itself, in the order in which ranks issued its rows; the row alone if there is none.
fn circle(play: &Play<'_>, row: u32) -> Vec<u32> {
    let mut came_from: TreeMap<u32, u32> = TreeMap::new();
    let mut open = VecDeque::from([row]);
    while let Some(at) = open.pop_front() {
        for to in waits(play, at) {
            if to == row {
                // A row waits for one that ranks issued before it: the way back is their order.
                let mut rows = alloc::vec![row];
                let mut last = at;
                while last != row {
                    rows.push(last);
                    last = came_from.get(&last).copied().unwrap_or(row);
                }
                return rows;
            }
            if to != row && !came_from.contains_key(&to) {
                came_from.insert(to, at);
                open.push_back(to);
            }
        }
    }
    alloc::vec![row]
}

/// For each row, the global ranks that issued it before the next one, and the last one before the first.
fn ranks(play: &Play<'_>, rows: &[u32]) -> Vec<Vec<u32>> {
    let next = rows.iter().cycle().skip(1);
    rows.iter()
        .zip(next)
        .map(|(&row, &next)| {
            let mut ranks: Vec<u32> = play
                .parties(row)
                .filter(|&(rank, entry)| {
                    let theirs = play.entry_in(next, rank);
                    theirs.is_some_and(|other| entry < other && !play.in_one_block(rank, entry, other))
                })
                .map(|(rank, _)| play.job.rank(rank).rank)
                .collect();
            ranks.sort_small();
            ranks
        })
        .collect()
}
