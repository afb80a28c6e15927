//! Ranks that never issued what the others wait in, and nothing else either.

use alloc::format;
use alloc::vec::Vec;

use super::words;
use crate::align::{Cell, Table};
use crate::diagnose::{Case, Draft, Place};
use crate::job::RankIdx;
use crate::report::{Alternative, Cause, Confidence, Kind};

/// Blames the members that have not issued a row and wait for nothing themselves.
pub(in crate::diagnose) fn find(case: &Case<'_>, place: Place) -> Option<Draft> {
    let Place::Row(group, row) = place else { return None };
    let parties = case.parties(place);
    let idle = |rank: RankIdx| case.front(rank).is_none();
    let suspects = words::pick(&parties, |party| party.cell == Cell::MISSING && party.dump.is_some_and(idle));
    let waiting = words::pick(&parties, |party| case.waits(party));
    let (&first, witness) = (suspects.first()?, parties.iter().find(|party| case.waits(party))?);
    let (witness_rank, witness_entry) = (witness.dump?, witness.cell.entry()?);
    let suspect = case.job.rank_idx(first)?;

    let call = words::call(case, witness_rank, witness_entry);
    let label = case.job.label(group);
    let number = case.band(place).number(row);
    let headline = format!(
        "{} never issued {call} in {label} (row {number}): {} in {}{}",
        words::ranks_capital(&suspects),
        words::others_wait(&waiting),
        words::site_or_op(case, witness_rank, witness_entry),
        left_here(case, suspect),
    );
    let mut evidence = alloc::vec![format!(
        "{} issued row {number} of {label} and {} not finished it; {} did not issue it and {} nothing unfinished",
        words::ranks(&waiting),
        words::form(&waiting, "has", "have"),
        words::ranks(&suspects),
        words::form(&suspects, "has", "have"),
    )];
    for &rank in suspects.iter().take(4) {
        if let Some(at) = case.job.rank_idx(rank) {
            evidence.push(format!("rank {rank}: {}", words::last_seen(case, at)));
            evidence.extend(silence(case, at));
        }
    }
    let mut confidence = Confidence::High;
    if suspects.len() * 2 > parties.len() || case.job.group(group).assumed {
        confidence = confidence.lowered();
    }
    if !case.job.rank(suspect).capabilities.weak_libraries.is_empty() {
        confidence = confidence.lowered();
    }
    Some(Draft {
        kind: Kind::MissingRank,
        cause: Cause::CpuStuck,
        confidence,
        place,
        suspects: suspects.clone(),
        tie: false,
        sides: words::sides_by_progress(case, place),
        headline,
        evidence,
        alternatives: alternatives(case, suspect, case.table),
        next_steps: alloc::vec![
            words::main_thread_stack(&suspects),
            "look between the two places: data loading, checkpointing, compilation, a lock, an exception handler that takes long"
                .into(),
            words::look_at_logs(&suspects),
        ],
        hangs: true,
    })
}

fn left_here(case: &Case<'_>, suspect: RankIdx) -> alloc::string::String {
    let Some(last) = case.last_entry(suspect) else { return ", it issued nothing at all".into() };
    format!(", it was last seen in {}", words::site_or_op(case, suspect, last))
}

/// How long a rank had been silent when the newest dump was written.
fn silence(case: &Case<'_>, rank: RankIdx) -> Option<alloc::string::String> {
    let last = case.job.entry(rank, case.last_entry(rank)?);
    let silent_ms = case.job.snapshot_ns.checked_sub(last.created_ns.max(last.completed_ns))? / 1_000_000;
    (last.created_ns > 0 && silent_ms >= 1000)
        .then(|| format!("rank {}: silent for the last {} s of the dumps", case.job.rank(rank).rank, silent_ms / 1000))
}

fn alternatives(case: &Case<'_>, suspect: RankIdx, table: &Table) -> Vec<Alternative> {
    let mut alternatives = alloc::vec![Alternative {
        cause: Cause::CpuDivergence,
        why: "it left the loop or took a branch without this op and ended: then its main thread is not on the way to the missing op"
            .into(),
    }];
    let unfinished = case.last_entry(suspect).is_some_and(|at| table.progress(suspect, at).is_pending());
    if !unfinished {
        alternatives.push(Alternative {
            cause: Cause::GpuStuck,
            why: "the program waits for its device (a synchronisation) before the missing op: the main-thread stack shows it".into(),
        });
    }
    alternatives.push(Alternative {
        cause: Cause::ProcessLost,
        why: "the process died after it wrote its dump: its log or exit status shows it".into(),
    });
    alternatives
}
