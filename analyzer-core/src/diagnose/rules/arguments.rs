//! The same call with arguments that do not fit together.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::words;
use crate::align::RowIdx;
use crate::diagnose::consistency;
use crate::diagnose::vote::{self, Division};
use crate::diagnose::{Case, Draft, DraftSide, Place};
use crate::job::{GroupIdx, RankIdx};
use crate::report::{Cause, Confidence, Kind};
use crate::small_sort::SmallSort as _;

/// Describes a row whose calls differ in sizes or dtypes alone.
pub(in crate::diagnose) fn describe(case: &Case<'_>, group: GroupIdx, row: RowIdx, division: &Division) -> Draft {
    let place = Place::Row(group, row);
    let at = words::place(case, place);
    let right = division.camps.get(division.right.unwrap_or(0));
    let odd = division.camps.iter().find(|camp| right.is_none_or(|right| !camp.call.fits(&right.call)));
    let sizes_differ = match (right, odd) {
        (Some(a), Some(b)) => a.call.sizes != b.call.sizes || a.call.inner != b.call.inner,
        _ => true,
    };
    let kind = if sizes_differ { Kind::SizeMismatch } else { Kind::DtypeMismatch };
    let what = |&(rank, entry): &(RankIdx, crate::dump::EntryIdx)| {
        if sizes_differ { words::call(case, rank, entry) } else { with_dtype(case, rank, entry) }
    };
    let texts: Vec<(Vec<u32>, String)> = division
        .camps
        .iter()
        .filter_map(|camp| {
            let ranks = camp.voters.iter().map(|&(rank, _)| case.job.rank(rank).rank).collect();
            Some((ranks, what(camp.voters.first()?)))
        })
        .collect();
    let evidence: Vec<String> =
        texts.iter().map(|(ranks, text)| format!("{at}: {} called {text}", words::ranks(ranks))).collect();
    let site = right.and_then(|camp| camp.voters.first()).map(|&(rank, entry)| words::at_site(case, rank, entry));
    let site = site.unwrap_or_default();
    let word = if sizes_differ { "sizes" } else { "dtypes" };
    let sides: Vec<DraftSide> = division.camps.iter().map(|camp| words::issued_side(case, &camp.voters)).collect();
    let mut draft = Draft {
        kind,
        cause: Cause::BadArguments,
        confidence: Confidence::High,
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: Vec::new(),
        tie: false,
        sides,
        headline: String::new(),
        evidence,
        alternatives: Vec::new(),
        next_steps: alloc::vec![
            format!("print shape and dtype before this call on the ranks that differ{}", site),
            "look for uneven batches, padding, a wrong split or a branch that changes the tensor on some ranks".into(),
        ],
        hangs: true,
    };
    // An even vote is decided where only one side's call fits its own group.
    let fitting = fitting_camp(case, group, division);
    match division.right.or(fitting) {
        Some(right) => {
            draft.suspects =
                texts.iter().enumerate().filter(|(at, _)| *at != right).flat_map(|(_, item)| item.0.clone()).collect();
            draft.suspects.sort_small();
            let theirs = texts
                .iter()
                .enumerate()
                .find(|(at, _)| *at != right)
                .map(|(_, item)| item.1.as_str())
                .unwrap_or_default();
            let others = texts.get(right).map(|item| (item.0.as_slice(), item.1.as_str())).unwrap_or_default();
            draft.headline = format!(
                "{} called {theirs} where {} called {} in {at}{site}",
                words::ranks_capital(&draft.suspects),
                if others.0.len() == 1 { words::ranks(others.0) } else { format!("the other {}", others.0.len()) },
                others.1,
            );
            if division.right.is_none() {
                draft.confidence = draft.confidence.lowered();
                draft.evidence.push(format!(
                    "the vote is even; what {} passed does not fit a group of {} ranks",
                    words::ranks(&draft.suspects),
                    case.job.group(group).members.len()
                ));
            }
            if division.by_siblings {
                draft.confidence = draft.confidence.lowered();
                draft.evidence.push("the vote is even; the other groups of the same kind decide".into());
            }
        }
        None => {
            draft.tie = texts.len() == 2;
            draft.confidence = Confidence::Medium;
            let sides: Vec<String> =
                texts.iter().map(|(ranks, text)| format!("{} {text}", words::ranks(ranks))).collect();
            draft.headline = format!(
                "The members of {at} pass different {word}: {}{site}; the dumps do not tell which is wrong",
                sides.join(", ")
            );
        }
    }
    draft
}

/// The only camp whose call fits its own group, where the others' do not.
fn fitting_camp(case: &Case<'_>, group: GroupIdx, division: &Division) -> Option<usize> {
    let size = case.job.group(group).members.len();
    let fits = |camp: &vote::Camp| {
        let &(rank, entry) = camp.voters.first()?;
        let (op, args, _) = case.table.signature(case.job, rank, entry);
        consistency::fits_group(case.job, op, args, size)
    };
    let fitting: Vec<bool> = division.camps.iter().map(fits).collect::<Option<Vec<bool>>>()?;
    let one = fitting.iter().position(|&fits| fits)?;
    (fitting.iter().filter(|&&fits| fits).count() == 1).then_some(one)
}

fn with_dtype(case: &Case<'_>, rank: RankIdx, entry: crate::dump::EntryIdx) -> String {
    let args = case.job.symbols.args.get(case.job.entry(rank, entry).args);
    let list = if args.input_dtypes == Default::default() { args.output_dtypes } else { args.input_dtypes };
    let dtypes: Vec<&str> =
        case.job.symbols.dtype_lists.get(list).iter().map(|&dtype| case.job.symbols.strings.get(dtype)).collect();
    format!("{} of {}", words::call(case, rank, entry), dtypes.join(", "))
}
