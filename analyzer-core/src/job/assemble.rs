//! Shards to a job.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::capabilities::Clues;
use super::resolve::{self, RankGroups};
use super::{Capabilities, Job, RankDump, clocks, doubles, is_library_file, label, notes, runs, status};
use crate::dump::{FaultKind, Reading};
use crate::report::{Quality, QualityKind};
use crate::shard::{FileNote, Shard, ShardDump};
use crate::small_sort::SmallSort as _;

impl Job {
    /// Puts readings together. Their order does not matter.
    pub fn assemble(readings: Vec<Reading>) -> Job {
        Job::of(readings.into_iter().collect())
    }

    /// Makes a job of all that is known. How the files came into the shard does not matter.
    pub fn of(shard: Shard) -> Job {
        let mut shard = shard.in_order();
        let mut quality = Vec::new();
        shard.notes.iter().for_each(|note| note_faults(note, &mut quality));
        let mut unreadable: Vec<u32> =
            shard.notes.iter().filter(|note| !note.has_dump).filter_map(|note| note.rank).collect();
        let mut dumps = with_ranks(core::mem::take(&mut shard.dumps), &mut quality);
        let other_jobs = runs::one_job(&mut dumps, &shard);
        let spans: Vec<runs::Span> = dumps.iter().filter_map(runs::Span::of).collect();
        let is_mixed = doubles::one_per_rank(&mut dumps, &mut quality);
        let left_over = runs::left_over(spans, &mut dumps);
        let other_runs_left_out = is_mixed || other_jobs.is_some() || left_over.is_some();
        let snapshot_ns = dumps.iter().map(|dated| dated.newest_ns).max().unwrap_or(0).max(0);
        let dumps: Vec<ShardDump> = dumps.into_iter().map(|dated| dated.dump).collect();

        // Where dumps of another job lay, some of this one may have been written over.
        let dumps_may_be_lost = other_jobs.is_some()
            || shard.notes.iter().any(|note| note.faults.iter().any(|fault| may_lose_dumps(note, fault.kind)));
        let mut job = Job { snapshot_ns, other_runs_left_out, dumps_may_be_lost, ..Job::default() };
        let ranks: Vec<u32> = dumps.iter().filter_map(|dump| dump.rank).collect();
        let mut resolved = resolve::groups(&dumps, &mut shard);
        job.groups = core::mem::take(&mut resolved.groups);
        quality.append(&mut resolved.quality);
        job.symbols = core::mem::take(&mut shard.symbols);

        for (dump, groups) in dumps.into_iter().zip(resolved.ranks) {
            let rank = job.absorb(dump, groups);
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
        job.library_files = job.symbols.strings.iter().map(is_library_file).collect();

        let mut missing: Vec<u32> = job.groups.iter().flat_map(|group| group.members.iter().copied()).collect();
        unreadable.retain(|rank| ranks.binary_search(rank).is_err());
        unreadable.sort_small();
        unreadable.dedup();
        missing.extend(&unreadable);
        missing.retain(|rank| ranks.binary_search(rank).is_err());
        missing.sort_small();
        missing.dedup();
        job.missing_ranks = missing;
        job.unreadable_ranks = unreadable;
        job.labels = label::labels(&job);
        notes::add(&job, &mut quality);
        quality.extend(other_jobs);
        quality.extend(left_over);
        if let Some((note, is_long)) = clocks::skew(&job) {
            quality.push(note);
            job.may_be_of_two_runs = is_long;
        }
        quality.sort_small_by(|a, b| (a.kind, a.rank, &a.file, &a.detail).cmp(&(b.kind, b.rank, &b.file, &b.detail)));
        quality.dedup();
        job.quality = quality;
        job
    }

    fn absorb(&mut self, dump: ShardDump, groups: RankGroups) -> RankDump {
        for head in dump.entries.heads() {
            self.ops.add(head.op, &mut self.symbols.strings);
        }
        let clues = Clues {
            symbols: &self.symbols,
            ops: &self.ops,
            statuses: &dump.statuses,
            truncated: dump.truncated,
            has_entries_key: dump.has_entries_key,
        };
        let capabilities = Capabilities::of(&dump.entries, &clues);
        let statuses = status::by_group(&dump, &groups);
        RankDump {
            rank: dump.rank.unwrap_or_default(),
            file: dump.file,
            version: version_text(self.symbols.strings.get(dump.version)),
            entries: dump.entries,
            groups: groups.of_ref,
            statuses,
            capabilities,
        }
    }
}

/// Whether a fault is one of a file that may have held dumps of any rank: an archive, a pack, a bundle.
fn may_lose_dumps(note: &FileNote, kind: FaultKind) -> bool {
    note.rank.is_none() && matches!(kind, FaultKind::Truncated | FaultKind::Malformed)
}

fn note_faults(note: &FileNote, quality: &mut Vec<Quality>) {
    for fault in &note.faults {
        let kind = match fault.kind {
            FaultKind::Truncated | FaultKind::Malformed if note.has_dump => QualityKind::Truncated,
            kind if may_lose_dumps(note, kind) => QualityKind::Truncated,
            _ => QualityKind::Unreadable,
        };
        let place = fault.offset.map(|offset| format!("byte {offset}: ")).unwrap_or_default();
        quality.push(Quality {
            kind,
            rank: note.rank,
            file: Some(note.file.clone()),
            detail: format!("{place}{}", fault.message),
        });
    }
}

/// Notes and leaves out dumps of unknown ranks, and finds the newest time in each of the others.
fn with_ranks(dumps: Vec<ShardDump>, quality: &mut Vec<Quality>) -> Vec<runs::Dated> {
    let mut dated = Vec::with_capacity(dumps.len());
    for dump in dumps {
        if dump.rank.is_some() {
            dated.push(runs::Dated { newest_ns: dump.entries.newest_ns(), dump });
            continue;
        }
        quality.push(Quality {
            kind: QualityKind::UnknownRank,
            rank: None,
            file: Some(dump.file),
            detail: "neither the dump nor its file name says which rank it is, so it is left out; \
                     rename it so that the name ends in the rank, such as rank_3"
                .to_string(),
        });
    }
    dated
}

fn version_text(version: &str) -> String {
    if version.is_empty() { "0".to_string() } else { version.to_string() }
}
