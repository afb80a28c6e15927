//! Ranks that never issued what the others wait in, and nothing else either.

use alloc::format;
use alloc::vec::Vec;

use super::words;
use crate::align::{Cell, RowIdx};
use crate::diagnose::case::Party;
use crate::diagnose::{Case, Draft, Place};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, RankIdx};
use crate::report::{Alternative, Cause, Confidence, Kind};
use crate::small_sort::SmallSort as _;

/// Blames the members that have not issued a row and wait for nothing themselves.
pub(in crate::diagnose) fn find(case: &Case<'_>, place: Place) -> Option<Draft> {
    describe(case, &[place], false)
}

/// Blames members of whose rows nothing is known because only what is unfinished was dumped: they have nothing unfinished anywhere
/// while their peers wait in several of their groups. Whether they finished what the peers wait in or never issued it, their
/// program has stopped.
pub(in crate::diagnose) fn find_idle(case: &Case<'_>, place: Place) -> Option<Draft> {
    describe(case, &[place], true)
}

/// How many operations are searched for a repetition.
const HISTORY: usize = 256;
/// Groups in which the peers of a rank must wait before an absent row counts against it.
const VOTES: usize = 2;

/// Whether a rank has nothing unfinished while its peers wait in several of its groups, by a dump of what is unfinished.
fn is_idle_by_vote(case: &Case<'_>, rank: RankIdx) -> bool {
    let dump = case.job.rank(rank);
    dump.capabilities.only_active
        && case.is_idle(rank)
        && case.groups_of(rank).iter().filter(|&&group| case.somebody_waits_in(group)).take(VOTES).count() == VOTES
}

/// As [`find`], for one thing that happened in several sibling groups.
pub(in crate::diagnose) fn describe(case: &Case<'_>, places: &[Place], by_vote: bool) -> Option<Draft> {
    let somebody_waits = |place: &Place| case.parties(*place).iter().any(|party| case.waits(party));
    let places: Vec<Place> = places.iter().copied().filter(somebody_waits).collect();
    let &place = places.first()?;
    let Place::Row(group, row) = place else { return None };
    let parties = case.parties(place);
    let stopped = |party: &Party, place: Place| match (party.cell, party.dump) {
        (Cell::MISSING, Some(_)) => case.is_first_missed(party.rank, place),
        (Cell::UNKNOWN, Some(rank)) => by_vote && is_idle_by_vote(case, rank),
        _ => false,
    };
    let (mut suspects, mut waiting, mut voted) = (Vec::new(), Vec::new(), false);
    for &place in &places {
        let parties = case.parties(place);
        suspects.extend(words::pick(&parties, |party| stopped(party, place)));
        voted |= parties.iter().any(|party| party.cell == Cell::UNKNOWN && stopped(party, place));
        waiting.extend(words::pick(&parties, |party| case.waits(party)));
    }
    suspects.sort_small();
    waiting.sort_small();
    let (&first, witness) = (suspects.first()?, parties.iter().find(|party| case.waits(party))?);
    let (witness_rank, witness_entry) = (witness.dump?, witness.cell.entry()?);
    let suspect = case.job.rank_idx(first)?;

    // Others may have got past the first row that the suspects lack (the root of a broadcast) and wait in a later one.
    let origin = Place::Row(group, first_lacking(case, group, row, &suspects));
    let earlier = origin != place;
    let issuer = case.parties(origin).into_iter().find_map(|party| Some((party.dump?, party.cell.entry()?)));
    let (call_rank, call_entry) = issuer.unwrap_or((witness_rank, witness_entry));
    let call = words::call(case, call_rank, call_entry);
    let waits_at = words::places(case, &places);
    let at = if earlier { words::place(case, origin) } else { waits_at.clone() };
    // Who has gone past this row did not stop before it.
    let went_on = suspects
        .iter()
        .filter_map(|&rank| case.job.rank_idx(rank))
        .any(|rank| went_past(case, rank, (witness_rank, witness_entry)));
    // Without a stack there is only the operation, which is said already.
    let no_stack = case.job.call_site(case.job.entry(witness_rank, witness_entry).stack).is_none();
    let waits_in = match no_stack && !earlier {
        true => "it".into(),
        false => words::site_or_op(case, witness_rank, witness_entry),
    };
    let headline = format!(
        "{} {} {call} in {at}: {} in {}{}{}",
        words::ranks_capital(&suspects),
        if went_on { "skipped" } else { "never issued" },
        words::others_wait(&waiting),
        waits_in,
        if earlier { format!(" ({waits_at})") } else { alloc::string::String::new() },
        left_here(case, &suspects, suspect),
    );
    let mut evidence = alloc::vec![format!(
        "{} issued {waits_at} and {} not finished it; {} did not issue it and {} nothing unfinished",
        words::ranks(&waiting),
        words::form(&waiting, "has", "have"),
        words::ranks(&suspects),
        words::form(&suspects, "has", "have"),
    )];
    if earlier {
        evidence.push(format!(
            "{at} is the first that {} lack{}",
            words::ranks(&suspects),
            words::form(&suspects, "s", "")
        ));
    }
    for &rank in suspects.iter().take(4) {
        if let Some(at) = case.job.rank_idx(rank) {
            evidence.push(format!("rank {rank}: {}", words::last_seen(case, at)));
            evidence.extend(counted(case, group, at));
            evidence.extend(silence(case, at));
        }
    }
    let mut confidence = if voted { Confidence::Medium } else { Confidence::High };
    if case.job.rank(suspect).capabilities.only_active && !voted {
        confidence = confidence.lowered();
    }
    // Most have not come here and few have: they may just as well have come once too often. Where the absent ones went on
    // there are two ways through the program, and as many on the one as on the other are a tie.
    let twice = is_first_repetition(case, witness_rank, witness_entry);
    let tie = suspects.len() > waiting.len() || ((went_on || twice) && suspects.len() == waiting.len());
    let headline = if tie {
        confidence = confidence.lowered();
        format!("{headline}; whether that is one too few or one too many the dumps do not tell")
    } else {
        headline
    };
    let cause = if went_on { Cause::CpuDivergence } else { Cause::CpuStuck };
    Some(Draft {
        kind: if went_on { Kind::SkippedCollective } else { Kind::MissingRank },
        cause,
        confidence,
        place: origin,
        more: places.get(usize::from(!earlier)..).unwrap_or(&[]).to_vec(),
        cycle: Vec::new(),
        suspects: if tie { Vec::new() } else { suspects.clone() },
        tie,
        sides: words::sides_by_progress(case, origin),
        headline,
        evidence,
        alternatives: alternatives(case, suspect, cause),
        next_steps: alloc::vec![
            words::main_thread_stack(&suspects),
            "look between the two places: data loading, checkpointing, compilation, a lock, an exception handler that takes long"
                .into(),
            words::look_at_logs(&suspects),
        ],
        hangs: true,
    })
}

/// The first row of those up to `row` that these ranks lack without a gap.
fn first_lacking(case: &Case<'_>, group: GroupIdx, row: RowIdx, suspects: &[u32]) -> RowIdx {
    let lack = |row: &RowIdx| {
        let parties = case.parties(Place::Row(group, *row));
        let mut own = parties.iter().filter(|party| suspects.binary_search(&party.rank).is_ok());
        own.all(|party| party.cell == Cell::MISSING)
    };
    (0..row.0).rev().map(RowIdx).take_while(lack).last().unwrap_or(row)
}

/// Whether a rank waits in the very call that it made right before, and never made twice in a row before: then it may have come once
/// too often.
fn is_first_repetition(case: &Case<'_>, rank: RankIdx, waits_in: EntryIdx) -> bool {
    let call = |at: u32| {
        let entry = case.job.entry(rank, EntryIdx(at));
        (entry.group_ref, case.table.signature(case.job, rank, EntryIdx(at)), entry.stack)
    };
    let last = waits_in.0;
    let now = call(last);
    let mut before = (0..last).rev().take(HISTORY).map(call);
    before.next() == Some(now)
        && !(0..last).rev().take(HISTORY).skip(1).any(|at| call(at) == now && call(at + 1) == now)
}

/// Whether a rank has issued an operation that another one issued after the one in which it waits.
fn went_past(case: &Case<'_>, rank: RankIdx, (witness, waits_in): (RankIdx, EntryIdx)) -> bool {
    case.job.rank(rank).groups.iter().any(|&group| {
        let band = case.table.band(group);
        let newest = band.rows().rev().find(|&row| band.entry_of(row, rank).is_some());
        newest.and_then(|row| band.entry_of(row, witness)).is_some_and(|entry| entry > waits_in)
    })
}

fn left_here(case: &Case<'_>, suspects: &[u32], suspect: RankIdx) -> alloc::string::String {
    let Some(last) = case.last_entry(suspect) else {
        let only_active = case.job.rank(suspect).capabilities.only_active;
        let who = format!("{} {}", words::ranks(suspects), words::form(suspects, "has", "have"));
        return if only_active {
            format!(", {who} nothing unfinished")
        } else {
            format!(", {who} issued nothing at all")
        };
    };
    let who = if suspects.len() == 1 { "it".into() } else { format!("rank {}", case.job.rank(suspect).rank) };
    format!(", {who} was last seen in {}", words::site_or_op(case, suspect, last))
}

/// What the counters of a dump of unfinished operations say of a group.
fn counted(case: &Case<'_>, group: GroupIdx, rank: RankIdx) -> Option<alloc::string::String> {
    let dump = case.job.rank(rank);
    let status = dump.status(group)?;
    dump.capabilities.only_active.then(|| {
        format!(
            "rank {}: its counters in {} stand at {} issued and {} finished",
            dump.rank,
            case.job.label(group),
            status.last_enqueued,
            status.last_completed
        )
    })
}

/// How long a rank had been silent when the newest dump was written.
fn silence(case: &Case<'_>, rank: RankIdx) -> Option<alloc::string::String> {
    let last = case.job.entry(rank, case.last_entry(rank)?);
    let silent_ms = case.job.snapshot_ns.checked_sub(last.created_ns.max(last.completed_ns))? / 1_000_000;
    (last.created_ns > 0 && silent_ms >= 1000)
        .then(|| format!("rank {}: silent for the last {} s of the dumps", case.job.rank(rank).rank, silent_ms / 1000))
}

fn alternatives(case: &Case<'_>, suspect: RankIdx, cause: Cause) -> Vec<Alternative> {
    let mut alternatives = alloc::vec![Alternative {
        cause: Cause::CpuDivergence,
        why: "it left the loop or took a branch without this op and ended: then its main thread is not on the way to the missing op"
            .into(),
    }];
    let last = case.last_entry(suspect);
    let unfinished = last.is_some_and(|at| case.table.progress(suspect, at).is_pending());
    if last.is_some_and(|at| case.job.op(case.job.entry(suspect, at).op).library == "gloo") {
        alternatives.insert(
            0,
            Alternative {
                cause: Cause::CpuDivergence,
                why: "it waits in a send or recv for a rank that left out the other end: the recorder of gloo leaves messages out".into(),
            },
        );
    }
    if !unfinished && case.job.uses_devices() {
        alternatives.push(Alternative {
            cause: Cause::GpuStuck,
            why: "the program waits for its device (a synchronisation) before the missing op: the main-thread stack shows it".into(),
        });
    }
    alternatives.push(Alternative {
        cause: Cause::ProcessLost,
        why: "the process died after it wrote its dump: its log or exit status shows it".into(),
    });
    alternatives.retain(|other| other.cause != cause);
    alternatives
}
