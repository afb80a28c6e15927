//! Ranks that issued an operation long after the others.

use alloc::vec::Vec;

use crate::align::{Band, RowIdx};
use crate::diagnose::{Case, Place};
use crate::job::RankIdx;
use crate::small_sort::SmallSort as _;

/// How many rows before it are searched for one that as many issued.
const HISTORY: usize = 256;

/// Ranks that issued a row later than half of the members by more than the time limit, and by how many seconds at most.
///
/// Clocks of two hosts are not compared: what counts is how long each rank took from the last row that all of them issued.
pub(super) fn find(case: &Case<'_>, place: Place) -> Option<(Vec<u32>, i64)> {
    let Place::Row(group, row) = place else { return None };
    let band = case.table.band(group);
    let issued = band.issued(row).count();
    let before = (0..row.0).rev().take(HISTORY).map(RowIdx).find(|&before| band.issued(before).count() == issued)?;
    let mut took: Vec<(i64, RankIdx)> = Vec::new();
    for (position, rank, entry) in band.issued(row) {
        let earlier = band.cell(before, position).entry()?;
        let entries = &case.job.rank(rank).entries;
        let (now, then) = (entries.get(entry).created_ns, entries.get(earlier).created_ns);
        if now <= 0 || then <= 0 {
            return None;
        }
        took.push((now.saturating_sub(then), rank));
    }
    took.sort_small();
    let usual = took.get(took.len() / 2)?.0.min(took.get(took.len().checked_sub(1)? / 2)?.0);
    let limit = limit_ns(case, band, row);
    let late: Vec<(i64, u32)> = took
        .iter()
        .map(|&(ns, rank)| (ns.saturating_sub(usual), case.job.rank(rank).rank))
        .filter(|item| limit > 0 && item.0 > limit)
        .collect();
    let most = late.iter().map(|item| item.0).max()? / 1_000_000_000;
    let mut ranks: Vec<u32> = late.into_iter().map(|item| item.1).collect();
    ranks.sort_small();
    Some((ranks, most))
}

/// The shortest time limit of a row, in nanoseconds.
fn limit_ns(case: &Case<'_>, band: &Band, row: RowIdx) -> i64 {
    let limits = band.issued(row).map(|(_, rank, entry)| case.job.rank(rank).entries.get(entry).timeout_ms);
    limits.min().map_or(0, |ms| i64::from(ms) * 1_000_000)
}
