//! Dumps of more than one run among those of a job.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

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

impl Dated {
    /// When the first of its entries was made; `None` without one.
    #[inline(never)]
    fn oldest_ns(&self) -> Option<i64> {
        self.dump.entries.created_ns().filter(|&ns| ns > 0).min()
    }
}

impl Span {
    /// The span of a dump that has entries.
    pub fn of(dated: &Dated) -> Option<Span> {
        let from_ns = dated.oldest_ns()?;
        Some(Span { from_ns, until_ns: dated.newest_ns, rank: dated.dump.rank?, file: dated.dump.file.clone() })
    }
}

/// Leaves the dumps of one job where ranks contradict each other about who is in the job as a whole, with a note: those of the newest job,
/// or of the largest where several ran at the same time. A dump that says nothing about it stays.
pub(super) fn one_job(dumps: &mut Vec<Dated>, shard: &Shard) -> Option<Quality> {
    let default = shard.symbols.strings.find("default_pg")?;
    let world_of = |dated: &Dated| -> Option<MembersId> {
        let world = dated.dump.config_of_desc(&shard.configs, default).filter(|_| !dated.dump.truncated)?;
        let is_member = shard.configs.members(world.members).binary_search(&dated.dump.rank?).is_ok();
        is_member.then_some(world.members)
    };
    let mut worlds: Vec<World<'_>> = Vec::new();
    let mut place_of: TreeMap<u32, usize> = TreeMap::new();
    // For each dump the place of its world; behind all of them where it says nothing.
    let mut places: Vec<usize> = Vec::with_capacity(dumps.len());
    for dated in &*dumps {
        let Some(id) = world_of(dated) else {
            places.push(usize::MAX);
            continue;
        };
        let next = worlds.len();
        let place = *place_of.entry(id.index).or_insert(next);
        places.push(place);
        if place == next {
            worlds.push(World { place, members: shard.configs.members(id), ..World::default() });
        }
    }
    // Worlds without a common member are parts of a job that calls each of them its default group.
    let mut seen = TreeSet::new();
    if worlds.iter().flat_map(|world| world.members).all(|rank| seen.insert(rank)) {
        return None;
    }
    for (dated, &place) in dumps.iter().zip(&places) {
        if let Some(world) = worlds.get_mut(place) {
            world.add(dated);
        }
    }
    worlds.sort_small_by(|a, b| b.dumps.cmp(&a.dumps).then_with(|| a.members.cmp(b.members)));
    let mut used = worlds.first()?;
    for world in &worlds {
        if world.oldest_ns.saturating_sub(used.newest_ns) > PAUSE_NS {
            used = world;
        }
    }
    let mut said = String::new();
    for world in worlds.iter().take(QUOTED) {
        let says = if world.ranks.len() == 1 { "says" } else { "say" };
        let (count, members) = (world.members.len(), readable_ranges(world.members));
        said.push_str(&format!("{} {says} that it has {count} ranks ({members}), ", rank_words(&world.ranks)));
    }
    if worlds.len() > QUOTED {
        said.push_str(&format!("and {} more, ", worlds.len() - QUOTED));
    }
    let detail = format!(
        "the dumps are of more than one job: {}; only the job of {} is looked at: analyse each job by itself",
        said.trim_end_matches(", "),
        rank_words(&used.ranks)
    );
    let (used, mut places) = (used.place, places.into_iter());
    dumps.retain(|_| places.next().is_none_or(|place| place == used || place == usize::MAX));
    Some(Quality { kind: QualityKind::MembershipConflict, rank: None, file: None, detail })
}

/// Who says that a job has these members.
#[derive(Default)]
struct World<'a> {
    /// Among all worlds as they come first.
    place: usize,
    members: &'a [u32],
    ranks: Vec<u32>,
    dumps: usize,
    oldest_ns: i64,
    newest_ns: i64,
}

impl World<'_> {
    fn add(&mut self, dated: &Dated) {
        if let Some(rank) = dated.dump.rank.filter(|rank| self.ranks.last() != Some(rank)) {
            self.ranks.push(rank);
        }
        if let Some(oldest_ns) = dated.oldest_ns().filter(|&ns| self.oldest_ns == 0 || ns < self.oldest_ns) {
            self.oldest_ns = oldest_ns;
        }
        self.newest_ns = self.newest_ns.max(dated.newest_ns);
        self.dumps += 1;
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
