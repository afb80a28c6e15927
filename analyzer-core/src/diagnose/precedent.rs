//! What a rank should have done next, by what the others with the same program did.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Call, Case, vote};
use crate::align::RowIdx;
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, RankIdx};
use crate::symbols::{ArgsId, FrameId, StrId};

/// An operation as ranks with the same program see it: groups are told apart by description and size, since members differ.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    /// Handle of the group's description in the job's texts, when there; else of its name.
    group: Option<StrId>,
    size: usize,
    call: Call,
}

impl Step {
    fn equals(&self, other: &Step) -> bool {
        self.group == other.group && self.size == other.size && self.call.equals(&other.call)
    }
}

/// A [`Step`] by handles alone: equal ones are equal steps.
type Key = (Option<StrId>, usize, (StrId, ArgsId, u32), Option<FrameId>);

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

/// Ranks that did the same after a row.
#[derive(Debug)]
struct Way {
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
    known: BTreeMap<(GroupIdx, Option<u32>), Ways>,
    /// The first of the groups that ran the same program up to a row, by group and row.
    eldest: BTreeMap<(GroupIdx, Option<u32>), GroupIdx>,
    /// The groups that ran the same program up to a row, by the first of them and row.
    families: BTreeMap<(GroupIdx, Option<u32>), Vec<GroupIdx>>,
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
        if !self.eldest.contains_key(&(group, number)) {
            self.divide(case, group, number);
        }
        let eldest = *self.eldest.get(&(group, number))?;
        let family = self.families.get(&(eldest, number))?;
        let ways = self.known.entry((eldest, number)).or_insert_with(|| Ways::of(case, family, number));
        ways.departure(rank)
    }

    /// Divides a group and its siblings into families that ran the same program up to a row.
    fn divide(&mut self, case: &Case<'_>, group: GroupIdx, number: Option<u32>) {
        let until = number.map_or(0, |number| number.saturating_add(1));
        let mut all: Vec<GroupIdx> = core::iter::once(group).chain(vote::siblings(case.job, group)).collect();
        all.sort_unstable();
        let mut eldest: Vec<GroupIdx> = Vec::new();
        for one in all {
            let same = |&first: &GroupIdx| vote::ran_the_same(case.job, case.table, first, one, until);
            let first = eldest.iter().copied().find(same).unwrap_or(one);
            if first == one {
                eldest.push(one);
            }
            self.eldest.insert((one, number), first);
            self.families.entry((first, number)).or_default().push(one);
        }
    }
}

impl Ways {
    fn of(case: &Case<'_>, family: &[GroupIdx], number: Option<u32>) -> Ways {
        let mut index: BTreeMap<Vec<Key>, usize> = BTreeMap::new();
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
                let way = *index.entry(keys).or_insert_with_key(|keys| {
                    let steps = keys.iter().zip(&entries).map(|(key, &entry)| Step {
                        group: key.0,
                        size: key.1,
                        call: Call::of(case.job, case.table, rank, entry),
                    });
                    found.ways.push(Way { steps: steps.collect(), ranks: 0 });
                    found.ways.len() - 1
                });
                if let Some(way) = found.ways.get_mut(way) {
                    way.ranks += 1;
                }
                found.of.push((rank, way, entries));
            }
        }
        found.of.sort_by_key(|item| item.0);
        found
    }

    fn departure(&self, rank: RankIdx) -> Option<Departure> {
        let place = self.of.binary_search_by_key(&rank, |item| item.0).ok()?;
        let (_, own_way, entries) = self.of.get(place)?;
        let own = &self.ways.get(*own_way)?.steps;
        let mut voters: Vec<Voter<'_>> = self
            .ways
            .iter()
            .enumerate()
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
    let dump = case.job.rank(rank);
    let Some(blocks) = case.table.blocks.get(rank.0 as usize) else { return Default::default() };
    (start..dump.entries.len() as u32)
        .map(EntryIdx)
        .filter(|&at| !blocks.is_folded(at))
        .filter_map(|at| {
            let entry = dump.entries.get(at);
            if case.job.op(entry.op).peer.is_some() {
                return None;
            }
            let of = case.job.group(case.job.group_of(rank, &entry)?);
            let name = if of.desc.is_empty() { &of.name } else { &of.desc };
            let signature = case.table.signature(case.job, rank, at);
            let key =
                (case.job.symbols.strings.find(name), of.members.len(), signature, case.job.user_frame(entry.stack));
            Some((key, at))
        })
        .take(HORIZON)
        .unzip()
}
