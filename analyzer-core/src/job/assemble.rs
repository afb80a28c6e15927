//! Readings to a job.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::capabilities::Clues;
use super::op_table::OpTable;
use super::resolve::{self, RankGroups};
use super::runs::{self, newest_ns};
use super::{Capabilities, Job, RankDump, clocks, is_library_file, label, notes, status};
use crate::dump::{Dump, Entries, FaultKind, Reading, rank_of_file_name};
use crate::report::{Quality, QualityKind};
use crate::symbols::{Remap, Symbols};

impl Job {
    /// Puts readings together. Their order does not matter.
    pub fn assemble(readings: Vec<Reading>) -> Job {
        let mut quality = Vec::new();
        let mut candidates: Vec<Dump> = Vec::new();
        let mut unreadable: Vec<u32> = Vec::new();
        for reading in readings {
            note_faults(&reading, &mut quality);
            if reading.dumps.is_empty()
                && let Some(rank) = rank_of_file_name(&reading.file)
            {
                unreadable.push(rank);
            }
            candidates.extend(reading.dumps);
        }
        let spans: Vec<runs::Span> = candidates.iter().filter_map(runs::Span::of).collect();
        let mut dumps = one_dump_per_rank(candidates, &mut quality);
        dumps.sort_by_key(|dump| dump.rank);
        let mixed = runs::mixed(spans, &dumps);

        let mut job = Job::default();
        let ranks: Vec<u32> = dumps.iter().filter_map(|dump| dump.rank).collect();
        let mut resolved = resolve::groups(&dumps);
        job.groups = core::mem::take(&mut resolved.groups);
        quality.append(&mut resolved.quality);

        for (dump, groups) in dumps.into_iter().zip(resolved.ranks) {
            let rank = absorb(dump, groups, &mut job.symbols, &mut job.ops);
            job.snapshot_ns = job.snapshot_ns.max(newest_ns(&rank.entries));
            job.ranks.push(rank);
        }
        // What is left out is a setting of the whole job: a ring that happens to hold nothing finished is none of it.
        if job.ranks.iter().any(|dump| dump.capabilities.finished_some) {
            job.ranks.iter_mut().for_each(|dump| dump.capabilities.only_active = false);
        }
        // A rank of a single group cannot tell how its recorder counts; the others can.
        if job.ranks.iter().any(|dump| dump.capabilities.single_counter) {
            for capabilities in job.ranks.iter_mut().map(|dump| &mut dump.capabilities) {
                capabilities.single_counter = capabilities.gapless;
            }
        }
        job.symbols.shrink_to_fit();
        job.library_files = job.symbols.strings.iter().map(is_library_file).collect();

        let mut missing: Vec<u32> = job.groups.iter().flat_map(|group| group.members.iter().copied()).collect();
        unreadable.retain(|rank| ranks.binary_search(rank).is_err());
        unreadable.sort_unstable();
        unreadable.dedup();
        missing.extend(&unreadable);
        missing.retain(|rank| ranks.binary_search(rank).is_err());
        missing.sort_unstable();
        missing.dedup();
        job.missing_ranks = missing;
        job.unreadable_ranks = unreadable;
        job.labels = label::labels(&job);
        notes::add(&job, &mut quality);
        // Rows of different runs say nothing about clocks.
        quality.extend(mixed.or_else(|| clocks::skew(&job)));
        quality.sort_by(|a, b| (a.kind, a.rank, &a.file, &a.detail).cmp(&(b.kind, b.rank, &b.file, &b.detail)));
        quality.dedup();
        job.quality = quality;
        job
    }
}

fn note_faults(reading: &Reading, quality: &mut Vec<Quality>) {
    let rank = match reading.dumps.as_slice() {
        [dump] => dump.rank,
        [] => rank_of_file_name(&reading.file),
        _ => None,
    };
    for fault in &reading.faults {
        let kind = match fault.kind {
            FaultKind::Truncated if !reading.dumps.is_empty() => QualityKind::Truncated,
            FaultKind::Malformed if !reading.dumps.is_empty() => QualityKind::Truncated,
            _ => QualityKind::Unreadable,
        };
        let place = fault.offset.map(|offset| format!("byte {offset}: ")).unwrap_or_default();
        quality.push(Quality {
            kind,
            rank,
            file: Some(reading.file.clone()),
            detail: format!("{place}{}", fault.message),
        });
    }
}

/// Leaves one dump for each rank: of several, the one with the newest time in it.
fn one_dump_per_rank(candidates: Vec<Dump>, quality: &mut Vec<Quality>) -> Vec<Dump> {
    let mut by_rank: BTreeMap<u32, Vec<Dump>> = BTreeMap::new();
    for dump in candidates {
        match dump.rank {
            Some(rank) => by_rank.entry(rank).or_default().push(dump),
            None => quality.push(Quality {
                kind: QualityKind::UnknownRank,
                rank: None,
                file: Some(dump.file.clone()),
                detail: "neither the dump nor its file name says which rank it is, so it is left out; \
                         rename it so that the name ends in the rank, such as rank_3"
                    .to_string(),
            }),
        }
    }
    let mut kept = Vec::new();
    for (rank, mut dumps) in by_rank {
        // Newest last; equal times are told apart by what does not depend on the order of the files.
        dumps.sort_by(|a, b| {
            (newest_ns(&a.entries), a.entries.len(), &a.file).cmp(&(newest_ns(&b.entries), b.entries.len(), &b.file))
        });
        let Some(used) = dumps.pop() else { continue };
        for other in dumps {
            quality.push(Quality {
                kind: QualityKind::DuplicateRank,
                rank: Some(rank),
                file: Some(other.file.clone()),
                detail: format!("a second dump of rank {rank}; {} is newer and is used instead", used.file),
            });
        }
        kept.push(used);
    }
    kept
}

fn absorb(dump: Dump, groups: RankGroups, symbols: &mut Symbols, ops: &mut OpTable) -> RankDump {
    let remap = symbols.absorb(&dump.symbols);
    let statuses = status::by_group(&dump, &groups);
    let mut entries = dump.entries;
    renumber(&mut entries, &remap);
    for &op in &entries.op {
        ops.add(op, &mut symbols.strings);
    }
    let clues = Clues {
        symbols,
        ops,
        statuses: &dump.group_statuses,
        truncated: dump.truncated,
        has_entries_key: dump.has_entries_key,
    };
    let capabilities = Capabilities::of(&entries, &clues);
    RankDump {
        rank: dump.rank.unwrap_or_default(),
        file: dump.file,
        version: version_text(&dump.version),
        entries,
        groups: groups.of_ref,
        statuses,
        capabilities,
    }
}

/// Puts the job's handles in place of the dump's.
fn renumber(entries: &mut Entries, remap: &Remap) {
    for op in &mut entries.op {
        *op = remap.string(*op);
    }
    for thread in &mut entries.thread {
        *thread = remap.string(*thread);
    }
    for args in &mut entries.args {
        *args = remap.args(*args);
    }
    for stack in &mut entries.stack {
        *stack = remap.stack(*stack);
    }
}

fn version_text(version: &str) -> String {
    if version.is_empty() { "0".to_string() } else { version.to_string() }
}
