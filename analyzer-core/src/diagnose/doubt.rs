//! What makes a finding less sure than its rule says.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Case, Draft, Place};
use crate::align::{Cell, Progress};
use crate::report::{Kind, rank_words};

/// Seconds after the time limit beyond which a dump shows what the abort left, not what hung.
const LATE_SECONDS: i64 = 60;

/// Takes away from the confidence of a finding that blames somebody, one step in all however many reasons there are, and says why.
pub(super) fn weigh(case: &Case<'_>, draft: &mut Draft) {
    if draft.suspects.is_empty() {
        return;
    }
    let reasons = reasons(case, draft);
    if reasons.is_empty() {
        return;
    }
    draft.confidence = draft.confidence.lowered();
    draft.evidence.push(format!("less sure: {}", reasons.join("; ")));
}

fn reasons(case: &Case<'_>, draft: &Draft) -> Vec<String> {
    let mut reasons = Vec::new();
    let job = case.job;
    let parties = case.parties(draft.place);
    let told_by_frames = matches!(
        draft.kind,
        Kind::SkippedCollective
            | Kind::ExtraCollective
            | Kind::OrderMismatch
            | Kind::OpMismatch
            | Kind::CallSiteMismatch
    );
    let without_frames: Vec<u32> = draft
        .suspects
        .iter()
        .copied()
        .filter(|&rank| job.rank_idx(rank).is_some_and(|at| !job.rank(at).capabilities.frames))
        .collect();
    if told_by_frames && !without_frames.is_empty() {
        reasons.push(format!("no call stacks of {}", rank_words(&without_frames)));
    }
    let wrapped: Vec<u32> = parties
        .iter()
        .filter(|party| party.cell == Cell::UNKNOWN)
        .filter(|party| party.dump.is_some_and(|at| job.rank(at).capabilities.wrapped))
        .map(|party| party.rank)
        .collect();
    if !wrapped.is_empty() && matches!(draft.place, Place::Row(..)) {
        reasons.push(format!("the ring buffer of {} no longer holds this row", rank_words(&wrapped)));
    }
    let reports_nothing = |at| !job.rank(at).capabilities.weak_libraries.is_empty();
    if parties.iter().filter_map(|party| party.dump).any(reports_nothing) {
        reasons.push("the recorder does not report completion".into());
    }
    if job.group(draft.place.group()).assumed {
        reasons.push("the members of the group are assumed".into());
    }
    if job.may_be_of_two_runs {
        reasons.push("the dumps may be of different runs (see the notes)".into());
    }
    let late = parties.iter().any(|party| {
        case.progress(party) == Some(Progress::Late)
            && party.dump.zip(party.cell.entry()).is_some_and(|(rank, at)| {
                let entry = job.entry(rank, at);
                let limit = entry.created_ns.saturating_add(i64::from(entry.timeout_ms) * 1_000_000);
                job.snapshot_ns.saturating_sub(limit) / 1_000_000_000 > LATE_SECONDS
            })
    });
    if late {
        reasons.push(
            "the dump was taken more than a minute after the time limit, when the abort had released operations".into(),
        );
    }
    reasons
}
