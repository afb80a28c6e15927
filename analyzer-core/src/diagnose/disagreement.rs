//! The first row of a group whose members did not make the same call.

use alloc::vec::Vec;

use super::vote::{Camp, camps};
use super::{Call, Case};
use crate::align::{Band, Cell, Progress, RowIdx, Signature};
use crate::dump::EntryIdx;
use crate::job::RankIdx;

/// How many older rows are searched for a place where two call sites met without harm.
const HISTORY: usize = 512;

/// A row whose calls do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    pub row: RowIdx,
    /// Whether every member that could be seen finished it in time.
    pub is_passed: bool,
}

/// All rows of a group whose calls do not fit together.
pub(super) fn misfits(case: &Case<'_>, band: &Band) -> Vec<Misfit> {
    let mut misfits = Vec::new();
    let look = |rank, cell: Cell| cell.entry().map(|entry| (case.table.signature(case.job, rank, entry), rank, entry));
    band.for_each_row(None, look, |row, calls| {
        if is_misfit(case, calls) {
            misfits.push(Misfit { row, is_passed: is_passed(case, band, row) });
        }
    });
    misfits
}

/// The first row whose calls do not fit together.
pub(super) fn first_misfit(case: &Case<'_>, band: &Band) -> Option<RowIdx> {
    case.misfits(band).first().map(|misfit| misfit.row)
}

/// The first row up to `until` whose calls do not fit and that not everybody got past.
///
/// A row that every member finished in time holds nobody up, whatever is in it: the job hangs for another reason.
pub(super) fn first_open_misfit(case: &Case<'_>, band: &Band, until: RowIdx) -> Option<RowIdx> {
    let misfits = case.misfits(band).iter().take_while(|misfit| misfit.row <= until);
    misfits.filter(|misfit| !misfit.is_passed).map(|misfit| misfit.row).next()
}

/// Whether every member that could be seen finished a row in time.
fn is_passed(case: &Case<'_>, band: &Band, row: RowIdx) -> bool {
    band.dumped_cells_of(row).all(|(_, rank, cell)| match cell.entry() {
        Some(entry) => case.table.progress(rank, entry) == Progress::Completed,
        None => cell == Cell::UNKNOWN || cell == Cell::FINISHED,
    })
}

/// Whether the calls of a row do not fit together. Equal operations and equal arguments, the usual case, cost two comparisons a cell.
fn is_misfit(case: &Case<'_>, calls: &[Option<(Signature, RankIdx, EntryIdx)>]) -> bool {
    let mut calls = calls.iter().flatten();
    let Some(first) = calls.next() else { return false };
    let mut reference: Option<Call> = None;
    for &(signature, rank, entry) in calls {
        if signature == first.0 {
            continue;
        }
        let reference = reference.get_or_insert_with(|| Call::of(case.job, case.table, first.1, first.2));
        if !reference.fits(&Call::of(case.job, case.table, rank, entry)) {
            return true;
        }
    }
    false
}

/// Whether a row whose calls fit comes from different places in the code that never met in a finished row of this group before.
///
/// A program may well call an operation from one line on the root and from another one elsewhere; then these lines met before.
pub(super) fn unusual_sites(case: &Case<'_>, band: &Band, row: RowIdx) -> bool {
    if is_one_call(case, band, row) {
        return false;
    }
    let now = camps(case.job, case.table, band, row, true);
    if now.len() < 2 {
        return false;
    }
    let met = |a: &Camp, b: &Camp| {
        (0..row.0).rev().take(HISTORY).map(RowIdx).any(|row| {
            let before = camps(case.job, case.table, band, row, true);
            let has = |camp: &Camp| before.iter().any(|other| other.call.site == camp.call.site);
            before.len() > 1 && has(a) && has(b)
        })
    };
    let Some((first, rest)) = now.split_first() else { return false };
    rest.iter().any(|other| !met(first, other))
}

/// Whether all made the same call from one known place: the usual case, which needs no camps.
fn is_one_call(case: &Case<'_>, band: &Band, row: RowIdx) -> bool {
    let mut calls = band.issued(row).map(|(_, rank, entry)| {
        let stack = case.job.stack(rank, entry);
        (stack, case.table.signature(case.job, rank, entry))
    });
    let Some(first) = calls.next() else { return true };
    let site = case.job.user_frame(first.0);
    let same_site = |stack| stack == first.0 || case.job.user_frame(stack) == site;
    site.is_some() && calls.all(|call| call.1 == first.1 && same_site(call.0))
}
