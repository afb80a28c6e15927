//! A member that the others wait for left no readable dump.

use alloc::format;
use alloc::vec::Vec;

use super::{message, words};
use crate::align::Cell;
use crate::diagnose::{Case, Draft, Place};
use crate::report::{Alternative, Cause, Confidence, Kind};
use crate::small_sort::SmallSort as _;

/// Looks at the places of one end of the wait graph.
pub(in crate::diagnose) fn find_at(case: &Case<'_>, places: &[Place]) -> Option<Draft> {
    let draft = places.iter().find_map(|&place| find(case, place))?;
    let is_open = |&place: &Place| case.parties(place).iter().any(|party| party.cell == Cell::MISSING);
    Some(if places.iter().any(is_open) { in_circle(case, places, draft) } else { draft })
}

/// Names the members without a dump when nobody with a dump holds the place up.
fn find(case: &Case<'_>, place: Place) -> Option<Draft> {
    let parties = case.parties(place);
    let absent = words::pick(&parties, |party| party.cell == Cell::NO_DUMP);
    let waiting = words::pick(&parties, |party| case.waits(party));
    if absent.is_empty() || waiting.is_empty() || parties.iter().any(|party| party.cell == Cell::MISSING) {
        return None;
    }
    let witness = parties.iter().find(|party| case.waits(party))?;
    let (rank, entry) = (witness.dump?, witness.cell.entry()?);
    let unreadable: Vec<u32> =
        absent.iter().copied().filter(|rank| case.job.unreadable_ranks.binary_search(rank).is_ok()).collect();
    let what = if unreadable.len() == absent.len() { "left no readable dump" } else { "left no dump" };
    // Where half of the members or more left nothing, or files are damaged or written over, a lost file is no more than a lost file.
    let is_lost = case.job.dumps_may_be_lost && unreadable.len() < absent.len();
    let scant = absent.len() * 2 >= parties.len() || is_lost;
    let op = words::op(case, rank, entry);
    let mut evidence = alloc::vec![
        format!(
            "every member with a dump issued {}; {} did not finish it",
            words::place(case, place),
            words::ranks(&waiting)
        ),
        format!(
            "{}: {what}; whether {} issued the op is not known",
            words::ranks(&absent),
            words::form(&absent, "it", "they")
        ),
    ];
    if is_lost {
        evidence.push(
            "dumps of any rank may be lost in a damaged file, or written over by another job (see the notes): nobody is blamed for that".into(),
        );
    }
    let mut alternatives = alloc::vec![
        Alternative {
            cause: Cause::CpuStuck,
            why: "the process lives and could not write its dump, or wrote it elsewhere: look for the file and the process".into(),
        },
        Alternative {
            cause: Cause::NetworkOrHardware,
            why: "the node was lost: its host's log and the scheduler show it".into(),
        },
    ];
    // Calls that hang although everybody came, whose reason the dumps at hand do not show.
    if words::is_rooted(&op) {
        alternatives.push(words::other_roots(&op));
    } else if op.starts_with("all_to_all") {
        alternatives.push(Alternative {
            cause: Cause::BadArguments,
            why: format!("the splits of {op} do not fit together: it takes the dumps of all members to see that"),
        });
    }
    let confidence = if scant { Confidence::Low } else { Confidence::Medium };
    Some(Draft {
        kind: Kind::NoDump,
        cause: if scant { Cause::Undetermined } else { Cause::ProcessLost },
        confidence,
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: if scant { Vec::new() } else { absent.clone() },
        tie: false,
        sides: words::sides_by_progress(case, place),
        headline: format!(
            "{} {what}, and {} for {} in {} ({})",
            words::ranks_capital(&absent),
            words::others_wait(&waiting),
            words::form(&absent, "it", "them"),
            words::site_or_op(case, rank, entry),
            words::place(case, place),
        ),
        evidence,
        alternatives,
        next_steps: alloc::vec![
            format!(
                "look whether {} written to another folder or host, and add {}",
                words::form(&absent, "its dump was", "their dumps were"),
                words::form(&absent, "it", "them")
            ),
            words::look_at_logs(&absent),
            "check the host: out of memory, a device that fell off, a lost node".into(),
        ],
        hangs: true,
    })
}

/// The same where those who wait for the missing dump wait for each other as well, in a circle in which one of them did not do its part:
/// that may be what broke, whatever the ranks without a dump did. Nobody is blamed.
fn in_circle(case: &Case<'_>, places: &[Place], mut draft: Draft) -> Draft {
    let parties = places.iter().flat_map(|&place| case.parties(place));
    let mut waiting: Vec<u32> = parties.filter(|party| case.waits(party)).map(|party| party.rank).collect();
    waiting.sort_small();
    waiting.dedup();
    let absent = words::pick(&case.parties(draft.place), |party| party.cell == Cell::NO_DUMP);
    draft.headline = format!(
        "{} wait for each other, and for {}, which left no dump: what broke the job is not known without {}",
        words::ranks_capital(&waiting),
        words::ranks(&absent),
        words::form(&absent, "it", "them"),
    );
    draft.cause = Cause::Undetermined;
    draft.confidence = Confidence::Low;
    draft.suspects = Vec::new();
    for &place in places {
        let Some((known, end)) = message::half(case, place) else { continue };
        draft.evidence.push(known);
        draft.alternatives.push(Alternative {
            cause: Cause::CpuDivergence,
            why: format!("rank {end} left out its part of {}: look at its code there", words::place(case, place)),
        });
    }
    draft
}
