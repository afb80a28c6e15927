//! Of several dumps of a rank the one that counts.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::runs::Dated;
use crate::dump::EntryIdx;
use crate::report::{Quality, QualityKind, rank_words};
use crate::small_sort::{SmallSort as _, sorted_places};
use crate::symbols::StackId;

/// A rank with two dumps: their folders, the rank, the file that is left out, and the one in use.
type Double = (String, String, u32, String, String);

/// Leaves one dump for each rank, and answers whether dumps of another job or run were among the others. The dumps have ranks, come in
/// the order of these, and stay in it.
///
/// Of several dumps the one with the newest time in it counts. Where a folder has mostly ranks that another one has as well, it is a job or
/// a snapshot of its own: then the newest folder counts, so that jobs that ran at the same time are not mixed.
pub(super) fn one_per_rank(dumps: &mut Vec<Dated>, quality: &mut Vec<Quality>) -> bool {
    let ages = ages(dumps);
    let mut is_used: Vec<bool> = Vec::with_capacity(dumps.len());
    let mut is_mixed = false;
    let mut doubles: Vec<Double> = Vec::new();
    for same_rank in dumps.chunk_by(|a, b| a.dump.rank == b.dump.rank) {
        let own_ages = ages.get(is_used.len()..).unwrap_or(&[]);
        let Some((_, used)) = own_ages.iter().zip(same_rank).max_by(|a, b| by_age(*a, *b)) else { continue };
        for other in same_rank {
            is_used.push(core::ptr::eq(other, used));
            if let Some(rank) = other.dump.rank.filter(|_| !core::ptr::eq(other, used)) {
                is_mixed |= are_of_two_runs(other, used);
                let (file, used) = (&other.dump.file, &used.dump.file);
                doubles.push((folder_of(file).into(), folder_of(used).into(), rank, file.clone(), used.clone()));
            }
        }
    }
    let mut is_used = is_used.iter();
    dumps.retain(|_| is_used.next() != Some(&false));
    doubles.sort_small();
    for of_folders in doubles.chunk_by(|a, b| (&a.0, &a.1) == (&b.0, &b.1)) {
        describe(of_folders, quality);
    }
    is_mixed
}

/// Equal times are told apart by what does not depend on the order of the files; of a pickle and its JSON the pickle has stacks.
fn by_age((age, one): (&i64, &Dated), (other_age, other): (&i64, &Dated)) -> Ordering {
    let key = |age: i64, dated: &Dated| {
        let has_frames = dated.dump.entries.heads().iter().any(|head| is_recorded(head.stack));
        [age, dated.newest_ns, i64::from(has_frames), dated.dump.entries.len() as i64]
    };
    key(*age, one).cmp(&key(*other_age, other)).then_with(|| one.dump.file.cmp(&other.dump.file))
}

/// One note for two folders of many such ranks, else one for each dump.
fn describe(doubles: &[Double], quality: &mut Vec<Quality>) {
    let mut note = |rank, file: &String, detail| {
        quality.push(Quality { kind: QualityKind::DuplicateRank, rank, file: Some(file.clone()), detail });
    };
    match doubles {
        [(other, used, ..), _, ..] if other != used => {
            let ranks: Vec<u32> = doubles.iter().map(|double| double.2).collect();
            let used = if used.is_empty() { "beside that folder" } else { used };
            note(
                None,
                other,
                format!("second dumps of {}; those in {used} are newer and are used instead", rank_words(&ranks)),
            );
        }
        _ => {
            for (_, _, rank, file, used) in doubles {
                note(Some(*rank), file, format!("a second dump of rank {rank}; {used} is newer and is used instead"));
            }
        }
    }
}

/// The time by which each dump is newer or older than others of its rank: its newest, or that of its folder.
fn ages(dumps: &[Dated]) -> Vec<i64> {
    let folder = |at: usize| dumps.get(at).map_or("", |dated| folder_of(&dated.dump.file));
    let mut is_doubled: Vec<bool> = Vec::with_capacity(dumps.len());
    for same_rank in dumps.chunk_by(|a, b| a.dump.rank == b.dump.rank) {
        let first = is_doubled.len();
        let places = first..first + same_rank.len();
        is_doubled.extend(places.clone().map(|at| places.clone().any(|other| folder(other) != folder(at))));
    }
    let mut ages: Vec<i64> = dumps.iter().map(|dated| dated.newest_ns).collect();
    let order = sorted_places(dumps.len(), &|a, b| folder(a).cmp(folder(b)));
    for of_folder in order.chunk_by(|&a, &b| folder(a) == folder(b)) {
        let doubled = of_folder.iter().filter(|&&at| is_doubled.get(at) == Some(&true)).count();
        if doubled * 2 < of_folder.len() {
            continue;
        }
        let newest_ns = of_folder.iter().filter_map(|&at| dumps.get(at)).map(|dated| dated.newest_ns).max();
        for &at in of_folder {
            if let (Some(age), Some(newest_ns)) = (ages.get_mut(at), newest_ns) {
                *age = newest_ns;
            }
        }
    }
    ages
}

/// The folder of a file; empty for one that lies in none.
fn folder_of(file: &str) -> &str {
    file.rfind('/').and_then(|at| file.get(..at)).unwrap_or_default()
}

fn is_recorded(stack: StackId) -> bool {
    stack != StackId::EMPTY && stack != StackId::NOT_RECORDED
}

/// Whether two dumps of a rank are of different runs: an operation of the same number was issued at another time. Dumps that have no number
/// in common may be of one run.
fn are_of_two_runs(one: &Dated, other: &Dated) -> bool {
    let (one, other) = (&one.dump.entries, &other.dump.entries);
    let Some(last) = (one.len() as u32).checked_sub(1).map(|at| one.get(EntryIdx(at))) else { return false };
    let (Some(id), true) = (last.record_id, last.created_ns > 0) else { return false };
    let first = other.get(EntryIdx(0)).record_id;
    // Numbers count up by one; where they do not, nothing is found.
    let Some(at) = first.and_then(|first| id.checked_sub(first)) else { return false };
    let same = other.get(EntryIdx(at));
    same.record_id == Some(id) && same.created_ns > 0 && same.created_ns != last.created_ns
}
