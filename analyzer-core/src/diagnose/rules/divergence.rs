//! Some ranks took another way through the program.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{arguments, words};
use crate::align::{Cell, RowIdx};
use crate::diagnose::disagreement::{first_open_misfit, unusual_sites};
use crate::diagnose::drift::{self, Drift};
use crate::diagnose::vote::{self, Camp, Division};
use crate::diagnose::{Call, Case, Draft, Place};
use crate::job::{GroupIdx, RankIdx};
use crate::report::{Alternative, Cause, Confidence, Kind};
use crate::small_sort::SmallSort as _;

/// Looks for calls that do not fit, at this place or in an older row of its group.
pub(in crate::diagnose) fn find(case: &Case<'_>, place: Place) -> Option<Draft> {
    let Place::Row(group, row) = place else { return None };
    let misfit = first_open_misfit(case, case.table.band(group), row)?;
    Some(describe(case, group, misfit, false))
}

/// Looks for a row that everybody got past, although some were one call ahead of the others there or behind them, and were so ever
/// since: at the end of the program the others have no call left for a rank that waits.
pub(in crate::diagnose) fn find_shift(case: &Case<'_>, place: Place) -> Option<Draft> {
    let Place::Row(group, row) = place else { return None };
    if !case.parties(place).iter().any(|party| party.cell == Cell::MISSING) {
        return None;
    }
    let band = case.table.band(group);
    let misfits = case.misfits(band);
    let is_misfit = |at: RowIdx| misfits.binary_search_by_key(&at, |misfit| misfit.row).is_ok();
    let parted = |&at: &RowIdx| is_misfit(at) || unusual_sites(case, band, at);
    let shifted = |&at: &RowIdx| {
        let camps = vote::camps(case.job, case.table, band, at, true);
        let tails: Vec<Vec<Call>> = camps.iter().take(2).map(|camp| tail(case, group, at, camp)).collect();
        let [right, odd] = tails.as_slice() else { return false };
        matches!(drift::explain(right, odd), Drift::Skipped(_) | Drift::Extra(_))
    };
    let first = band.rows().take_while(|&at| at < row).filter(parted).find(shifted)?;
    let mut draft = describe(case, group, first, true);
    // Nobody waits where they parted, since everybody got past it; those who wait for it wait here.
    draft.more.push(place);
    Some(draft)
}

/// Looks for calls that fit and come from places in the code that never met before.
pub(in crate::diagnose) fn find_by_site(case: &Case<'_>, place: Place) -> Option<Draft> {
    let Place::Row(group, row) = place else { return None };
    unusual_sites(case, case.table.band(group), row).then(|| describe(case, group, row, true))
}

/// Describes a row whose calls do not fit, or come from unusual places (`by_site`).
pub(in crate::diagnose) fn describe(case: &Case<'_>, group: GroupIdx, row: RowIdx, by_site: bool) -> Draft {
    let division = vote::decide(case.job, case.table, group, row, by_site);
    let right = division.right.unwrap_or(0);
    let (Some(right_camp), Some(odd_camp)) = (
        division.camps.get(right),
        division.camps.iter().enumerate().find(|(at, _)| *at != right).map(|(_, camp)| camp),
    ) else {
        return tie(case, group, row, &division, Drift::Replaced);
    };
    let drift = drift::explain(&tail(case, group, row, right_camp), &tail(case, group, row, odd_camp));
    let same_call = right_camp.call.op == odd_camp.call.op && right_camp.call.same_site(&odd_camp.call);
    if drift == Drift::Replaced && same_call {
        return arguments::describe(case, group, row, &division);
    }
    if division.right.is_none() {
        return tie(case, group, row, &division, drift);
    }
    blame(case, group, row, &division, right_camp, odd_camp, drift)
}

/// Calls of a camp from a row on: those of its member that went furthest.
fn tail(case: &Case<'_>, group: GroupIdx, from: RowIdx, camp: &Camp) -> Vec<Call> {
    let band = case.table.band(group);
    let calls = |rank: RankIdx| -> Vec<Call> {
        band.rows()
            .skip(from.0 as usize)
            .map_while(|row| band.entry_of(row, rank))
            .take(512)
            .map(|entry| Call::of(case.job, case.table, rank, entry))
            .collect()
    };
    let mut best = Vec::new();
    // A few members are enough; a thousand of them say the same.
    for &(rank, _) in camp.voters.iter().take(16) {
        let own = calls(rank);
        if own.len() > best.len() {
            best = own;
        }
    }
    best
}

/// Whether the odd rank is further on in the same function than the others: their stacks part in one function, at a later line.
fn is_further_on(case: &Case<'_>, right: &Camp, odd: &Camp) -> Option<bool> {
    let frames = |camp: &Camp| {
        let mut frames: Vec<_> = case.job.symbols.stacks.frames(camp.call.stack).collect();
        frames.reverse();
        frames
    };
    let (right, odd) = (frames(right), frames(odd));
    let (a, b) = right.iter().zip(&odd).find(|(a, b)| a != b)?;
    let (a, b) = (case.job.symbols.frames.get(*a), case.job.symbols.frames.get(*b));
    (a.function == b.function && a.file == b.file && a.line != b.line).then_some(b.line > a.line)
}

fn blame(
    case: &Case<'_>,
    group: GroupIdx,
    row: RowIdx,
    division: &Division,
    right: &Camp,
    odd: &Camp,
    drift: Drift,
) -> Draft {
    let place = Place::Row(group, row);
    let (label, number) = (case.job.label(group), case.band(place).number(row));
    let rank_of = |&(rank, _): &(RankIdx, _)| case.job.rank(rank).rank;
    let mut suspects: Vec<u32> = division
        .camps
        .iter()
        .filter(|camp| !camp.call.equals(&right.call))
        .flat_map(|camp| camp.voters.iter().map(rank_of))
        .collect();
    suspects.sort_small();
    let others: Vec<u32> = right.voters.iter().map(rank_of).collect();
    let (right_rank, right_entry) = right.voters.first().copied().unwrap_or((RankIdx(0), crate::dump::EntryIdx(0)));
    let (odd_rank, odd_entry) = odd.voters.first().copied().unwrap_or((RankIdx(0), crate::dump::EntryIdx(0)));
    let (right_call, odd_call) = (words::call(case, right_rank, right_entry), words::call(case, odd_rank, odd_entry));
    let (right_site, odd_site) = words::two_sites(case, (right_rank, right_entry), (odd_rank, odd_entry));
    let who = words::ranks_capital(&suspects);
    let is_at = words::form(&suspects, "it is at", "they are at");
    let others_at = format!("{} in {right_site}", words::others_wait(&others));
    let right_op = words::op(case, right_rank, right_entry);

    let further_on = is_further_on(case, right, odd);
    let (kind, confirmed, headline) = match drift {
        Drift::Skipped(count) => (
            Kind::SkippedCollective,
            true,
            format!(
                "{who} skipped {} in {label} (row {number}): {is_at} {odd_site} where {others_at}",
                words::how_many(count, &right_op)
            ),
        ),
        Drift::Extra(count) => (
            Kind::ExtraCollective,
            true,
            format!(
                "{who} issued {} more than the others in {label} (row {number}): {is_at} {odd_site} where {others_at}",
                words::how_many(count, &words::op(case, odd_rank, odd_entry))
            ),
        ),
        Drift::Swapped => (
            Kind::OrderMismatch,
            true,
            format!("{who} swapped two collectives in {label} (row {number}): {is_at} {odd_site} where {others_at}"),
        ),
        Drift::Replaced if right.call.op == odd.call.op => (
            Kind::CallSiteMismatch,
            false,
            format!(
                "{who} issued {odd_call} in {label} (row {number}) from another place: {is_at} {odd_site} where {others_at}"
            ),
        ),
        Drift::Replaced if further_on == Some(true) => (
            Kind::SkippedCollective,
            false,
            format!(
                "{who} skipped {right_op} in {label} (row {number}) and went on: {is_at} {odd_site} where {others_at}"
            ),
        ),
        Drift::Replaced => (
            Kind::OpMismatch,
            false,
            format!(
                "{who} issued {odd_call} where the others issued {right_call} in {label} (row {number}): {is_at} {odd_site}, {others_at}"
            ),
        ),
    };
    let mut evidence = alloc::vec![format!(
        "row {number} of {label}: {} issued {odd_call}{}, {} issued {right_call}{}",
        words::ranks(&suspects),
        words::at_site(case, odd_rank, odd_entry),
        words::ranks(&others),
        words::at_site(case, right_rank, right_entry),
    )];
    match drift {
        Drift::Skipped(count) => evidence.push(format!(
            "from there on {} row {number} is the others' row {}",
            words::form(&suspects, "its", "their"),
            number.saturating_add(count as u32)
        )),
        Drift::Extra(count) => evidence.push(format!(
            "from there on {} row {} is the others' row {number}",
            words::form(&suspects, "its", "their"),
            number.saturating_add(count as u32)
        )),
        Drift::Swapped => evidence
            .push(format!("rows {number} and {} are the same two calls in the other order", number.saturating_add(1))),
        Drift::Replaced => {}
    }
    if division.by_siblings {
        evidence.push(format!(
            "the vote in {label} is even; the other groups of the same kind made the call of {}",
            words::ranks(&others)
        ));
    }
    let sure = confirmed || odd.call.site.is_some();
    let mut confidence = if sure { Confidence::High } else { Confidence::Medium };
    if !confirmed && drift == Drift::Replaced && kind != Kind::OpMismatch {
        confidence = confidence.lowered();
    }
    if division.by_siblings {
        confidence = confidence.lowered();
    }
    Draft {
        kind,
        cause: Cause::CpuDivergence,
        confidence,
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: suspects.clone(),
        tie: false,
        sides: division.camps.iter().map(|camp| words::issued_side(case, &camp.voters)).collect(),
        headline,
        evidence,
        alternatives: alternatives(kind),
        next_steps: next_steps(&suspects, &odd_site, &right_site),
        hangs: true,
    }
}

fn tie(case: &Case<'_>, group: GroupIdx, row: RowIdx, division: &Division, drift: Drift) -> Draft {
    let place = Place::Row(group, row);
    let at = words::place(case, place);
    let texts: Vec<String> = division
        .camps
        .iter()
        .filter_map(|camp| {
            let &(rank, entry) = camp.voters.first()?;
            let ranks: Vec<u32> = camp.voters.iter().map(|&(rank, _)| case.job.rank(rank).rank).collect();
            Some(format!(
                "{} {}{}",
                words::ranks(&ranks),
                words::call(case, rank, entry),
                words::at_site(case, rank, entry)
            ))
        })
        .collect();
    let first_two = || Some((division.camps.first()?, division.camps.get(1)?));
    let kind = match (drift, first_two()) {
        (Drift::Skipped(_), _) => Kind::SkippedCollective,
        (Drift::Extra(_), _) => Kind::ExtraCollective,
        (Drift::Swapped, _) => Kind::OrderMismatch,
        (Drift::Replaced, Some((a, b))) if a.call.op == b.call.op => Kind::CallSiteMismatch,
        (Drift::Replaced, _) => Kind::OpMismatch,
    };
    let mut evidence: Vec<String> = texts.iter().map(|text| format!("{at}: {text}")).collect();
    match drift {
        Drift::Skipped(count) | Drift::Extra(count) => evidence.push(format!(
            "the calls agree again when one side is shifted by {count}: either one side left {} out or the other put {} in",
            words::form(&[0][..count.min(1)], "it", "them"),
            words::form(&[0][..count.min(1)], "it", "them"),
        )),
        Drift::Swapped => evidence.push("the same two calls in two orders".into()),
        Drift::Replaced if kind == Kind::CallSiteMismatch => evidence.push(
            "the same operation from two places in the code: one side is one call ahead, or the other left a call out".into(),
        ),
        Drift::Replaced => {}
    }
    let tie = division.camps.len() == 2;
    Draft {
        kind,
        cause: Cause::CpuDivergence,
        confidence: if tie { Confidence::Medium } else { Confidence::Low },
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: Vec::new(),
        tie,
        sides: division.camps.iter().map(|camp| words::issued_side(case, &camp.voters)).collect(),
        headline: format!(
            "The members of {at} disagree: {}; the dumps do not tell which side is wrong",
            texts.join(", ")
        ),
        evidence,
        alternatives: alternatives(kind),
        next_steps: alloc::vec![
            "compare the two places in the code: which side should have been there?".into(),
            words::main_thread_stack(&[]),
        ],
        hangs: true,
    }
}

fn alternatives(kind: Kind) -> Vec<Alternative> {
    let why = match kind {
        Kind::SkippedCollective | Kind::ExtraCollective => return Vec::new(),
        Kind::CallSiteMismatch => {
            "both places may belong together (one line for the root, one for the rest): then look at the arguments"
        }
        _ => "the ranks run different programs by design and the group is wrong: compare how it was made",
    };
    alloc::vec![Alternative { cause: Cause::Undetermined, why: why.into() }]
}

fn next_steps(suspects: &[u32], odd_site: &str, right_site: &str) -> Vec<String> {
    alloc::vec![
        format!(
            "look at the branch that leads {} to {odd_site} without {right_site}: a condition on data, on the rank, on an exception, an uneven number of batches",
            words::ranks(suspects)
        ),
        words::look_at_logs(suspects),
        words::main_thread_stack(suspects),
    ]
}
