//! What a rank should have done next, by what the others with the same program did.

use alloc::vec::Vec;

use super::vote::siblings;
use super::{Call, Case};
use crate::align::RowIdx;
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, RankIdx};
use crate::symbols::StrId;

/// An operation as ranks with the same program see it: groups are told apart by description and size, since members differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Handle of the group's description in the job's texts, when there; else of its name.
    group: Option<StrId>,
    size: usize,
    call: Call,
    /// The entry.
    pub entry: EntryIdx,
}

impl Step {
    fn equals(&self, other: &Step) -> bool {
        self.group == other.group && self.size == other.size && self.call.equals(&other.call)
    }
}

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

/// Where the program of `rank` parts from that of its peers after row `before` of `group`: the members of the group and of its
/// siblings. Only ranks that did the same up to that point vote, and more than half of them must have done the same other thing.
pub(super) fn departure(case: &Case<'_>, group: GroupIdx, before: Option<RowIdx>, rank: RankIdx) -> Option<Departure> {
    let number = before.map(|row| case.table.band(group).number(row));
    let own = steps(case, group, before, rank)?;
    let mut voters: Vec<Vec<Step>> = Vec::new();
    for other in core::iter::once(group).chain(siblings(case.job, group)) {
        let band = case.table.band(other);
        let row = match number {
            Some(number) => match band.row_of(number) {
                Some(row) => Some(row),
                None => continue,
            },
            None => None,
        };
        for voter in band.columns.iter().flatten().copied().filter(|&voter| voter != rank) {
            voters.extend(steps(case, other, row, voter));
        }
    }
    for (at, mine) in own.iter().enumerate() {
        voters.retain(|theirs| theirs.len() > at);
        let (with, against): (Vec<_>, Vec<_>) =
            voters.iter().partition(|theirs| theirs.get(at).is_some_and(|step| step.equals(mine)));
        let most =
            against.iter().max_by_key(|candidate| against.iter().filter(|other| same_at(candidate, other, at)).count());
        if let Some(most) = most {
            let agreeing = against.iter().filter(|other| same_at(most, other, at)).count();
            let asked = voters.len() + 1;
            if agreeing * 2 > asked {
                let left_out = (1..=HORIZON).find(|&shift| {
                    let (theirs, mine) = (most.get(at + shift..).unwrap_or(&[]), &own[at..]);
                    !theirs.is_empty() && theirs.iter().zip(mine).all(|(a, b)| a.equals(b))
                });
                return Some(Departure { did: mine.entry, left_out, against: (agreeing, asked) });
            }
            if against.len() >= with.len() {
                return None;
            }
        }
        voters.retain(|theirs| theirs.get(at).is_some_and(|step| step.equals(mine)));
        if voters.is_empty() {
            return None;
        }
    }
    None
}

fn same_at(a: &[Step], b: &[Step], at: usize) -> bool {
    matches!((a.get(at), b.get(at)), (Some(a), Some(b)) if a.equals(b))
}

/// The operations of a rank after a row of a group, messages left out: their order is free inside a block, and they name ranks.
fn steps(case: &Case<'_>, group: GroupIdx, before: Option<RowIdx>, rank: RankIdx) -> Option<Vec<Step>> {
    let band = case.table.band(group);
    let start = match before {
        None => 0,
        Some(row) => {
            let position = band.columns.iter().position(|&column| column == Some(rank))?;
            band.cell(row, position).entry()?.0 + 1
        }
    };
    let dump = case.job.rank(rank);
    if before.is_none() && dump.capabilities.wrapped {
        return None;
    }
    let blocks = case.table.blocks.get(rank.0 as usize)?;
    let steps = (start..dump.entries.len() as u32)
        .map(EntryIdx)
        .filter(|&at| !blocks.is_folded(at))
        .filter_map(|at| {
            let entry = dump.entries.get(at);
            if case.job.op(entry.op).peer.is_some() {
                return None;
            }
            let of = case.job.group(case.job.group_of(rank, &entry)?);
            let name = if of.desc.is_empty() { &of.name } else { &of.desc };
            Some(Step {
                group: case.job.symbols.strings.find(name),
                size: of.members.len(),
                call: Call::of(case.job, case.table, rank, at),
                entry: at,
            })
        })
        .take(HORIZON)
        .collect();
    Some(steps)
}
