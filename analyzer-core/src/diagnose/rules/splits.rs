//! An all_to_all whose sizes cannot agree: what one rank sends is not what the other expects.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::words;
use crate::align::Progress;
use crate::diagnose::call::{numels, total};
use crate::diagnose::case::Party;
use crate::diagnose::{Case, Draft, DraftSide, Place};
use crate::dump::EntryIdx;
use crate::job::RankIdx;
use crate::report::{Alternative, Cause, Confidence, Kind};
use crate::small_sort::SmallSort as _;
use crate::symbols::{Args, ShapeId, ShapesId};
use crate::tree_map::TreeMap;

/// A pair of ranks that do not agree.
struct Clash {
    from: u32,
    to: u32,
    sent: i64,
    expected: i64,
}

/// Looks at an unfinished all_to_all that all have joined: first pair by pair, where the dumps say what goes to whom, else at the totals.
pub(in crate::diagnose) fn find(case: &Case<'_>, place: Place) -> Option<Draft> {
    let parties = case.parties(place);
    if !parties.iter().any(|party| case.waits(party)) {
        return None;
    }
    let calls: Vec<(u32, RankIdx, EntryIdx)> =
        parties.iter().map(|party| Some((party.rank, party.dump?, party.cell.entry()?))).collect::<Option<Vec<_>>>()?;
    if !calls.iter().all(|&(_, rank, entry)| is_all_to_all(case, rank, entry)) {
        return None;
    }
    match clashes(case, &calls) {
        Some(clashes) if clashes.is_empty() => None,
        Some(clashes) => Some(describe_pairs(case, place, &calls, &clashes)),
        None => totals(case, place, &calls),
    }
}

/// Looks for ranks that finished an all_to_all and wait in the next one while others are still in the first: after a wrong split that looks
/// like two variants of one operation at a time. The earlier one is where the sizes went wrong, even where their totals agree.
pub(in crate::diagnose) fn find_overtaken(case: &Case<'_>, place: Place) -> Option<Draft> {
    let Place::Row(group, row) = place else { return None };
    let parties = case.parties(place);
    let is_here = |party: &Party| matches!((party.dump, party.cell.entry()), (Some(rank), Some(entry)) if is_all_to_all(case, rank, entry));
    // Where the dumps hold the splits and these agree, the sizes are not to blame.
    let calls: Option<Vec<(u32, RankIdx, EntryIdx)>> =
        parties.iter().map(|party| Some((party.rank, party.dump?, party.cell.entry()?))).collect();
    if calls.is_some_and(|calls| clashes(case, &calls).is_some()) {
        return None;
    }
    let waiting: Vec<&Party> = parties.iter().filter(|party| case.waits(party) && is_here(party)).collect();
    let further: Vec<&Party> = parties
        .iter()
        .filter(|party| case.progress(party) == Some(Progress::Completed) && is_here(party))
        .filter(|party| {
            let Some((rank, (entry, Place::Row(of, next)))) =
                party.dump.and_then(|rank| Some((rank, case.front(rank)?)))
            else {
                return false;
            };
            of == group && next.0 == row.0 + 1 && is_all_to_all(case, rank, entry)
        })
        .collect();
    let (here, there) = (waiting.first()?, further.first()?);
    let (rank, entry) = (here.dump?, here.cell.entry()?);
    let (next_rank, (next_entry, next)) = (there.dump?, case.front(there.dump?)?);
    let ranks = |list: &[&Party]| list.iter().map(|party| party.rank).collect::<Vec<u32>>();
    let (waiting, further) = (ranks(&waiting), ranks(&further));
    let (site, next_site) = words::two_sites(case, (rank, entry), (next_rank, next_entry));
    let at = words::place(case, place);
    let distinct = case.job.user_frame(case.job.entry(rank, entry).stack)
        != case.job.user_frame(case.job.entry(next_rank, next_entry).stack);
    Some(Draft {
        kind: Kind::SplitMismatch,
        cause: Cause::BadArguments,
        confidence: if distinct { Confidence::Medium } else { Confidence::Low },
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: Vec::new(),
        tie: false,
        sides: words::sides_by_progress(case, place),
        headline: format!(
            "{} still {} in {site} ({at}) while {} finished it and {} in the next all_to_all, {next_site}: check the split sizes of the first one",
            words::ranks_capital(&waiting),
            words::form(&waiting, "waits", "wait"),
            words::ranks(&further),
            words::form(&further, "waits", "wait"),
        ),
        evidence: alloc::vec![
            format!("{at}: {} unfinished, {} finished", words::ranks(&waiting), words::ranks(&further)),
            format!(
                "{}: {} issued it and {} for the rest",
                words::place(case, next),
                words::ranks(&further),
                words::form(&further, "waits", "wait")
            ),
            "the dumps do not hold the split sizes, so that only the totals could be compared".into(),
        ],
        alternatives: alloc::vec![Alternative {
            cause: Cause::NetworkOrHardware,
            why: "a link or a device failed while the op ran: then the splits agree, and the same hosts fail again"
                .into(),
        }],
        next_steps: alloc::vec![advice()],
        hangs: true,
    })
}

fn advice() -> String {
    "print the split sizes before this call on every rank: what rank a sends to rank b must be what b expects from a"
        .into()
}

fn is_all_to_all(case: &Case<'_>, rank: RankIdx, entry: EntryIdx) -> bool {
    words::op(case, rank, entry).starts_with("all_to_all")
}

fn args(case: &Case<'_>, rank: RankIdx, entry: EntryIdx) -> Args {
    case.job.symbols.args.get(case.job.entry(rank, entry).args)
}

/// What each rank sends to each and expects from each, in elements: its splits, or the sizes of its tensors where it passes one for
/// each rank. `None` where the dump does not say.
fn lists(case: &Case<'_>, rank: RankIdx, entry: EntryIdx, size: usize) -> Option<(Vec<i64>, Vec<i64>)> {
    let args = args(case, rank, entry);
    let symbols = &case.job.symbols;
    let side = |splits: Option<ShapeId>, sizes: ShapesId| -> Option<Vec<i64>> {
        let list = match splits {
            Some(splits) => symbols.shapes.get(splits).to_vec(),
            None => numels(case.job, sizes),
        };
        (list.len() == size).then_some(list)
    };
    let both = args.input_splits.is_some() && args.output_splits.is_some();
    let as_lists = symbols.shape_lists.get(args.input_sizes).len() == size && size > 1;
    if !both && !as_lists {
        return None;
    }
    Some((side(args.input_splits, args.input_sizes)?, side(args.output_splits, args.output_sizes)?))
}

/// Pairs that do not agree; `None` where not every rank says what goes to whom.
fn clashes(case: &Case<'_>, calls: &[(u32, RankIdx, EntryIdx)]) -> Option<Vec<Clash>> {
    let all: Vec<(Vec<i64>, Vec<i64>)> =
        calls.iter().map(|&(_, rank, entry)| lists(case, rank, entry, calls.len())).collect::<Option<Vec<_>>>()?;
    let mut clashes = Vec::new();
    for (a, (from, (sends, _))) in calls.iter().zip(&all).enumerate() {
        for ((to, (_, expects)), &sent) in calls.iter().zip(&all).zip(sends) {
            let expected = expects.get(a).copied().unwrap_or_default();
            if sent != expected {
                clashes.push(Clash { from: from.0, to: to.0, sent, expected });
            }
        }
    }
    Some(clashes)
}

fn describe_pairs(case: &Case<'_>, place: Place, calls: &[(u32, RankIdx, EntryIdx)], clashes: &[Clash]) -> Draft {
    const SHOWN: usize = 8;
    let lines: Vec<String> = clashes
        .iter()
        .take(SHOWN)
        .map(|clash| {
            format!("rank {} sends {} to rank {}, which expects {}", clash.from, clash.sent, clash.to, clash.expected)
        })
        .collect();
    // A rank is singled out where it has a part in every clash, with several others.
    let mut parts: TreeMap<u32, usize> = TreeMap::new();
    for clash in clashes {
        *parts.entry(clash.from).or_default() += 1;
        if clash.to != clash.from {
            *parts.entry(clash.to).or_default() += 1;
        }
    }
    let in_all: Vec<u32> = parts.iter().filter(|item| *item.1 == clashes.len()).map(|item| *item.0).collect();
    let suspects = match in_all.as_slice() {
        [one] if parts.len() > 2 => alloc::vec![*one],
        _ => Vec::new(),
    };
    let at = words::place(case, place);
    let first = calls.first();
    let site = first.map(|&(_, rank, entry)| words::at_site(case, rank, entry)).unwrap_or_default();
    let op = first.map(|&(_, rank, entry)| words::op(case, rank, entry)).unwrap_or_default();
    let shown = lines.iter().take(2).cloned().collect::<Vec<_>>().join("; ");
    let more = if clashes.len() > 2 { format!("; and {} more pairs", clashes.len() - 2) } else { String::new() };
    let headline = match suspects.as_slice() {
        [one] => format!("Rank {one} passed other split sizes to {op} in {at}{site} than its peers: {shown}{more}"),
        _ => format!("The split sizes of {op} in {at}{site} do not agree: {shown}{more}"),
    };
    let mut evidence: Vec<String> = lines.iter().map(|line| format!("{at}: {line}")).collect();
    if clashes.len() > SHOWN {
        evidence.push(format!("{} more pairs do not agree", clashes.len() - SHOWN));
    }
    if let [one] = suspects.as_slice() {
        evidence.push(format!("all {} pairs that do not agree include rank {one}", clashes.len()));
    }
    Draft {
        kind: Kind::SplitMismatch,
        cause: Cause::BadArguments,
        confidence: Confidence::High,
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        tie: suspects.is_empty() && parts.len() == 2,
        suspects,
        sides: sides_by_sizes(case, calls, |rank| parts.contains_key(&rank)),
        headline,
        evidence,
        alternatives: Vec::new(),
        next_steps: alloc::vec![advice()],
        hangs: true,
    }
}

/// A side for each of the different calls, those of ranks that `is_telling` picks first; what is over the number that a person looks at is in
/// the last one.
fn sides_by_sizes(
    case: &Case<'_>,
    calls: &[(u32, RankIdx, EntryIdx)],
    is_telling: impl Fn(u32) -> bool,
) -> Vec<DraftSide> {
    const SHOWN: usize = 32;
    // Equal calls after one another, and the ranks of each in order.
    let call = |&(rank, at, entry): &(u32, RankIdx, EntryIdx)| {
        (!is_telling(rank), case.job.entry(at, entry).args, case.table.progress(at, entry))
    };
    let mut sorted = calls.to_vec();
    sorted.sort_small_by_key(call);
    let mut sides: Vec<DraftSide> = Vec::new();
    for same in sorted.chunk_by(|a, b| call(a) == call(b)) {
        let voters: Vec<(RankIdx, EntryIdx)> = same.iter().map(|&(_, at, entry)| (at, entry)).collect();
        match sides.get_mut(SHOWN - 1) {
            Some(last) => last.ranks.extend(same.iter().map(|call| call.0)),
            None => sides.push(words::issued_side(case, &voters)),
        }
    }
    sides.iter_mut().for_each(|side| side.ranks.sort_small());
    sides
}

/// Without splits only the totals can be compared, and they blame nobody.
fn totals(case: &Case<'_>, place: Place, calls: &[(u32, RankIdx, EntryIdx)]) -> Option<Draft> {
    let &(_, rank, entry) = calls.first()?;
    let (mut sent, mut received) = (0i64, 0i64);
    for &(_, rank, entry) in calls {
        let args = args(case, rank, entry);
        sent = sent.saturating_add(total(case.job, args.input_sizes));
        received = received.saturating_add(total(case.job, args.output_sizes));
    }
    if sent == received || !records_shapes(case, rank) {
        return None;
    }
    let at = words::place(case, place);
    Some(Draft {
        kind: Kind::SplitMismatch,
        cause: Cause::BadArguments,
        confidence: Confidence::Medium,
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: Vec::new(),
        tie: false,
        sides: sides_by_sizes(case, calls, |_| true),
        headline: format!(
            "The sizes of {} in {at}{} cannot agree: all ranks together send {sent} elements and expect {received}; the dumps do not tell whose split is wrong",
            words::op(case, rank, entry),
            words::at_site(case, rank, entry),
        ),
        evidence: alloc::vec![format!("{at}: {sent} elements sent, {received} expected, over {} ranks", calls.len())],
        alternatives: Vec::new(),
        next_steps: alloc::vec![advice()],
        hangs: true,
    })
}

/// Dumps before version 2.4 hold made-up shapes for an all_to_all; a list of entries without a version is older still.
fn records_shapes(case: &Case<'_>, rank: RankIdx) -> bool {
    let mut parts = case.job.rank(rank).version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (2, 4)
}
