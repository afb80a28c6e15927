//! Who agrees with whom in a row.

use alloc::vec::Vec;

use super::Call;
use super::past::Past;
use crate::align::{Band, RowIdx, Table};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, Job, RankIdx};
use crate::small_sort::SmallSort as _;

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

/// Divides the members of a row by what they called; `by_site` also tells calls from different places apart. Then a member without
/// stacks, whose call would fit several camps, is in none.
pub(super) fn camps(job: &Job, table: &Table, band: &Band, row: RowIdx, by_site: bool) -> Vec<Camp> {
    let mut camps: Vec<Camp> = Vec::new();
    let mut silent = Vec::new();
    for (_, rank, entry) in band.issued(row) {
        let call = Call::of(job, table, rank, entry);
        if by_site && call.site.is_none() {
            silent.push((call, (rank, entry)));
            continue;
        }
        let same = |camp: &&mut Camp| camp.call.fits(&call) && (!by_site || camp.call.same_site(&call));
        match camps.iter_mut().find(same) {
            Some(camp) => camp.voters.push((rank, entry)),
            None => camps.push(Camp { call, voters: alloc::vec![(rank, entry)] }),
        }
    }
    for (call, voter) in silent {
        let mut fitting = camps.iter_mut().filter(|camp| camp.call.fits(&call));
        match (fitting.next(), fitting.next()) {
            (Some(camp), None) => camp.voters.push(voter),
            (Some(_), Some(_)) => {}
            (None, _) => camps.push(Camp { call, voters: alloc::vec![voter] }),
        }
    }
    camps.iter_mut().for_each(|camp| camp.voters.sort_small());
    camps.sort_small_by_key(|camp| (usize::MAX - camp.voters.len(), camp.voters.first().copied()));
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
pub(super) fn siblings<'a>(job: &'a Job, table: &'a Table, group: GroupIdx) -> impl Iterator<Item = GroupIdx> + 'a {
    table.families.family(group).iter().copied().filter(move |&other| are_siblings(job, group, other))
}

/// Whether two groups have the same description and size and other members.
pub(super) fn are_siblings(job: &Job, one: GroupIdx, other: GroupIdx) -> bool {
    let (ours, theirs) = (job.group(one), job.group(other));
    theirs.desc == ours.desc
        && !ours.desc.is_empty()
        && theirs.members.len() == ours.members.len()
        && theirs.members != ours.members
}

fn ask_siblings(job: &Job, table: &Table, group: GroupIdx, row: RowIdx, camps: &[Camp]) -> Option<usize> {
    let own = table.band(group);
    let mut votes = alloc::vec![0usize; camps.len()];
    for sibling in siblings(job, table, group) {
        let band = table.band(sibling);
        let Some(their_row) = band.row_of(own.number(row)) else { continue };
        let Some(theirs) = unanimous(job, table, band, their_row) else { continue };
        // A sibling without stacks cannot tell camps apart that differ in the place alone.
        let mut agreeing = (0..camps.len()).filter(|&at| camps.get(at).is_some_and(|camp| camp.call.equals(&theirs)));
        if let (Some(at), None) = (agreeing.next(), agreeing.next())
            && let Some(count) = votes.get_mut(at)
            && ran_the_same(job, table, (own, row), (band, their_row))
        {
            *count += 1;
        }
    }
    let total: usize = votes.iter().sum();
    votes.iter().position(|&count| count * 2 > total)
}

/// Whether members of two groups with the same part ran the same program up to a row. Groups of other stages of a pipeline look
/// alike by description and size.
fn ran_the_same(job: &Job, table: &Table, (own, row): (&Band, RowIdx), (other, their_row): (&Band, RowIdx)) -> bool {
    let past = |rank: RankIdx, entry: EntryIdx| Past::of(job, table, rank, entry.0);
    own.issued(row).any(|(at, rank, entry)| {
        let mate = other.issued(their_row).find(|mate| mate.0 == at);
        mate.is_some_and(|(_, mate, their_entry)| past(rank, entry).shows_the_same(&past(mate, their_entry)))
    })
}

/// The call that all who issued a row made.
fn unanimous(job: &Job, table: &Table, band: &Band, row: RowIdx) -> Option<Call> {
    let camps = camps(job, table, band, row, true);
    match <[Camp; 1]>::try_from(camps) {
        Ok([camp]) => Some(camp.call),
        Err(_) => None,
    }
}
