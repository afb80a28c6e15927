//! A member that the others wait for left no readable dump.

use alloc::format;
use alloc::vec::Vec;

use super::words;
use crate::align::Cell;
use crate::diagnose::{Case, Draft, Place};
use crate::report::{Alternative, Cause, Confidence, Kind};

/// Names the members without a dump when nobody with a dump holds the place up.
pub(in crate::diagnose) fn find(case: &Case<'_>, place: Place) -> Option<Draft> {
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
    // Where half of the members or more left nothing, a lost file is no more than a lost file.
    let scant = absent.len() * 2 >= parties.len();
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
        evidence: alloc::vec![
            format!("every member with a dump issued {}; {} did not finish it", words::place(case, place), words::ranks(&waiting)),
            format!("{}: {what}; whether {} issued the op is not known", words::ranks(&absent), words::form(&absent, "it", "they")),
        ],
        alternatives: alloc::vec![
            Alternative {
                cause: Cause::CpuStuck,
                why: "the process lives and could not write its dump, or wrote it elsewhere: look for the file and the process".into(),
            },
            Alternative {
                cause: Cause::NetworkOrHardware,
                why: "the node was lost: its host's log and the scheduler show it".into(),
            },
        ],
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
