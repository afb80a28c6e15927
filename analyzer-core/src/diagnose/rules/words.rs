//! Phrases that the rules share.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::align::Cell;
use crate::diagnose::case::Party;
use crate::diagnose::{Absence, Case, DraftSide, Place};
use crate::dump::EntryIdx;
use crate::job::RankIdx;
pub(super) use crate::report::rank_words as ranks;
use crate::report::{Alternative, Cause, readable_ranges, sizes_text};

/// Next step that tells a stuck program from a skipped call.
pub(super) fn main_thread_stack(list: &[u32]) -> String {
    let of = if list.is_empty() { String::new() } else { format!(" of {}", ranks(list)) };
    format!(
        "take a main-thread stack{of} (py-spy dump --pid PID): it shows where the program is now, the dump only where it issued its last op"
    )
}

/// `Rank 5`, `Ranks 0-2,5`.
pub(super) fn ranks_capital(list: &[u32]) -> String {
    let word = if list.len() == 1 { "Rank" } else { "Ranks" };
    format!("{word} {}", readable_ranges(list))
}

/// Picks the verb or pronoun form for one rank or several.
pub(super) fn form<'a>(list: &[u32], one: &'a str, several: &'a str) -> &'a str {
    if list.len() == 1 { one } else { several }
}

/// `rank 3 waits`, `the other 7 wait`: those who are left when the suspects are named.
pub(super) fn others_wait(list: &[u32]) -> String {
    match list {
        [one] => format!("rank {one} waits"),
        _ => format!("the other {} wait", list.len()),
    }
}

/// ` at clip_grad_norm (train.py:92)`; nothing when the dump has no stack.
pub(super) fn at_site(case: &Case<'_>, rank: RankIdx, entry: EntryIdx) -> String {
    case.job
        .call_site(case.job.entry(rank, entry).stack)
        .map(|found| format!(" at {}", found.short()))
        .unwrap_or_default()
}

/// `clip_grad_norm (train.py:92)`, or the operation where the dump has no stack.
pub(super) fn site_or_op(case: &Case<'_>, rank: RankIdx, entry: EntryIdx) -> String {
    let stack = case.job.entry(rank, entry).stack;
    case.job.call_site(stack).map_or_else(|| call(case, rank, entry), |found| found.short())
}

/// Where two calls were made, as far as it tells them apart: their places in the code, or what they called where both are in one line.
pub(super) fn two_sites(case: &Case<'_>, one: (RankIdx, EntryIdx), other: (RankIdx, EntryIdx)) -> (String, String) {
    let (a, b) = (site_or_op(case, one.0, one.1), site_or_op(case, other.0, other.1));
    if a == b { (call(case, one.0, one.1), call(case, other.0, other.1)) } else { (a, b) }
}

/// Input and output sizes of a call.
pub(super) fn sizes(case: &Case<'_>, rank: RankIdx, entry: EntryIdx) -> String {
    sizes_text(&case.job.symbols, case.job.entry(rank, entry).args)
}

/// `all_reduce`.
pub(super) fn op(case: &Case<'_>, rank: RankIdx, entry: EntryIdx) -> String {
    case.job.op(case.job.entry(rank, entry).op).name.clone()
}

/// Whether an operation has a root, which dumps do not record.
pub(super) fn is_rooted(op: &str) -> bool {
    matches!(op, "broadcast" | "reduce" | "gather" | "scatter" | "_broadcast_oop" | "_reduce_oop")
}

/// That ranks disagree on the root of such an operation.
pub(super) fn other_roots(op: &str) -> Alternative {
    Alternative {
        cause: Cause::BadArguments,
        why: format!(
            "ranks passed different roots to {op}: dumps do not record the root, so compare src or dst in the code"
        ),
    }
}

/// `all_reduce [4096]`, `_all_gather_base [64] → [512]`.
pub(super) fn call(case: &Case<'_>, rank: RankIdx, entry: EntryIdx) -> String {
    let args = case.job.entry(rank, entry).args;
    let sizes = sizes_text(&case.job.symbols, args);
    let op = op(case, rank, entry);
    if sizes.is_empty() { op } else { format!("{op} {sizes}") }
}

/// `row 18 of tp[2,3]`, `message 3 from rank 0 to rank 1 in pp[0,1]`.
pub(super) fn place(case: &Case<'_>, place: Place) -> String {
    let label = case.job.label(place.group());
    match place {
        Place::Row(_, row) => format!("row {} of {label}", case.band(place).number(row)),
        Place::Message(..) => match case.message(place) {
            // A receive from any source, or a dump that leaves the other rank out.
            Some(message) if message.src == message.dst => {
                format!("message {} of rank {} in {label}, whose other rank is not recorded", message.nth, message.src)
            }
            Some(message) => {
                format!("message {} from rank {} to rank {} in {label}", message.nth, message.src, message.dst)
            }
            None => label,
        },
    }
}

/// Several places of one story: `row 18 of tp[2,3] and tp[6,7]`.
pub(super) fn places(case: &Case<'_>, places: &[Place]) -> String {
    let Some((&first, rest)) = places.split_first() else { return String::new() };
    let text = place(case, first);
    match rest {
        [] => text,
        [one] => format!("{text} and {}", case.job.label(one.group())),
        [one, more @ ..] => format!("{text}, {} and {} more groups like it", case.job.label(one.group()), more.len()),
    }
}

/// `, last seen in all_reduce [1] at f (a.py:3), row 17 of world`; nothing for a rank without entries.
pub(super) fn last_seen(case: &Case<'_>, rank: RankIdx) -> String {
    let Some(last) = case.last_entry(rank) else { return "no operation in its dump".into() };
    let entry = case.job.entry(rank, last);
    let label = case.job.group_of(rank, &entry).map(|group| case.job.label(group)).unwrap_or_default();
    let number = entry.collective_seq.filter(|_| case.job.op(entry.op).peer.is_none());
    let row = number.map(|seq| format!(", row {seq} of {label}")).unwrap_or_default();
    format!("last seen in {}{}{row}", call(case, rank, last), at_site(case, rank, last))
}

/// Global ranks of parties that a test picks, ascending.
pub(super) fn pick(parties: &[Party], test: impl Fn(&Party) -> bool) -> Vec<u32> {
    parties.iter().filter(|party| test(party)).map(|party| party.rank).collect()
}

/// The side of ranks that issued something: the lowest one's entry stands for them.
pub(super) fn issued_side(case: &Case<'_>, voters: &[(RankIdx, EntryIdx)]) -> DraftSide {
    DraftSide {
        ranks: voters.iter().map(|&(rank, _)| case.job.rank(rank).rank).collect(),
        entry: voters.first().copied(),
        last: None,
        absence: Absence::Missing,
    }
}

/// The side of ranks that issued nothing here.
pub(super) fn absent_side(case: &Case<'_>, ranks: &[u32], absence: Absence) -> DraftSide {
    let lowest = ranks.first().and_then(|&rank| case.job.rank_idx(rank));
    let last = lowest.filter(|_| absence != Absence::Finished).and_then(|rank| Some((rank, case.last_entry(rank)?)));
    DraftSide { ranks: ranks.to_vec(), entry: None, last, absence }
}

/// All sides of a place by what its parties did: one for each progress of those who issued it, those who did not, those of whom
/// nothing is known.
pub(super) fn sides_by_progress(case: &Case<'_>, at: Place) -> Vec<DraftSide> {
    use crate::align::Progress;
    let parties = case.parties(at);
    let mut sides = Vec::new();
    for progress in [Progress::Started, Progress::Scheduled, Progress::Completed, Progress::Late, Progress::Unknown] {
        let voters: Vec<(RankIdx, EntryIdx)> = parties
            .iter()
            .filter(|party| case.progress(party) == Some(progress))
            .filter_map(|party| Some((party.dump?, party.cell.entry()?)))
            .collect();
        if !voters.is_empty() {
            sides.push(issued_side(case, &voters));
        }
    }
    let missing = pick(&parties, |party| party.cell == Cell::MISSING);
    if !missing.is_empty() {
        sides.push(absent_side(case, &missing, Absence::Missing));
    }
    let finished = pick(&parties, |party| party.cell == Cell::FINISHED);
    if !finished.is_empty() {
        sides.push(absent_side(case, &finished, Absence::Finished));
    }
    let unknown = pick(&parties, |party| party.cell == Cell::UNKNOWN || party.cell == Cell::NO_DUMP);
    if !unknown.is_empty() {
        sides.push(absent_side(case, &unknown, Absence::Unknown));
    }
    sides
}

/// `one all_reduce`, `3 collectives`.
pub(super) fn how_many(count: usize, op: &str) -> String {
    if count == 1 { format!("one {op}") } else { format!("{count} collectives, first {op}") }
}

/// A step for the log of ranks.
pub(super) fn look_at_logs(list: &[u32]) -> String {
    format!("look at the log of {} for an exception or a signal", ranks(list)).to_string()
}
