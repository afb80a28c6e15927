//! What a rank should have done next, by what the others with the same program did.

use alloc::vec::Vec;

use super::Case;
use super::past::{self, Key, Past, Step};
use super::vote::siblings;
use crate::align::RowIdx;
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, RankIdx};
use crate::small_sort::SmallSort as _;
use crate::tree_map::TreeMap;

/// How many operations after the last common row are looked at.
const HORIZON: usize = 128;

/// What comparing programs says of one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Departure {
    /// What the rank did instead.
    pub did: EntryIdx,
    /// How many operations of the others it left out before going on like them; `None` if it did not go on like them.
    pub left_out: Option<usize>,
    /// How many ranks did the other thing, of how many asked.
    pub against: (usize, usize),
}

/// Steps of ranks that vote, and how many they are.
type Voter<'a> = (&'a [Step], usize);

/// Ranks that did the same before and after a row.
#[derive(Debug)]
struct Way {
    past: Past,
    steps: Vec<Step>,
    ranks: usize,
}

/// The ways that the members of a group and of its siblings went after a row of some number.
#[derive(Debug)]
struct Ways {
    ways: Vec<Way>,
    /// Which way each rank went, and its entries of it; sorted by rank.
    of: Vec<(RankIdx, usize, Vec<EntryIdx>)>,
}

/// Programs of ranks after rows, worked out once for each row of a family of sibling groups.
#[derive(Debug, Default)]
pub(super) struct Precedents {
    known: TreeMap<(GroupIdx, Option<u32>), Ways>,
    /// The first of each group and its siblings.
    eldest: TreeMap<GroupIdx, GroupIdx>,
}

impl Precedents {
    /// Where the program of `rank` parts from that of its peers after row `before` of `group`: the members of the group and of its
    /// siblings. Only ranks that did the same up to that point vote, and more than half of them must have done the same other thing.
    pub fn departure(
        &mut self,
        case: &Case<'_>,
        group: GroupIdx,
        before: Option<RowIdx>,
        rank: RankIdx,
    ) -> Option<Departure> {
        let number = before.map(|row| case.table.band(group).number(row));
        let eldest =
            *self.eldest.entry(group).or_insert_with(|| siblings(case.job, case.table, group).fold(group, Ord::min));
        let ways = self.known.entry((eldest, number)).or_insert_with(|| {
            let family: Vec<GroupIdx> = core::iter::once(group).chain(siblings(case.job, case.table, group)).collect();
            Ways::of(case, &family, number)
        });
        ways.departure(rank)
    }
}

impl Ways {
    fn of(case: &Case<'_>, family: &[GroupIdx], number: Option<u32>) -> Ways {
        let mut index: TreeMap<(Vec<Key>, bool, Vec<Key>), usize> = TreeMap::new();
        let mut found = Ways { ways: Vec::new(), of: Vec::new() };
        for &group in family {
            let band = case.table.band(group);
            let row = match number {
                Some(number) => match band.row_of(number) {
                    Some(row) => Some(row),
                    None => continue,
                },
                None => None,
            };
            for (position, &rank) in band.columns.iter().enumerate() {
                let Some(rank) = rank else { continue };
                let start = match row {
                    Some(row) => band.cell(row, position).entry().map(|entry| entry.0 + 1),
                    None => (!case.job.rank(rank).capabilities.wrapped).then_some(0),
                };
                let Some(start) = start else { continue };
                let (keys, entries) = keys(case, rank, start);
                let (past, whole) = Past::keys(case.job, case.table, rank, start);
                let index_key = (past.iter().map(|item| item.0).collect(), whole, keys);
                let way = *index.entry(index_key).or_insert_with_key(|(_, _, keys)| {
                    let step = |(key, &at): (&Key, &EntryIdx)| Step::of(case.job, case.table, rank, key, at);
                    found.ways.push(Way {
                        past: Past::from_keys(case.job, case.table, rank, &past, whole),
                        steps: keys.iter().zip(&entries).map(step).collect(),
                        ranks: 0,
                    });
                    found.ways.len() - 1
                });
                if let Some(way) = found.ways.get_mut(way) {
                    way.ranks += 1;
                }
                found.of.push((rank, way, entries));
            }
        }
        found.of.sort_small_by_key(|item| item.0);
        found
    }

    fn departure(&self, rank: RankIdx) -> Option<Departure> {
        let place = self.of.binary_search_by_key(&rank, |item| item.0).ok()?;
        let (_, own_way, entries) = self.of.get(place)?;
        let own_side = self.ways.get(*own_way)?;
        let own = &own_side.steps;
        let mut voters: Vec<Voter<'_>> = self
            .ways
            .iter()
            .enumerate()
            .filter(|(_, way)| way.past.shows_the_same(&own_side.past))
            .map(|(at, way)| (way.steps.as_slice(), way.ranks - usize::from(at == *own_way)))
            .filter(|voter| voter.1 > 0)
            .collect();
        let count = |voters: &[&Voter<'_>]| voters.iter().map(|voter| voter.1).sum::<usize>();
        for (at, mine) in own.iter().enumerate() {
            voters.retain(|voter| voter.0.len() > at);
            let (with, against): (Vec<&Voter<'_>>, Vec<&Voter<'_>>) =
                voters.iter().partition(|voter| voter.0.get(at).is_some_and(|step| step.equals(mine)));
            let agreeing = |candidate: &[Step]| -> usize {
                against.iter().filter(|other| same_at(candidate, other.0, at)).map(|other| other.1).sum()
            };
            if let Some(most) = against.iter().max_by_key(|candidate| agreeing(candidate.0)) {
                let agreeing = agreeing(most.0);
                let asked = count(&with) + count(&against) + 1;
                if agreeing * 2 > asked {
                    let left_out = (1..=HORIZON).find(|&shift| {
                        let (theirs, mine) = (most.0.get(at + shift..).unwrap_or(&[]), own.get(at..).unwrap_or(&[]));
                        !theirs.is_empty() && theirs.iter().zip(mine).all(|(a, b)| a.equals(b))
                    });
                    return Some(Departure { did: *entries.get(at)?, left_out, against: (agreeing, asked) });
                }
                if count(&against) >= count(&with) {
                    return None;
                }
            }
            voters.retain(|voter| voter.0.get(at).is_some_and(|step| step.equals(mine)));
            if voters.is_empty() {
                return None;
            }
        }
        None
    }
}

fn same_at(a: &[Step], b: &[Step], at: usize) -> bool {
    matches!((a.get(at), b.get(at)), (Some(a), Some(b)) if a.equals(b))
}

/// The operations of a rank from an entry on, messages left out: their order is free inside a block, and they name ranks.
fn keys(case: &Case<'_>, rank: RankIdx, start: u32) -> (Vec<Key>, Vec<EntryIdx>) {
    let end = case.job.rank(rank).entries.len() as u32;
    (start..end)
        .map(EntryIdx)
        .filter(|&at| !case.job.is_message(rank, at))
        .filter_map(|at| Some((past::key(case.job, case.table, rank, at)?, at)))
        .take(HORIZON)
        .unzip()
}
