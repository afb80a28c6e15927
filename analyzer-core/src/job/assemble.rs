//! Shards to a job.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::capabilities::Clues;
use super::resolve::{self, RankGroups};
use super::runs;
use super::{Capabilities, Job, RankDump, clocks, is_library_file, label, notes, status};
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
        let all = core::mem::take(&mut shard.dumps);
        let (mut spans, mut snapshot_ns) = (Vec::new(), 0);
        for dump in all.iter().filter(|dump| dump.rank.is_some()) {
            let newest_ns = dump.entries.newest_ns();
            spans.extend(runs::Span::of(dump, newest_ns));
            // Of several dumps of a rank the newest one counts, so that the newest of all is among those that do.
            snapshot_ns = newest_ns.max(snapshot_ns);
        }
        let dumps = one_dump_per_rank(all, &mut quality);
        let mixed = runs::mixed(spans, &dumps, &shard);

        let mut job = Job { snapshot_ns, ..Job::default() };
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
        // Rows of different runs say nothing about clocks.
        quality.extend(mixed.or_else(|| clocks::skew(&job)));
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

fn note_faults(note: &FileNote, quality: &mut Vec<Quality>) {
    for fault in &note.faults {
        let kind = match fault.kind {
            FaultKind::Truncated | FaultKind::Malformed if note.has_dump => QualityKind::Truncated,
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

/// Leaves one dump for each rank: of several, the one with the newest time in it. The dumps come in the order of ranks, and go so.
fn one_dump_per_rank(dumps: Vec<ShardDump>, quality: &mut Vec<Quality>) -> Vec<ShardDump> {
    let mut kept: Vec<ShardDump> = Vec::with_capacity(dumps.len());
    let mut doubles: Vec<ShardDump> = Vec::new();
    // Equal times are told apart by what does not depend on the order of the files.
    let age = |dump: &ShardDump| (dump.entries.newest_ns(), dump.entries.len(), dump.file.clone());
    for mut dump in dumps {
        if dump.rank.is_none() {
            quality.push(Quality {
                kind: QualityKind::UnknownRank,
                rank: None,
                file: Some(dump.file.clone()),
                detail: "neither the dump nor its file name says which rank it is, so it is left out; \
                         rename it so that the name ends in the rank, such as rank_3"
                    .to_string(),
            });
            continue;
        }
        match kept.last_mut().filter(|last| last.rank == dump.rank) {
            Some(last) => {
                if age(&dump) > age(last) {
                    core::mem::swap(last, &mut dump);
                }
                doubles.push(dump);
            }
            None => kept.push(dump),
        }
    }
    for other in doubles {
        let used = kept.binary_search_by_key(&other.rank, |dump| dump.rank).ok().and_then(|at| kept.get(at));
        let used = used.map_or("", |dump| dump.file.as_str());
        quality.push(Quality {
            kind: QualityKind::DuplicateRank,
            rank: other.rank,
            file: Some(other.file),
            detail: format!(
                "a second dump of rank {}; {used} is newer and is used instead",
                other.rank.unwrap_or_default()
            ),
        });
    }
    kept
}

fn version_text(version: &str) -> String {
    if version.is_empty() { "0".to_string() } else { version.to_string() }
}
