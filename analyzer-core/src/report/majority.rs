//! The call that most members of a row made.

use alloc::vec::Vec;
use core::cell::OnceCell;

use crate::align::{RowIdx, Table};
use crate::diagnose::Call;
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, Job, RankIdx};
use crate::symbols::{ArgsId, StrId};

/// The call that most members made.
pub(super) struct Majority {
    pub rank: RankIdx,
    pub entry: EntryIdx,
    quick: (StrId, ArgsId, u32),
    /// Worked out where somebody differs.
    call: OnceCell<Call>,
}

/// The most frequent call of a row; of equally frequent ones that of the lowest rank.
pub(super) fn majority(job: &Job, table: &Table, group: GroupIdx, row: RowIdx) -> Option<Majority> {
    let mut kinds: Vec<(_, usize, RankIdx, EntryIdx)> = Vec::new();
    for (_, rank, entry) in table.band(group).issued(row) {
        let quick = table.signature(job, rank, entry);
        if let Some(kind) = kinds.iter_mut().find(|kind| kind.0 == quick) {
            kind.1 += 1;
        } else if kinds.len() < 64 {
            // Some rows differ by design (all_to_all); a few kinds tell enough.
            kinds.push((quick, 1, rank, entry));
        }
    }
    let most = kinds.iter().map(|kind| kind.1).max()?;
    let &(quick, _, rank, entry) = kinds.iter().find(|kind| kind.1 == most)?;
    Some(Majority { rank, entry, quick, call: OnceCell::new() })
}

/// Whether an entry's call does not fit that of the majority.
pub(super) fn differs(job: &Job, table: &Table, majority: &Majority, rank: RankIdx, entry: EntryIdx) -> bool {
    if table.signature(job, rank, entry) == majority.quick {
        return false;
    }
    let call = majority.call.get_or_init(|| Call::of(job, table, majority.rank, majority.entry));
    !call.fits(&Call::of(job, table, rank, entry))
}
