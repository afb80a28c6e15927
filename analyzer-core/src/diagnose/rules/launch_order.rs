//! Devices that run operations of two groups in different orders, although every rank issued them in one.

use alloc::format;
use alloc::vec::Vec;

use super::words;
use crate::align::{Cell, Progress};
use crate::diagnose::case::Party;
use crate::diagnose::{Case, Draft, Place};
use crate::job::RankIdx;
use crate::report::{Alternative, Cause, Confidence, Kind};

/// Looks for a second row in which those wait on the device who have not begun this one, while those who have begun this one have not
/// begun that one. Nobody is to blame: the order in which a device begins is not the program's.
pub(in crate::diagnose) fn find(case: &Case<'_>, place: Place) -> Option<Draft> {
    let parties = case.parties(place);
    if !matches!(place, Place::Row(..)) || parties.iter().any(|party| party.cell == Cell::MISSING) {
        return None;
    }
    let in_state = |parties: &[Party], wanted: Progress| -> Vec<u32> {
        words::pick(parties, |party| {
            case.progress(party) == Some(wanted)
                && party.dump.is_some_and(|rank| case.job.rank(rank).capabilities.start_events)
        })
    };
    let (begun, not_begun) = (in_state(&parties, Progress::Started), in_state(&parties, Progress::Scheduled));
    let first = case.job.rank_idx(*not_begun.first()?)?;
    let other = begun_elsewhere(case, first, place)?;
    let theirs = case.parties(other);
    let (begun_there, not_begun_there) = (in_state(&theirs, Progress::Started), in_state(&theirs, Progress::Scheduled));
    // Crossed: who has begun the one has not begun the other.
    let here: Vec<u32> = begun.iter().copied().filter(|rank| not_begun_there.binary_search(rank).is_ok()).collect();
    let there: Vec<u32> = not_begun.iter().copied().filter(|rank| begun_there.binary_search(rank).is_ok()).collect();
    let witness = parties.iter().find(|party| here.first() == Some(&party.rank))?;
    let crossing = theirs.iter().find(|party| there.first() == Some(&party.rank))?;
    let (rank, entry) = (witness.dump?, witness.cell.entry()?);
    let (other_rank, other_entry) = (crossing.dump?, crossing.cell.entry()?);
    let (site, other_site) = words::two_sites(case, (rank, entry), (other_rank, other_entry));
    let (at, other_at) = (words::place(case, place), words::place(case, other));
    let voters = |parties: &[Party], ranks: &[u32]| -> Vec<_> {
        parties
            .iter()
            .filter(|party| ranks.binary_search(&party.rank).is_ok())
            .filter_map(|party| Some((party.dump?, party.cell.entry()?)))
            .collect()
    };
    Some(Draft {
        kind: Kind::CrossGroupDeadlock,
        cause: Cause::LaunchOrder,
        confidence: Confidence::High,
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: Vec::new(),
        tie: false,
        sides: alloc::vec![
            words::issued_side(case, &voters(&parties, &here)),
            words::issued_side(case, &voters(&theirs, &there)),
        ],
        headline: format!(
            "The devices of {} run {site} ({at}) and those of {} run {other_site} ({other_at}) first, though all issued both: they wait for each other",
            words::ranks(&here),
            words::ranks(&there),
        ),
        evidence: alloc::vec![
            format!("{at}: {} started, {} scheduled", words::ranks(&here), words::ranks(&there)),
            format!("{other_at}: {} started, {} scheduled", words::ranks(&there), words::ranks(&here)),
            "operation, sizes and dtypes of both agree on all ranks".into(),
        ],
        alternatives: alloc::vec![Alternative {
            cause: Cause::CpuDivergence,
            why: "two threads of the program issue them, each on its own: then the order of issue differs from run to run".into(),
        }],
        next_steps: alloc::vec![
            "set NCCL_LAUNCH_ORDER_IMPLICIT=1 (NCCL 2.26 and newer), so that devices keep the order of issue".into(),
            "or synchronise between the two operations, or issue them on one stream".into(),
        ],
        hangs: true,
    })
}

/// Another row that the device of a rank has begun.
fn begun_elsewhere(case: &Case<'_>, rank: RankIdx, place: Place) -> Option<Place> {
    let own = case.pending.get(rank.0 as usize)?;
    own.iter()
        .filter(|(entry, _)| case.table.progress(rank, *entry) == Progress::Started)
        .map(|item| item.1)
        .find(|&other| other != place && matches!(other, Place::Row(..)))
}
