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

/// When a dump's entries were made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    from_ns: i64,
    until_ns: i64,
    rank: u32,
    file: String,
}

impl Span {
    /// The span of a dump of a known rank that has entries; `until_ns` is the newest time in them.
    #[inline(never)]
    pub fn of(dump: &ShardDump, until_ns: i64) -> Option<Span> {
        let from_ns = dump.entries.created_ns().filter(|&ns| ns > 0).min()?;
        Some(Span { from_ns, until_ns, rank: dump.rank?, file: dump.file.clone() })
    }
}

/// A note where the dumps in use cannot be of one run. `spans` are those of all dumps, the doubles among them; `used` has
/// one dump for each rank.
pub(super) fn mixed(spans: Vec<Span>, used: &[ShardDump], shard: &Shard) -> Option<Quality> {
    disagreeing_worlds(used, shard).or_else(|| left_over(spans, used))
}

/// Ranks that contradict each other about who is in the job as a whole.
fn disagreeing_worlds(used: &[ShardDump], shard: &Shard) -> Option<Quality> {
    let default = shard.symbols.strings.find("default_pg")?;
    let mut by_members: HashMap<MembersId, Vec<u32>> = HashMap::new();
    for dump in used.iter().filter(|dump| !dump.truncated) {
        let world = dump.config_of_desc(&shard.configs, default);
        if let (Some(world), Some(rank)) = (world, dump.rank)
            && shard.configs.members(world.members).binary_search(&rank).is_ok()
        {
            by_members.entry(world.members).or_default().push(rank);
        }
    }
    let worlds: TreeMap<&[u32], Vec<u32>> =
        TreeMap::from_iter(by_members.into_iter().map(|(members, ranks)| (shard.configs.members(members), ranks)));
    // Worlds without a common member are parts of a job that calls each of them its default group.
    let mut seen = TreeSet::new();
    if worlds.keys().flat_map(|world| world.iter()).all(|rank| seen.insert(rank)) {
        return None;
    }
    let mut sides: Vec<(&[u32], Vec<u32>)> = worlds.into_iter().collect();
    sides.sort_small_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.cmp(b)));
    let mut said: Vec<String> = sides
        .iter()
        .take(QUOTED)
        .map(|(world, ranks)| {
            let says = if ranks.len() == 1 { "says" } else { "say" };
            format!("{} {says} that it has {} ranks ({})", rank_words(ranks), world.len(), readable_ranges(world))
        })
        .collect();
    if sides.len() > QUOTED {
        said.push(format!("and {} more", sides.len() - QUOTED));
    }
    Some(Quality {
        kind: QualityKind::MembershipConflict,
        rank: None,
        file: None,
        detail: format!("the dumps are of more than one job: {}; analyse each job by itself", said.join(", ")),
    })
}

/// Ranks whose only dump is as old as the replaced dumps of other ranks.
fn left_over(mut spans: Vec<Span>, used: &[ShardDump]) -> Option<Quality> {
    spans.sort_small();
    let runs = runs(&spans);
    let mut dumps_of: TreeMap<u32, u32> = TreeMap::new();
    for span in &spans {
        *dumps_of.entry(span.rank).or_default() += 1;
    }
    let files = TreeMap::from_iter(used.iter().filter_map(|dump| Some((dump.rank?, dump.file.as_str()))));
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
    let stale_words = rank_words(&stale);
    Some(Quality {
        kind: QualityKind::DuplicateRank,
        rank: if stale.len() == 1 { stale.first().copied() } else { None },
        file: None,
        detail: format!(
            "the only dumps of {stale_words} end {pause} s before those of {} begin, as older dumps of the latter do: \
             they are left over from an earlier run, so that what is said of {stale_words} may be wrong",
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
