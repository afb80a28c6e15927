//! Ranks whose device is several operations behind its peers.

use alloc::format;
use alloc::vec::Vec;

use super::words;
use crate::align::{Progress, RowIdx};
use crate::diagnose::{Case, Draft, Place};
use crate::job::{GroupIdx, RankIdx};
use crate::report::{Alternative, Cause, Confidence, Kind};
use crate::small_sort::SmallSort as _;
use crate::tree_set::TreeSet;

/// Rows that a device must be behind: one may be no more than a late look at the same event.
const ROWS: usize = 2;

/// Blames the members whose first unfinished row is older than that of their peers by at least [`ROWS`] rows, of operations that
/// nobody can finish alone. Those who wait at the front are victims.
pub(in crate::diagnose) fn find(case: &Case<'_>, place: Place) -> Option<Draft> {
    describe(case, &[place])
}

/// As [`find`], for one thing that happened in several sibling groups.
pub(in crate::diagnose) fn describe(case: &Case<'_>, places: &[Place]) -> Option<Draft> {
    let place = *places.first()?;
    let mut suspects: Vec<u32> = Vec::new();
    for &place in places {
        let behind = behind_at(case, place);
        if behind.is_empty() {
            return None;
        }
        suspects.extend(behind);
    }
    suspects.sort_small();
    suspects.dedup();
    let parties = case.parties(place);
    let witness = parties.iter().find(|party| suspects.binary_search(&party.rank).is_ok())?;
    let (rank, entry) = (witness.dump?, witness.cell.entry()?);
    let first: Vec<u32> = words::pick(&parties, |party| suspects.binary_search(&party.rank).is_ok());
    let finished: Vec<u32> = words::pick(&parties, |party| case.progress(party) == Some(Progress::Completed));
    let at = words::places(case, places);
    let headline = format!(
        "{} issued {} in {at}{}, but {} not finished it: {} peers are further on",
        words::ranks_capital(&suspects),
        words::call(case, rank, entry),
        words::at_site(case, rank, entry),
        words::form(&suspects, "its device has", "their devices have"),
        words::form(&suspects, "its", "their"),
    );
    let mut evidence = alloc::vec![format!(
        "{}: {} finished it, {} did not; operation, sizes and dtypes agree",
        words::place(case, place),
        words::ranks(&finished),
        words::ranks(&first),
    )];
    let mut sure = true;
    for &suspect in suspects.iter().take(8) {
        let Some(dump) = case.job.rank_idx(suspect) else { continue };
        let (behind, asked) = vote(case, dump);
        sure &= behind * 2 > asked && behind > 1;
        evidence.push(format!("rank {suspect} is behind its peers in {behind} of {asked} groups with unfinished rows"));
    }
    Some(Draft {
        kind: Kind::RankBehind,
        cause: Cause::GpuStuck,
        confidence: if sure { Confidence::Medium } else { Confidence::Low },
        place,
        more: places.get(1..).unwrap_or(&[]).to_vec(),
        cycle: Vec::new(),
        suspects: suspects.clone(),
        tie: false,
        sides: words::sides_by_progress(case, place),
        headline,
        evidence,
        alternatives: alloc::vec![
            Alternative {
                cause: Cause::NetworkOrHardware,
                why: "a link or a device failed while the op ran: XID messages and link counters of these hosts would show it".into(),
            },
            Alternative {
                cause: Cause::LaunchOrder,
                why: "its device ran operations of two groups in another order than its peers: NCCL_LAUNCH_ORDER_IMPLICIT=1 (NCCL 2.26 and newer) rules it out".into(),
            },
        ],
        next_steps: alloc::vec![
            format!("look for XID messages, ECC errors and a device that fell off on the {} of {}", words::form(&suspects, "host", "hosts"), words::ranks(&suspects)),
            format!("look at what {} before this op: the kernels of the program are not recorded", words::form(&suspects, "its device ran", "their devices ran")),
            words::main_thread_stack(&suspects),
        ],
        hangs: true,
    })
}

/// Members of a row that are behind; empty where most of them would be.
fn behind_at(case: &Case<'_>, place: Place) -> Vec<u32> {
    let Place::Row(group, row) = place else { return Vec::new() };
    let parties = case.parties(place);
    let band = case.table.band(group);
    let rows: Vec<RowIdx> = band.rows().skip(row.0 as usize).take(ROWS).collect();
    if rows.len() < ROWS || !rows.iter().all(|&row| is_left_by_some(case, group, row)) {
        return Vec::new();
    }
    let is_pending = |row: RowIdx, rank: RankIdx| {
        band.entry_of(row, rank).is_some_and(|entry| case.table.progress(rank, entry).is_pending())
    };
    let behind = words::pick(&parties, |party| {
        case.waits(party) && party.dump.is_some_and(|rank| rows.iter().all(|&row| is_pending(row, rank)))
    });
    if behind.len() * 2 > parties.len() { Vec::new() } else { behind }
}

/// Whether somebody finished a row that nobody can finish alone.
fn is_left_by_some(case: &Case<'_>, group: GroupIdx, row: RowIdx) -> bool {
    let band = case.table.band(group);
    let finished = band
        .dumped_cells_of(row)
        .any(|(_, rank, cell)| case.table.cell_progress(Some(rank), cell) == Some(Progress::Completed));
    finished && band.issued(row).all(|(_, rank, entry)| case.job.waits_for_all(&case.job.entry(rank, entry)))
}

/// In how many groups a rank is behind its peers, and in how many groups it or its peers have unfinished rows.
fn vote(case: &Case<'_>, rank: RankIdx) -> (usize, usize) {
    let own = TreeSet::from_iter(case.job.rank(rank).groups.iter().copied());
    let (mut behind, mut asked) = (0, 0);
    for &group in own.iter() {
        let band = case.table.band(group);
        let pending = |row: RowIdx, of: &dyn Fn(RankIdx) -> bool| {
            band.issued(row).any(|(_, other, entry)| of(other) && case.table.progress(other, entry).is_pending())
        };
        let mine = band.rows().find(|&row| pending(row, &|other| other == rank));
        let somebody = mine.or_else(|| band.rows().find(|&row| pending(row, &|_| true)));
        asked += usize::from(somebody.is_some());
        behind += usize::from(mine.is_some_and(|row| {
            band.dumped_cells_of(row).any(|(_, other, cell)| {
                other != rank && case.table.cell_progress(Some(other), cell) == Some(Progress::Completed)
            })
        }));
    }
    (behind, asked)
}
