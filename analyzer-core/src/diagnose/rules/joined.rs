//! Every member issued the row with equal arguments, and it did not finish.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{host, latecomer, words};
use crate::align::{Cell, Progress};
use crate::diagnose::case::Party;
use crate::diagnose::{Case, Draft, Place};
use crate::report::{Alternative, Cause, Confidence, Kind};

/// Describes a place that all have joined.
pub(in crate::diagnose) fn find(case: &Case<'_>, place: Place) -> Option<Draft> {
    let parties = case.parties(place);
    let in_state = |wanted: Progress| words::pick(&parties, |party| case.progress(party) == Some(wanted));
    let (scheduled, started, completed) =
        (in_state(Progress::Scheduled), in_state(Progress::Started), in_state(Progress::Completed));
    let waiting = words::pick(&parties, |party| case.waits(party));
    let witness = parties.iter().find(|party| case.waits(party))?;
    let (rank, entry) = (witness.dump?, witness.cell.entry()?);
    let has_start_events = |party: &Party| party.dump.is_some_and(|rank| case.job.rank(rank).capabilities.start_events);
    let timing = parties.iter().filter(|party| party.cell.entry().is_some()).all(has_start_events);
    let absent = words::pick(&parties, |party| party.cell == Cell::MISSING);
    let unknown = words::pick(&parties, |party| party.cell.entry().is_none() && case.progress(party).is_none());
    let at = words::place(case, place);
    let call = words::call(case, rank, entry);
    let site = words::at_site(case, rank, entry);

    // Dumps do not record the root, and different ones hang just so.
    let rooted = words::is_rooted(&words::op(case, rank, entry));
    // Only who records start events has not begun what is merely scheduled, and only who waits in nothing older is late with it.
    let is_front = |party: &Party| party.dump.and_then(|rank| case.front(rank)).is_some_and(|front| front.1 == place);
    let not_begun = words::pick(&parties, |party| {
        has_start_events(party) && is_front(party) && case.progress(party) == Some(Progress::Scheduled)
    });
    let behind =
        !not_begun.is_empty() && !started.is_empty() && not_begun.len() * 2 < parties.len() && absent.is_empty();
    let (kind, cause, confidence, suspects, headline): (Kind, Cause, Confidence, Vec<u32>, String) = if behind {
        let headline = format!(
            "{} issued {call} in {at}{site}, but {} not reached it; {} in it",
            words::ranks_capital(&not_begun),
            words::form(&not_begun, "its device has", "their devices have"),
            words::others_wait(&started),
        );
        (Kind::RankBehind, Cause::GpuStuck, Confidence::Medium, not_begun.clone(), headline)
    } else if !completed.is_empty() {
        let headline = format!(
            "{} finished {call} in {at}{site}, {} did not: all issued it with equal arguments",
            words::ranks_capital(&completed),
            words::ranks(&waiting),
        );
        (Kind::RankBehind, Cause::NetworkOrHardware, Confidence::Medium, Vec::new(), headline)
    } else {
        let known = parties.iter().filter(|party| party.cell.entry().is_some()).count();
        let who = match (known, known == parties.len()) {
            (1, _) => words::ranks_capital(&waiting),
            (2, true) => "Both members".into(),
            (count, true) => format!("All {count} members"),
            (count, false) => format!("The {count} of {} members that are known to be there", parties.len()),
        };
        let fit = if known > 1 { " with equal arguments" } else { "" };
        let what = if known == parties.len() {
            "no rank stands out".into()
        } else {
            format!("what {} did is not recorded", words::ranks(&unknown))
        };
        let headline = format!("{who} issued {call} in {at}{site}{fit}, and it did not finish: {what}");
        let (cause, confidence) = match (timing && !rooted && unknown.is_empty(), started.len() == waiting.len()) {
            (true, true) => (Cause::NetworkOrHardware, Confidence::Medium),
            _ => (Cause::Undetermined, Confidence::Low),
        };
        (Kind::AllJoined, cause, confidence, Vec::new(), headline)
    };
    let late = in_state(Progress::Late);
    // Who came after the time limit had passed for the others explains the wait better than a device or a link.
    let latecomers = if suspects.is_empty() { latecomer::find(case, place) } else { None };
    let cause = if latecomers.is_some() { Cause::CpuStuck } else { cause };
    let headline = if late.is_empty() { headline } else { format!("{headline} in time; an abort released it") };
    let mut evidence = alloc::vec![format!("operation, sizes and dtypes agree on all members that issued {at}")];
    for (list, what) in [(&started, "started"), (&scheduled, "scheduled"), (&completed, "completed")] {
        if !list.is_empty() {
            evidence.push(format!("{}: {what}", words::ranks(list)));
        }
    }
    evidence.extend(release(case, &parties, &late));
    let headline = match &latecomers {
        Some((ranks, seconds)) => {
            let came = format!("{} issued it {seconds} s later than the others", words::ranks(ranks));
            evidence.push(format!("{came}, counted from the row before, which is over the time limit"));
            format!("{headline}; {came}")
        }
        None => headline,
    };
    for list in [&waiting, &scheduled, &started] {
        let lines = host::shared(case, list);
        evidence.extend(lines.filter(|line| !evidence.contains(line)));
    }
    let mut next_steps = Vec::new();
    if !unknown.is_empty() {
        next_steps.push(format!("get the whole dump of {}: what it did decides", words::ranks(&unknown)));
    }
    if rooted && suspects.is_empty() {
        next_steps.push(String::from(
            "compare the root (src or dst) that the ranks pass to this call: dumps do not record it",
        ));
    }
    let devices = case.job.uses_devices();
    if !timing && devices {
        next_steps.push(String::from(
            "set TORCH_NCCL_ENABLE_TIMING=1 and run again: start events tell a stuck device from a stuck network",
        ));
    }
    next_steps.push(words::main_thread_stack(&[]));
    let faults = if devices { "XID messages, link errors" } else { "link errors" };
    next_steps.push(format!("look for {faults} and port flaps on the hosts of these ranks"));
    Some(Draft {
        kind,
        cause,
        confidence,
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects,
        tie: false,
        sides: words::sides_by_progress(case, place),
        headline,
        evidence,
        alternatives: alternatives(case, rank, entry, cause, rooted),
        next_steps,
        hangs: true,
    })
}

/// How long after its issue, and over which limit, an operation completed that an abort released.
fn release(case: &Case<'_>, parties: &[Party], late: &[u32]) -> Option<String> {
    let first = parties.iter().find(|party| late.first() == Some(&party.rank))?;
    let entry = case.job.entry(first.dump?, first.cell.entry()?);
    Some(format!(
        "{}: completed {} s after the issue, with a limit of {} s: released by an abort, not done",
        words::ranks(late),
        entry.completed_ns.saturating_sub(entry.created_ns) / 1_000_000_000,
        entry.timeout_ms / 1000
    ))
}

fn alternatives(
    case: &Case<'_>,
    rank: crate::job::RankIdx,
    entry: crate::dump::EntryIdx,
    cause: Cause,
    rooted: bool,
) -> Vec<Alternative> {
    let mut all = alloc::vec![
        // The others are about devices.
        Alternative {
            cause: Cause::NetworkOrHardware,
            why: "a link or device failed while the op ran: repeated failures on the same hosts would confirm it".into(),
        },
        Alternative {
            cause: Cause::GpuStuck,
            why: "a kernel before it did not finish on some device: start events would show which".into(),
        },
        Alternative {
            cause: Cause::LaunchOrder,
            why: "devices ran operations of two groups in different orders: NCCL_LAUNCH_ORDER_IMPLICIT=1 (NCCL 2.26 and newer) rules it out"
                .into(),
        },
    ];
    if !case.job.uses_devices() {
        all.truncate(1);
    }
    let op = words::op(case, rank, entry);
    if rooted {
        all.insert(0, words::other_roots(&op));
    }
    // A device that has started the op on every rank is past the kernels before it.
    all.retain(|alternative| {
        alternative.cause != cause && !(cause == Cause::NetworkOrHardware && alternative.cause == Cause::GpuStuck)
    });
    all
}
