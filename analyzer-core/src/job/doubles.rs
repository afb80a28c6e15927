//! Of several dumps of a rank the one that counts.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::runs::Dated;
use crate::dump::EntryIdx;
use crate::report::{Quality, QualityKind, rank_words};
use crate::symbols::StackId;
use crate::tree_map::TreeMap;

/// How many dumps a folder has, how many of them are of ranks that another folder has as well, and the newest time in any.
#[derive(Clone, Copy, Default)]
struct Folder {
    dumps: u32,
    doubled: u32,
    newest_ns: i64,
}

/// A rank with two dumps: the file that is left out, and the one in use.
type Double = (u32, String, String);

/// Leaves one dump for each rank, and answers whether dumps of another job or run were among the others. The dumps have ranks, come in
/// the order of these, and go so.
///
/// Of several dumps the one with the newest time in it counts. Where a folder has mostly ranks that another one has as well, it is a job or
/// a snapshot of its own: then the newest folder counts, so that jobs that ran at the same time are not mixed.
pub(super) fn one_per_rank(dumps: Vec<Dated>, quality: &mut Vec<Quality>) -> (Vec<Dated>, bool) {
    let folders = folders(&dumps);
    // Equal times are told apart by what does not depend on the order of the files; of a pickle and its JSON the pickle has stacks.
    let age = |dated: &Dated| {
        let folder = folders.get(folder_of(&dated.dump.file)).copied().unwrap_or_default();
        let of_folder = if folder.doubled * 2 >= folder.dumps { folder.newest_ns } else { dated.newest_ns };
        let has_frames = dated.dump.entries.heads().iter().any(|head| is_recorded(head.stack));
        (of_folder, dated.newest_ns, has_frames, dated.dump.entries.len(), dated.dump.file.clone())
    };
    let mut kept: Vec<Dated> = Vec::with_capacity(dumps.len());
    let mut doubles: Vec<Dated> = Vec::new();
    for mut dated in dumps {
        match kept.last_mut().filter(|last| last.dump.rank == dated.dump.rank) {
            Some(last) => {
                if age(&dated) > age(last) {
                    core::mem::swap(last, &mut dated);
                }
                doubles.push(dated);
            }
            None => kept.push(dated),
        }
    }
    let mut is_mixed = false;
    let mut notes: TreeMap<(String, String), Vec<Double>> = TreeMap::new();
    for other in doubles {
        let Some(rank) = other.dump.rank else { continue };
        let used = kept.binary_search_by_key(&Some(rank), |dated| dated.dump.rank).ok().and_then(|at| kept.get(at));
        let Some(used) = used else { continue };
        is_mixed |= are_of_two_runs(&other, used);
        let folders = (folder_of(&other.dump.file).into(), folder_of(&used.dump.file).into());
        notes.entry(folders).or_default().push((rank, other.dump.file, used.dump.file.clone()));
    }
    quality.extend(notes.into_iter().flat_map(|(folders, doubles)| describe(folders, doubles)));
    (kept, is_mixed)
}

/// One note for two folders of many such ranks, else one for each dump.
fn describe((other, used): (String, String), doubles: Vec<Double>) -> Vec<Quality> {
    if doubles.len() > 1 && other != used {
        let ranks: Vec<u32> = doubles.iter().map(|double| double.0).collect();
        let used = if used.is_empty() { "beside that folder" } else { &used };
        return alloc::vec![Quality {
            kind: QualityKind::DuplicateRank,
            rank: None,
            file: Some(other),
            detail: format!("second dumps of {}; those in {used} are newer and are used instead", rank_words(&ranks)),
        }];
    }
    let one = |(rank, file, used)| Quality {
        kind: QualityKind::DuplicateRank,
        rank: Some(rank),
        file: Some(file),
        detail: format!("a second dump of rank {rank}; {used} is newer and is used instead"),
    };
    doubles.into_iter().map(one).collect()
}

fn folders(dumps: &[Dated]) -> TreeMap<String, Folder> {
    let mut folders: TreeMap<String, Folder> = TreeMap::new();
    for same_rank in dumps.chunk_by(|a, b| a.dump.rank == b.dump.rank) {
        for dated in same_rank {
            let name = folder_of(&dated.dump.file);
            let folder = folders.entry(name.into()).or_default();
            folder.dumps += 1;
            folder.doubled += u32::from(same_rank.iter().any(|other| folder_of(&other.dump.file) != name));
            folder.newest_ns = folder.newest_ns.max(dated.newest_ns);
        }
    }
    folders
}

/// The folder of a file; empty for one that lies in none.
fn folder_of(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
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
