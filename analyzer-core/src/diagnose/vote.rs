//! Who agrees with whom in a row.

use alloc::vec::Vec;

use super::Call;
use crate::align::{Band, RowIdx, Table};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, Job, RankIdx};
use crate::symbols::{ArgsId, FrameId, StrId};

/// Ranks that made the same call in a row.
#[derive(Clone, Debug)]
pub(super) struct Camp {
    /// The call.
    pub call: Call,
    /// Who made it: rank index and entry, ascending.
    pub voters: Vec<(RankIdx, EntryIdx)>,
}

/// How a row's members are divided.
#[derive(Clone, Debug)]
pub(super) struct Division {
    /// The camps, largest first; equal ones by their lowest rank.
    pub camps: Vec<Camp>,
    /// The camp that is right, if that can be told: an index into `camps`.
    pub right: Option<usize>,
    /// Whether sibling groups and not the row's own majority decided.
    pub by_siblings: bool,
}

/// Divides the members of a row by what they called; `by_site` also tells calls from different places apart.
pub(super) fn camps(job: &Job, table: &Table, band: &Band, row: RowIdx, by_site: bool) -> Vec<Camp> {
    let mut camps: Vec<Camp> = Vec::new();
    for (_, rank, entry) in band.issued(row) {
        let call = Call::of(job, table, rank, entry);
        let same = |camp: &&mut Camp| camp.call.fits(&call) && (!by_site || camp.call.same_site(&call));
        match camps.iter_mut().find(same) {
            Some(camp) => camp.voters.push((rank, entry)),
            None => camps.push(Camp { call, voters: alloc::vec![(rank, entry)] }),
        }
    }
    camps.sort_by_key(|camp| (usize::MAX - camp.voters.len(), camp.voters.first().copied()));
    camps
}

/// Decides which camp of a divided row is right: the majority, else the one that agrees with the sibling groups.
pub(super) fn decide(job: &Job, table: &Table, group: GroupIdx, row: RowIdx, by_site: bool) -> Division {
    let band = table.band(group);
    let camps = camps(job, table, band, row, by_site);
    let voters: usize = camps.iter().map(|camp| camp.voters.len()).sum();
    let majority = camps.first().filter(|camp| camp.voters.len() * 2 > voters).map(|_| 0);
    if majority.is_some() || camps.len() < 2 {
        return Division { camps, right: majority, by_siblings: false };
    }
    let right = ask_siblings(job, table, group, row, &camps);
    Division { camps, right, by_siblings: right.is_some() }
}

/// Groups of the same description and size with other members.
pub(super) fn siblings(job: &Job, group: GroupIdx) -> impl Iterator<Item = GroupIdx> + '_ {
    let own = job.group(group);
    (0..job.groups.len() as u32).map(GroupIdx).filter(move |&other| {
        let theirs = job.group(other);
        other != group
            && theirs.desc == own.desc
            && !own.desc.is_empty()
            && theirs.members.len() == own.members.len()
            && theirs.members != own.members
    })
}

/// How many older rows of two groups are compared.
const HISTORY: u32 = 64;

/// Whether two groups ran the same program before a row: where the calls of both are unanimous, they are equal. Groups of one
/// description may belong to stages that run different programs, and a single row may agree by accident.
pub(super) fn ran_the_same(job: &Job, table: &Table, one: GroupIdx, other: GroupIdx, before: u32) -> bool {
    let (ours, theirs) = (table.band(one), table.band(other));
    let from = before.saturating_sub(HISTORY);
    let first = ours.numbers.partition_point(|&number| number < from);
    let rows = ours.numbers.iter().zip(0..).skip(first).take_while(|item| *item.0 < before);
    rows.map(|(&number, row)| (RowIdx(row), theirs.row_of(number))).all(|(row, their_row)| {
        let Some(their_row) = their_row else { return true };
        match (unanimous_entry(job, table, ours, row), unanimous_entry(job, table, theirs, their_row)) {
            (Some(a), Some(b)) => {
                key(job, table, a) == key(job, table, b)
                    || Call::of(job, table, a.0, a.1).equals(&Call::of(job, table, b.0, b.1))
            }
            _ => true,
        }
    })
}

/// What tells calls apart cheaply: equal ones are equal calls.
fn key(job: &Job, table: &Table, (rank, entry): (RankIdx, EntryIdx)) -> (StrId, ArgsId, u32, Option<FrameId>) {
    let (op, args, inner) = table.signature(job, rank, entry);
    (op, args, inner, job.user_frame(job.entry(rank, entry).stack))
}

/// An entry that stands for all of a row; `None` where the members differ.
fn unanimous_entry(job: &Job, table: &Table, band: &Band, row: RowIdx) -> Option<(RankIdx, EntryIdx)> {
    let mut issued = band.issued(row).map(|(_, rank, entry)| (rank, entry));
    let first = issued.next()?;
    let expected = key(job, table, first);
    issued.all(|other| key(job, table, other) == expected).then_some(first)
}

fn ask_siblings(job: &Job, table: &Table, group: GroupIdx, row: RowIdx, camps: &[Camp]) -> Option<usize> {
    let own = table.band(group);
    let number = own.number(row);
    let mut votes = alloc::vec![0usize; camps.len()];
    for sibling in siblings(job, group) {
        let band = table.band(sibling);
        let Some(theirs) = band.row_of(number).and_then(|row| unanimous(job, table, band, row)) else { continue };
        if !ran_the_same(job, table, group, sibling, number) {
            continue;
        }
        if let Some(at) = camps.iter().position(|camp| camp.call.equals(&theirs))
            && let Some(count) = votes.get_mut(at)
        {
            *count += 1;
        }
    }
    let total: usize = votes.iter().sum();
    votes.iter().position(|&count| count * 2 > total)
}

/// The call that all who issued a row made.
fn unanimous(job: &Job, table: &Table, band: &Band, row: RowIdx) -> Option<Call> {
    let camps = camps(job, table, band, row, true);
    match <[Camp; 1]>::try_from(camps) {
        Ok([camp]) => Some(camp.call),
        Err(_) => None,
    }
}
