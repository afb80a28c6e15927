//! Waits that go round: ranks wait for each other in different places.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::words;
use crate::align::{Cell, RowIdx};
use crate::diagnose::precedent::{Departure, Precedents};
use crate::diagnose::{Absence, Case, Draft, DraftSide, Place};
use crate::dump::EntryIdx;
use crate::job::RankIdx;
use crate::report::{Cause, Confidence, Kind};
use crate::small_sort::SmallSort as _;
use crate::tree_map::TreeMap;

/// A rank that is absent from a row because it left the common program before it, and waits elsewhere in the cycle.
pub(in crate::diagnose) fn find_departed(case: &Case<'_>, places: &[Place]) -> Option<Draft> {
    let mut precedents = Precedents::default();
    let mut found: Vec<(Place, u32, RankIdx, Departure)> = Vec::new();
    for &place in places {
        let Place::Row(group, row) = place else { continue };
        for party in case.parties(place) {
            let (Cell::MISSING, Some(rank)) = (party.cell, party.dump) else { continue };
            let before = row.0.checked_sub(1).map(RowIdx);
            if let Some(departure) = precedents.departure(case, group, before, rank) {
                found.push((place, party.rank, rank, departure));
            }
        }
    }
    let &(place, _, rank, ref departure) = found.first()?;
    // Only a departure that is the same story for all of its row counts as one.
    let suspects: Vec<u32> = found.iter().filter(|item| item.0 == place).map(|item| item.1).collect();
    if found.iter().any(|item| item.0 != place && !suspects.contains(&item.1)) {
        return None;
    }
    let parties = case.parties(place);
    let waiting = words::pick(&parties, |party| case.waits(party));
    let witness = parties.iter().find(|party| case.waits(party))?;
    let (witness_rank, witness_entry) = (witness.dump?, witness.cell.entry()?);
    let (op, at) = (words::op(case, witness_rank, witness_entry), words::place(case, place));
    let did = words::site_or_op(case, rank, departure.did);
    let front = case.front(rank).map(|(entry, _)| words::site_or_op(case, rank, entry)).unwrap_or_default();
    let wait = words::others_wait(&waiting);
    let site = words::site_or_op(case, witness_rank, witness_entry);
    let (kind, headline, confidence) = match departure.left_out {
        Some(count) => (
            Kind::SkippedCollective,
            format!(
                "{} skipped {} ({at}) and went on to {front}, where {} for the others: {wait} in {site}",
                words::ranks_capital(&suspects),
                words::how_many(count, &op),
                words::form(&suspects, "it waits", "they wait"),
            ),
            Confidence::High,
        ),
        None => (
            Kind::CrossGroupDeadlock,
            format!(
                "{} went to {did} where {wait} in {site} ({at}): they wait for each other",
                words::ranks_capital(&suspects)
            ),
            Confidence::Medium,
        ),
    };
    let mut sides = words::sides_by_progress(case, place);
    for side in sides.iter_mut().filter(|side| side.entry.is_none() && side.absence == Absence::Missing) {
        side.last = Some((rank, departure.did));
    }
    Some(Draft {
        kind,
        cause: Cause::CpuDivergence,
        confidence,
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: suspects.clone(),
        tie: false,
        sides,
        headline,
        evidence: alloc::vec![
            format!(
                "{at}: {} issued it, {} did not and {} in {front}",
                words::ranks(&waiting),
                words::ranks(&suspects),
                words::form(&suspects, "waits", "wait")
            ),
            format!(
                "of {} ranks with the same program up to there, {} went on to {op} at {site}; {} went to {did}",
                departure.against.1,
                departure.against.0,
                words::ranks(&suspects)
            ),
        ],
        alternatives: Vec::new(),
        next_steps: alloc::vec![
            format!("look at the branch that leads {} past {site}", words::ranks(&suspects)),
            words::look_at_logs(&suspects),
        ],
        hangs: true,
    })
}

/// Two rows that every common member has issued, in different orders.
pub(in crate::diagnose) fn find_swapped(case: &Case<'_>, places: &[Place]) -> Option<Draft> {
    // What each rank issued of these places.
    let mut issued: TreeMap<RankIdx, Vec<(usize, EntryIdx)>> = TreeMap::new();
    let rows = || places.iter().copied().enumerate().filter(|(_, place)| matches!(place, Place::Row(..)));
    let parties =
        |place: Place| case.parties(place).into_iter().filter_map(|party| Some((party.dump?, party.cell.entry()?)));
    for (at, place) in rows() {
        for (rank, entry) in parties(place) {
            issued.entry(rank).or_default().push((at, entry));
        }
    }
    for (at, one) in rows() {
        // Of each later place, whether somebody issued this one before it, and whether somebody issued it before this one.
        let mut orders: TreeMap<usize, (bool, bool)> = TreeMap::new();
        for (rank, entry) in parties(one) {
            let own = issued.get(&rank).map_or(&[][..], Vec::as_slice);
            let later = own.get(own.partition_point(|item| item.0 <= at)..).unwrap_or(&[]);
            for &(other, theirs) in later {
                let order = orders.entry(other).or_default();
                order.0 |= entry < theirs;
                order.1 |= entry > theirs;
            }
        }
        let swapped = orders.into_iter().filter(|(_, order)| order.0 && order.1);
        let mut drafts = swapped.filter_map(|(other, _)| swapped_pair(case, one, *places.get(other)?));
        if let Some(draft) = drafts.next() {
            return Some(draft);
        }
    }
    None
}

fn swapped_pair(case: &Case<'_>, one: Place, other: Place) -> Option<Draft> {
    let theirs = case.parties(other);
    // (rank, dump, entry in `one`, entry in `other`) of those who issued both.
    let both: Vec<(u32, RankIdx, EntryIdx, EntryIdx)> = case
        .parties(one)
        .iter()
        .filter_map(|party| {
            let same =
                theirs.binary_search_by_key(&party.rank, |other| other.rank).ok().and_then(|at| theirs.get(at))?;
            Some((party.rank, party.dump?, party.cell.entry()?, same.cell.entry()?))
        })
        .collect();
    let (one_first, other_first): (Vec<_>, Vec<_>) = both.iter().partition(|item| item.2 < item.3);
    if one_first.is_empty() || other_first.is_empty() {
        return None;
    }
    let (usual, odd, place) = if one_first.len() >= other_first.len() {
        (one_first, other_first, one)
    } else {
        (other_first, one_first, other)
    };
    let tie = usual.len() == odd.len();
    let ranks = |list: &[&(u32, RankIdx, EntryIdx, EntryIdx)]| list.iter().map(|item| item.0).collect::<Vec<u32>>();
    let (usual_ranks, odd_ranks) = (ranks(&usual), ranks(&odd));
    let entry_here = |item: &(u32, RankIdx, EntryIdx, EntryIdx)| (item.1, if place == one { item.2 } else { item.3 });
    let entry_there = |item: &(u32, RankIdx, EntryIdx, EntryIdx)| (item.1, if place == one { item.3 } else { item.2 });
    let (first, second) = (usual.first()?, odd.first()?);
    let (here, there) = (entry_here(first), entry_there(second));
    let (label, other_label) =
        (case.job.label(place.group()), case.job.label(if place == one { other.group() } else { one.group() }));
    // Each side shows where it waits.
    let usual_side = words::issued_side(case, &usual.iter().map(|item| entry_here(item)).collect::<Vec<_>>());
    let odd_side = words::issued_side(case, &odd.iter().map(|item| entry_there(item)).collect::<Vec<_>>());
    let headline = if tie {
        format!(
            "{} issued {label} before {other_label}, {} the other way round: they wait for each other",
            words::ranks_capital(&usual_ranks),
            words::ranks(&odd_ranks)
        )
    } else {
        format!(
            "{} issued {other_label} before {label}, the other {} the other way round: it is at {}, they wait in {}",
            words::ranks_capital(&odd_ranks),
            usual_ranks.len(),
            words::site_or_op(case, there.0, there.1),
            words::site_or_op(case, here.0, here.1),
        )
    };
    Some(Draft {
        kind: Kind::OrderMismatch,
        cause: Cause::CpuDivergence,
        confidence: if tie { Confidence::Medium } else { Confidence::High },
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: if tie { Vec::new() } else { odd_ranks.clone() },
        tie,
        sides: alloc::vec![usual_side, odd_side],
        headline,
        evidence: alloc::vec![
            format!("{} and {}: every member issued both", words::place(case, one), words::place(case, other)),
            format!(
                "{} issued {label} first, {} issued {other_label} first",
                words::ranks(&usual_ranks),
                words::ranks(&odd_ranks)
            ),
        ],
        alternatives: Vec::new(),
        next_steps: alloc::vec!["issue the operations of both groups in one order on every rank".into()],
        hangs: true,
    })
}

/// A cycle in which nothing singles anybody out; `places` are its members, sorted.
pub(in crate::diagnose) fn find_deadlock(case: &Case<'_>, places: &[Place]) -> Option<Draft> {
    // Clocks are not asked: nothing depends on which place of a circle is called the first.
    let place = *places.iter().min_by_key(|&&place| case.order_without_clocks(place))?;
    let mut sides: Vec<DraftSide> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let mut sites: Vec<String> = Vec::new();
    for &at in places {
        let voters: Vec<(RankIdx, EntryIdx)> = case
            .parties(at)
            .iter()
            .filter_map(|party| Some((party.dump?, party.cell.entry()?)))
            .filter(|&(rank, _)| case.waits_at(rank, at))
            .collect();
        let Some(&(rank, entry)) = voters.first() else { continue };
        let side = words::issued_side(case, &voters);
        sites.push(words::site_or_op(case, rank, entry));
        lines.push(format!("{} in {}", words::ranks(&side.ranks), words::place(case, at)));
        sides.push(side);
    }
    // Where all wait at one place in the code, it is said once.
    let one_site = sites.first().filter(|first| sites.iter().all(|site| site == *first)).cloned();
    if one_site.is_none() {
        lines.iter_mut().zip(&sites).for_each(|(line, site)| *line = format!("{line} ({site})"));
    }
    let all_at = one_site.map(|site| format!(", all at {site}")).unwrap_or_default();
    let mut all: Vec<u32> = sides.iter().flat_map(|side| side.ranks.iter().copied()).collect();
    all.sort_small();
    all.dedup();
    const SHOWN: usize = 4;
    let mut shown: Vec<&str> = lines.iter().take(SHOWN).map(String::as_str).collect();
    let more = format!("and {} more", lines.len().saturating_sub(SHOWN));
    if lines.len() > SHOWN {
        shown.push(&more);
    }
    Some(Draft {
        kind: Kind::CrossGroupDeadlock,
        cause: if places.iter().all(|place| matches!(place, Place::Message(..))) {
            Cause::CpuDivergence
        } else {
            Cause::LaunchOrder
        },
        confidence: Confidence::Medium,
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: Vec::new(),
        tie: false,
        headline: format!(
            "{} {}: {}{all_at}",
            words::ranks_capital(&all),
            words::form(&all, "waits for what it has to do itself", "wait for each other in a circle"),
            shown.join("; ")
        ),
        evidence: lines.iter().take(32).cloned().collect(),
        sides,
        alternatives: Vec::new(),
        next_steps: alloc::vec![
            format!(
                "issue the operations of these groups in one order on every rank, or {}",
                if !case.job.is_of_mpi() {
                    "batch the messages (batch_isend_irecv)"
                } else {
                    "exchange messages by MPI_Sendrecv"
                }
            ),
            words::main_thread_stack(&[]),
        ],
        hangs: true,
    })
}
