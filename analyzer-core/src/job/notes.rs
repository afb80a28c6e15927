//! What a person should know about the data before trusting a verdict.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Job, RankDump};
use crate::report::{Quality, QualityKind, rank_words};
use crate::tree_set::TreeSet;

/// More entries in one dump than any sensible ring buffer has.
const UNUSUAL_ENTRIES: usize = 100_000;

/// More ranks without a dump than this share one note.
const SINGLE_NOTES: usize = 16;

/// Adds what can be said once the job is put together.
pub(super) fn add(job: &Job, quality: &mut Vec<Quality>) {
    let mut note = |kind, rank, file: Option<&str>, detail: String| {
        quality.push(Quality { kind, rank, file: file.map(ToString::to_string), detail });
    };
    let silent = |rank: &&u32| job.unreadable_ranks.binary_search(rank).is_err();
    let without: Vec<u32> = job.missing_ranks.iter().filter(silent).copied().collect();
    if without.len() > SINGLE_NOTES {
        let detail = format!("{} belong to the job and left no dump: what they did is unknown", rank_words(&without));
        note(QualityKind::NoDump, None, None, detail);
    } else {
        for &rank in &without {
            let detail = format!("rank {rank} belongs to the job and left no dump: what it did is unknown");
            note(QualityKind::NoDump, Some(rank), None, detail);
        }
    }
    for dump in &job.ranks {
        let (rank, file) = (Some(dump.rank), Some(dump.file.as_str()));
        if dump.entries.is_empty() {
            note(QualityKind::Empty, rank, file, "the dump has no entries".to_string());
        }
        if dump.entries.len() > UNUSUAL_ENTRIES {
            let detail = format!(
                "the dump has {} entries; TORCH_FR_BUFFER_SIZE counts entries, not bytes, and 2000 to 20000 are usual",
                dump.entries.len()
            );
            note(QualityKind::UnusualSize, rank, file, detail);
        }
    }
    let mut concerning = |kind, what: fn(&RankDump) -> bool, detail: fn(&str) -> String| {
        let some: Vec<u32> = job.ranks.iter().filter(|dump| what(dump)).map(|dump| dump.rank).collect();
        if !some.is_empty() {
            let who = if some.len() == job.ranks.len() { "all ranks".to_string() } else { rank_words(&some) };
            note(kind, if some.len() == 1 { some.first().copied() } else { None }, None, detail(&who));
        }
    };
    concerning(
        QualityKind::Wrapped,
        |dump| dump.capabilities.wrapped,
        |who| {
            format!(
                "{who}: the ring buffer wrapped or was reset; rows before its oldest entry are unknown, not missing"
            )
        },
    );
    concerning(
        QualityKind::NoFrames,
        |dump| !dump.entries.is_empty() && !dump.capabilities.frames,
        if !job.is_of_mpi() {
            |who| {
                format!(
                    "{who}: no call stacks; the place in the code cannot be named (TORCH_INCLUDE_STACK_TRACE, and JSON dumps never have them)"
                )
            }
        } else {
            |who| {
                format!(
                    "{who}: no call stacks; the place in the code cannot be named (hangscope record --stacks native keeps them)"
                )
            }
        },
    );
    if job.uses_devices() {
        concerning(
            QualityKind::NoStartEvents,
            |dump| !dump.entries.is_empty() && !dump.capabilities.start_events,
            |who| {
                format!("{who}: no start events; scheduled may mean running (TORCH_NCCL_ENABLE_TIMING=1 records them)")
            },
        );
    }
    concerning(
        QualityKind::WeakStates,
        |dump| !dump.capabilities.weak_libraries.is_empty(),
        |who| format!("{who}: the recorder does not report completion; retired entries are taken for finished"),
    );
    concerning(
        QualityKind::OnlyActive,
        |dump| dump.capabilities.only_active,
        |who| format!("{who}: only unfinished entries were dumped; an absent row may be a finished one"),
    );
    // A file that breaks off may not have come to its version.
    let whole = job.ranks.iter().filter(|dump| !dump.capabilities.truncated);
    let versions = TreeSet::from_iter(whole.map(|dump| dump.version.as_str()));
    if versions.len() > 1 {
        let versions: Vec<&str> = versions.into_iter().collect();
        note(QualityKind::MixedVersions, None, None, format!("dumps of versions {}", versions.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::{Entry, EntryRows};
    use crate::job::Capabilities;

    #[test]
    fn a_buffer_size_in_bytes_is_noted() {
        let noted = |count: usize| {
            let mut entries = EntryRows::default();
            (0..count).for_each(|_| entries.push(&Entry::default()));
            let rank = RankDump {
                rank: 3,
                file: "rank_3".to_string(),
                version: "2.10".to_string(),
                entries: entries.pack(),
                groups: Vec::new(),
                statuses: Vec::new(),
                capabilities: Capabilities::default(),
            };
            let mut quality = Vec::new();
            add(&Job { ranks: alloc::vec![rank], ..Job::default() }, &mut quality);
            quality.into_iter().find(|note| note.kind == QualityKind::UnusualSize)
        };
        let note = noted(200_000).unwrap();
        assert_eq!((note.rank, note.file.as_deref()), (Some(3), Some("rank_3")));
        assert!(
            note.detail.contains("200000 entries; TORCH_FR_BUFFER_SIZE counts entries, not bytes"),
            "{}",
            note.detail
        );
        assert_eq!(noted(20_000), None);
    }
}
