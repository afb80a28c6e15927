//! Dumps of more than one run among those of a job.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::report::{Quality, QualityKind, rank_words, readable_ranges};
use crate::shard::{MembersId, Shard, ShardDump};
use crate::small_sort::SmallSort as _;
use crate::tree_map::TreeMap;
use crate::tree_set::TreeSet;

/// Between two runs there is at least this time.
const PAUSE_NS: i64 = 60_000_000_000;
/// So many different statements of who is in the job are quoted.
const QUOTED: usize = 4;

/// A dump of a known rank.
#[derive(Clone, Debug)]
pub(super) struct Dated {
    pub dump: ShardDump,
    /// The newest time in its entries.
    pub newest_ns: i64,
}

/// When a dump's entries were made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    from_ns: i64,
    until_ns: i64,
    rank: u32,
    file: String,
}

impl Span {
    /// The span of a dump that has entries.
    #[inline(never)]
    pub fn of(dated: &Dated) -> Option<Span> {
        let Dated { dump, newest_ns } = dated;
        let from_ns = dump.entries.created_ns().filter(|&ns| ns > 0).min()?;
        Some(Span { from_ns, until_ns: *newest_ns, rank: dump.rank?, file: dump.file.clone() })
    }
}

/// Leaves the dumps of one job where ranks contradict each other about who is in the job as a whole, with a note: those of the newest job,
/// or of the largest where several ran at the same time. A dump that says nothing about it stays.
pub(super) fn one_job(dumps: Vec<Dated>, shard: &Shard) -> (Vec<Dated>, Option<Quality>) {
    let Some(default) = shard.symbols.strings.find("default_pg") else { return (dumps, None) };
    let world_of = |dated: &Dated| -> Option<MembersId> {
        let world = dated.dump.config_of_desc(&shard.configs, default).filter(|_| !dated.dump.truncated)?;
        let is_member = shard.configs.members(world.members).binary_search(&dated.dump.rank?).is_ok();
        is_member.then_some(world.members)
    };
    let mut by_members: HashMap<MembersId, Vec<usize>> = HashMap::new();
    for (at, dated) in dumps.iter().enumerate() {
        if let Some(world) = world_of(dated) {
            by_members.entry(world).or_default().push(at);
        }
    }
    let worlds: TreeMap<&[u32], (MembersId, Vec<usize>)> =
        TreeMap::from_iter(by_members.into_iter().map(|(id, places)| (shard.configs.members(id), (id, places))));
    // Worlds without a common member are parts of a job that calls each of them its default group.
    let mut seen = TreeSet::new();
    if worlds.keys().flat_map(|world| world.iter()).all(|rank| seen.insert(rank)) {
        return (dumps, None);
    }
    let mut sides: Vec<World<'_>> =
        worlds.into_iter().map(|(members, (id, at))| World::of(&dumps, members, id, &at)).collect();
    sides.sort_small_by(|a, b| b.ranks.len().cmp(&a.ranks.len()).then_with(|| a.members.cmp(b.members)));
    let mut used = 0;
    for (at, side) in sides.iter().enumerate() {
        if sides.get(used).is_some_and(|used| side.from_ns.saturating_sub(used.until_ns) > PAUSE_NS) {
            used = at;
        }
    }
    let Some(kept) = sides.get(used).map(|side| (side.id, rank_words(&side.ranks))) else { return (dumps, None) };
    let mut said: Vec<String> = sides.iter().take(QUOTED).map(World::says).collect();
    if sides.len() > QUOTED {
        said.push(format!("and {} more", sides.len() - QUOTED));
    }
    let note = Quality {
        kind: QualityKind::MembershipConflict,
        rank: None,
        file: None,
        detail: format!(
            "the dumps are of more than one job: {}; only the job of {} is looked at: analyse each job by itself",
            said.join(", "),
            kept.1
        ),
    };
    let is_kept = |dated: &Dated| world_of(dated).is_none_or(|world| world == kept.0);
    (dumps.into_iter().filter(is_kept).collect(), Some(note))
}

/// Who says that a job has these members, and when.
struct World<'a> {
    members: &'a [u32],
    id: MembersId,
    ranks: Vec<u32>,
    from_ns: i64,
    until_ns: i64,
}

impl<'a> World<'a> {
    fn of(dumps: &[Dated], members: &'a [u32], id: MembersId, places: &[usize]) -> World<'a> {
        let own = || places.iter().filter_map(|&at| dumps.get(at));
        let mut ranks: Vec<u32> = own().filter_map(|dated| dated.dump.rank).collect();
        ranks.dedup();
        World {
            members,
            id,
            ranks,
            from_ns: own().filter_map(Span::of).map(|span| span.from_ns).min().unwrap_or(0),
            until_ns: own().map(|dated| dated.newest_ns).max().unwrap_or(0),
        }
    }

    fn says(&self) -> String {
        let says = if self.ranks.len() == 1 { "says" } else { "say" };
        let (count, members) = (self.members.len(), readable_ranges(self.members));
        format!("{} {says} that it has {count} ranks ({members})", rank_words(&self.ranks))
    }
}

/// Takes out the dumps of ranks whose only dump is as old as the replaced dumps of other ranks, with a note. `spans` are those of all dumps, the
/// doubles among them; `used` has one dump for each rank.
pub(super) fn left_over(mut spans: Vec<Span>, used: &mut Vec<Dated>) -> Option<Quality> {
    spans.sort_small();
    let runs = runs(&spans);
    let mut dumps_of: TreeMap<u32, u32> = TreeMap::new();
    for span in &spans {
        *dumps_of.entry(span.rank).or_default() += 1;
    }
    let files = TreeMap::from_iter(used.iter().filter_map(|dated| Some((dated.dump.rank?, dated.dump.file.as_str()))));
    let is_used = |span: &&Span| files.get(&span.rank) == Some(&span.file.as_str());
    let (newest, older) = runs.split_last()?;
    let current: TreeSet<u32> = TreeSet::from_iter(newest.iter().filter(is_used).map(|span| span.rank));
    // A rank that hangs has old entries, too; but then it left them at each time that the others left theirs.
    let mut stale: Vec<u32> = older
        .iter()
        .filter(|run| run.iter().any(|span| !is_used(&span) && current.contains(&span.rank)))
        .flat_map(|run| run.iter().filter(is_used))
        .map(|span| span.rank)
        .filter(|rank| dumps_of.get(rank) == Some(&1))
        .collect();
    stale.sort_small();
    let until = spans.iter().filter(|span| stale.binary_search(&span.rank).is_ok()).map(|span| span.until_ns).max()?;
    let pause = newest.first()?.from_ns.saturating_sub(until) / 1_000_000_000;
    let current: Vec<u32> = current.into_iter().collect();
    used.retain(|dated| dated.dump.rank.is_none_or(|rank| stale.binary_search(&rank).is_err()));
    Some(Quality {
        kind: QualityKind::DuplicateRank,
        rank: if stale.len() == 1 { stale.first().copied() } else { None },
        file: None,
        detail: format!(
            "the only dumps of {} end {pause} s before those of {} begin, as older dumps of the latter do: they are left over from an \
             earlier run, and are left out",
            rank_words(&stale),
            rank_words(&current)
        ),
    })
}

/// Spans, sorted, cut where nothing was recorded for longer than the shorter of what is before and what is after.
fn runs(spans: &[Span]) -> Vec<&[Span]> {
    let mut cuts: Vec<usize> = Vec::new();
    let mut until = i64::MAX;
    for (at, span) in spans.iter().enumerate() {
        if span.from_ns.saturating_sub(until) > PAUSE_NS {
            cuts.push(at);
            until = span.until_ns;
        } else {
            until = if until == i64::MAX { span.until_ns } else { until.max(span.until_ns) };
        }
    }
    let mut runs: Vec<&[Span]> = Vec::new();
    let mut begin = 0;
    for (at, &cut) in cuts.iter().enumerate() {
        let end = cuts.get(at + 1).copied().unwrap_or(spans.len());
        let (Some(before), Some(after)) = (spans.get(begin..cut), spans.get(cut..end)) else { continue };
        if pause(before, after) > length(before).min(length(after)) {
            runs.push(before);
            begin = cut;
        }
    }
    runs.extend(spans.get(begin..));
    runs
}

fn pause(before: &[Span], after: &[Span]) -> i64 {
    let until = before.iter().map(|span| span.until_ns).max().unwrap_or(i64::MAX);
    after.first().map_or(0, |span| span.from_ns.saturating_sub(until))
}

fn length(run: &[Span]) -> i64 {
    let until = run.iter().map(|span| span.until_ns).max().unwrap_or(0);
    run.first().map_or(0, |span| until.saturating_sub(span.from_ns))
}
