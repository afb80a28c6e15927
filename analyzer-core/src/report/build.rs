//! What the rules found, as the contract says it.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::others::Others;
use super::{
    CycleStep, Finding, FindingGroup, JobFacts, Kind, LastOp, P2pPlace, Place as ReportPlace, QualityKind, RankState,
    RankStatus, Report, SCHEMA, Side, SideState, Site, Tool, Whom, ranges,
};
use crate::align::Progress;
use crate::diagnose::{Absence, Case, Draft, DraftSide, Place, WaitStep};
use crate::dump::{Entry, EntryIdx};
use crate::job::{GroupIdx, RankIdx};
use crate::small_sort::SmallSort as _;
use crate::symbols::{DtypesId, ShapesId};
use crate::tree_map::TreeMap;
use crate::tree_set::TreeSet;

/// Puts the report together.
pub fn build(case: &Case<'_>, drafts: &[Draft]) -> Report {
    let ranks = rank_states(case, drafts);
    let findings: Vec<Finding> =
        drafts.iter().enumerate().map(|(at, draft)| finding(case, at, draft, &ranks)).collect();
    let verdict = match findings.first() {
        Some(first) => first.kind.name(),
        None if case.job.ranks.iter().all(|dump| dump.entries.is_empty()) => "nothing_pending",
        None => "no_fault",
    };
    let facts = facts(case);
    let mut headline = match drafts.first() {
        Some(draft) => draft.headline.clone(),
        None => quiet_headline(case, &facts, verdict),
    };
    if case.job.other_runs_left_out {
        headline.push_str("; dumps of another job or run are left out (see the notes)");
    }
    Report {
        schema: SCHEMA,
        tool: Tool { name: "hangscope".to_string(), version: env!("CARGO_PKG_VERSION").to_string() },
        verdict: verdict.to_string(),
        headline,
        job: facts,
        findings,
        ranks,
        data_quality: case.job.quality.clone(),
    }
}

fn quiet_headline(case: &Case<'_>, facts: &JobFacts, verdict: &str) -> String {
    if facts.ranks_loaded == 0 {
        return "No dump could be read".to_string();
    }
    let ranks = if facts.ranks_loaded == 1 { "one rank".to_string() } else { format!("{} ranks", facts.ranks_loaded) };
    let cut = case.job.quality.iter().filter(|note| note.kind == QualityKind::Truncated);
    let cut: TreeSet<(bool, Option<&str>)> =
        TreeSet::from_iter(cut.map(|note| (note.rank.is_some(), note.file.as_deref())));
    if !cut.is_empty() {
        let of_ranks = cut.iter().filter(|file| file.0).count();
        let breaks = if of_ranks == 1 { "breaks" } else { "break" };
        let what = match (facts.ranks_loaded, of_ranks) {
            // An archive, a pack or a bundle, and none of the dumps in it.
            (_, 0) => format!("Files with dumps break off, and {ranks} could be read"),
            (1, _) => "1 of 1 dump breaks off".to_string(),
            (loaded, _) => format!("{of_ranks} of {loaded} dumps {breaks} off"),
        };
        let rest = "no fault is in what is left, and what is lost may hold it; look for whole files, and for the reason (a full disk?)";
        return format!("{what}: {rest}");
    }
    if verdict == "nothing_pending" {
        return format!(
            "Nothing is pending: the dumps of {ranks} hold no operation, so if the job hangs, it hangs outside the recorded library"
        );
    }
    format!(
        "No fault found: every recorded operation of {ranks} finished and all arguments agree; \
         if the job hangs, it hangs outside the recorded collectives"
    )
}

fn facts(case: &Case<'_>) -> JobFacts {
    let job = case.job;
    let mut versions: Vec<&str> = job.ranks.iter().map(|dump| dump.version.as_str()).collect();
    versions.sort_small_by_key(|version| version_key(version));
    versions.dedup();
    let mut backends = TreeSet::from_iter(job.libraries());
    backends.remove("");
    let world = job.world_size();
    JobFacts {
        world_size: (world > 0).then_some(world),
        ranks_loaded: job.ranks.len() as u32,
        ranks_missing: ranges(job.missing_ranks.iter().copied()),
        dump_versions: versions.into_iter().map(ToOwned::to_owned).collect(),
        backends: backends.into_iter().map(ToOwned::to_owned).collect(),
        entries: job.ranks.iter().map(|dump| dump.entries.len() as u64).sum(),
        rows: case.table.bands.iter().map(|band| (band.numbers.len() + band.messages.len()) as u64).sum(),
        groups: job.groups.len() as u32,
        snapshot_ns: job.snapshot_ns,
    }
}

/// `2.10` is newer than `2.9`.
fn version_key(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(u32::MAX)).collect()
}

fn rank_states(case: &Case<'_>, drafts: &[Draft]) -> Vec<RankState> {
    let job = case.job;
    let hanging: Vec<&Draft> = drafts.iter().filter(|draft| draft.hangs).collect();
    let suspects: TreeSet<u32> = TreeSet::from_iter(drafts.iter().flat_map(|draft| draft.suspects.iter().copied()));
    let victims: TreeSet<u32> = TreeSet::from_iter(hanging.iter().flat_map(|draft| waiting_at(case, draft)));
    let mut waits = Waits { case, known: TreeMap::new() };
    let mut all: Vec<u32> = job.ranks.iter().map(|dump| dump.rank).chain(job.missing_ranks.iter().copied()).collect();
    all.sort_small();
    all.into_iter()
        .map(|rank| {
            let dump = job.rank_idx(rank);
            let front = dump.and_then(|dump| Some((dump, case.front(dump)?)));
            let status = if suspects.contains(&rank) {
                RankStatus::Suspect
            } else if dump.is_none() {
                let unreadable = job.unreadable_ranks.binary_search(&rank).is_ok();
                if unreadable { RankStatus::Unreadable } else { RankStatus::NoDump }
            } else if victims.contains(&rank) {
                RankStatus::Victim
            } else if front.is_some() {
                RankStatus::Blocked
            } else {
                RankStatus::Ok
            };
            RankState {
                rank,
                status,
                waits_in: front.map(|(dump, (entry, place))| report_place(case, dump, entry, place)),
                waits_for: front.map(|(_, (_, place))| waits.of(place, rank)).unwrap_or_default(),
            }
        })
        .collect()
}

fn report_place(case: &Case<'_>, rank: RankIdx, entry: EntryIdx, place: Place) -> ReportPlace {
    ReportPlace {
        group: case.job.label(place.group()),
        seq: match place {
            Place::Row(_, row) => Some(case.band(place).number(row)),
            Place::Message(..) => None,
        },
        op: case.job.op(case.job.entry(rank, entry).op).name.clone(),
    }
}

/// For whom the ranks of each place wait; a place has as many ranks as a job may have.
struct Waits<'a> {
    case: &'a Case<'a>,
    known: TreeMap<Place, WaitsFor>,
}

enum WaitsFor {
    /// The parties that have not joined.
    Absent(Whom),
    /// All have joined, and these have not finished: each of them waits for the others.
    Others(Others),
}

impl Waits<'_> {
    /// The parties of a place that have not joined it; where all have, those who have not finished it.
    fn of(&mut self, place: Place, rank: u32) -> Whom {
        let case = self.case;
        let known = self.known.entry(place).or_insert_with(|| {
            let parties = case.parties(place);
            let absent = parties.iter().filter(|party| case.progress(party).is_none()).map(|party| party.rank);
            let absent = ranges(absent);
            if !absent.is_empty() {
                return WaitsFor::Absent(Arc::<str>::from(absent).into());
            }
            let waiting: Vec<u32> = parties.iter().filter(|party| case.waits(party)).map(|party| party.rank).collect();
            WaitsFor::Others(Others::of(&waiting))
        });
        match known {
            WaitsFor::Absent(text) => text.clone(),
            WaitsFor::Others(others) => others.without(rank),
        }
    }
}

/// Those who wait where a draft found something, ascending. Where nobody in a circle of waits is to blame, it has no beginning: all of its
/// ranks wait there.
fn waiting_at(case: &Case<'_>, draft: &Draft) -> Vec<u32> {
    let mut waiting: Vec<u32> = Vec::new();
    if draft.kind == Kind::CrossGroupDeadlock && draft.suspects.is_empty() {
        waiting.extend(draft.sides.iter().flat_map(|side| side.ranks.iter().copied()));
    }
    for place in draft.places() {
        let parties = case.parties(place);
        waiting.extend(parties.iter().filter(|party| case.waits(party)).map(|party| party.rank));
    }
    waiting.sort_small();
    waiting.dedup();
    waiting
}

fn finding(case: &Case<'_>, at: usize, draft: &Draft, ranks: &[RankState]) -> Finding {
    let job = case.job;
    let waiting = if draft.hangs { waiting_at(case, draft) } else { Vec::new() };
    let victims = waiting.iter().copied().filter(|rank| draft.suspects.binary_search(rank).is_err());
    let blocked = ranks.iter().filter(|state| draft.hangs && at == 0 && state.status == RankStatus::Blocked);
    let mut sides: Vec<Side> = draft.sides.iter().map(|side| report_side(case, side)).collect();
    // Stable: equal sides stay in the order of the rule.
    let mut order: Vec<usize> = (0..sides.len()).collect();
    order.sort_small_by_key(|&at| usize::MAX - draft.sides.get(at).map_or(0, |side| side.ranks.len()));
    sides = order.iter().filter_map(|&at| sides.get(at).cloned()).collect();
    let op = draft
        .sides
        .iter()
        .filter(|side| !side.ranks.iter().all(|rank| draft.suspects.binary_search(rank).is_ok()))
        .chain(&draft.sides)
        .find_map(|side| side.entry)
        .map(|(rank, entry)| job.op(job.entry(rank, entry).op).name.clone())
        .unwrap_or_default();
    Finding {
        id: format!("F{}", at + 1),
        kind: draft.kind,
        cause: draft.cause,
        confidence: draft.confidence,
        group: Some(finding_group(case, draft.place.group())),
        seq: match draft.place {
            Place::Row(_, row) => Some(case.band(draft.place).number(row)),
            Place::Message(..) => None,
        },
        p2p: p2p_place(case, draft.place),
        op,
        suspects: ranges(draft.suspects.iter().copied()),
        tie: draft.tie,
        victims: ranges(victims),
        blocked: ranges(blocked.map(|state| state.rank)),
        sides,
        cycle: draft.cycle.iter().map(|step| cycle_step(case, step)).collect(),
        also: also(case, draft),
        evidence: draft.evidence.clone(),
        alternatives: draft.alternatives.clone(),
        next_steps: draft.next_steps.clone(),
    }
}

/// The other groups of a finding.
fn also(case: &Case<'_>, draft: &Draft) -> Vec<FindingGroup> {
    let mut groups: Vec<GroupIdx> = draft.more.iter().map(|place| place.group()).collect();
    groups.sort_small();
    groups.dedup();
    groups.retain(|&group| group != draft.place.group());
    groups.into_iter().map(|group| finding_group(case, group)).collect()
}

fn finding_group(case: &Case<'_>, group: GroupIdx) -> FindingGroup {
    let of = case.job.group(group);
    FindingGroup {
        name: of.name.clone(),
        desc: of.desc.clone(),
        label: case.job.label(group),
        ranks: ranges(of.members.iter().copied()),
    }
}

fn cycle_step(case: &Case<'_>, step: &WaitStep) -> CycleStep {
    CycleStep {
        ranks: ranges(step.ranks.iter().copied()),
        place: report_place(case, step.entry.0, step.entry.1, step.place),
        p2p: p2p_place(case, step.place),
        waits_for: ranges(step.waits_for.iter().copied()),
    }
}

fn p2p_place(case: &Case<'_>, place: Place) -> Option<P2pPlace> {
    case.message(place).map(|message| P2pPlace { src: message.src, dst: message.dst, nth: message.nth })
}

fn report_side(case: &Case<'_>, side: &DraftSide) -> Side {
    let job = case.job;
    let entry = side.entry.map(|(rank, at)| job.entry(rank, at));
    let args = entry.map(|entry| job.symbols.args.get(entry.args)).unwrap_or_default();
    let state = match side.entry.map(|(rank, at)| case.table.progress(rank, at)) {
        None => match side.absence {
            Absence::Missing => SideState::Missing,
            Absence::Unknown => SideState::Unknown,
            Absence::Finished => SideState::Completed,
        },
        Some(Progress::Scheduled) => SideState::Scheduled,
        Some(Progress::Started) => SideState::Started,
        Some(Progress::Completed | Progress::Late) => SideState::Completed,
        Some(Progress::Unknown) => SideState::Unknown,
    };
    // A side that is absent shows the stack of what it did last: "left here".
    let shown = entry.or_else(|| side.last.map(|(rank, at)| job.entry(rank, at)));
    Side {
        ranks: ranges(side.ranks.iter().copied()),
        op: entry.map(|entry| job.op(entry.op).name.clone()),
        state,
        input_sizes: sizes(case, args.input_sizes),
        output_sizes: sizes(case, args.output_sizes),
        input_dtypes: dtypes(case, args.input_dtypes),
        output_dtypes: dtypes(case, args.output_dtypes),
        call_site: entry.and_then(|entry| job.call_site(entry.stack)),
        frames: shown.map(|entry| frames(case, &entry)).unwrap_or_default(),
        last_op: side.last.map(|(rank, at)| {
            let last = job.entry(rank, at);
            LastOp {
                group: job.group_of(rank, &last).map(|group| job.label(group)).unwrap_or_default(),
                op: job.op(last.op).name.clone(),
                seq: last.collective_seq.filter(|_| job.op(last.op).peer.is_none()),
                call_site: job.call_site(last.stack),
            }
        }),
    }
}

fn frames(case: &Case<'_>, entry: &Entry) -> Vec<Site> {
    case.job.symbols.stacks.frames(entry.stack).map(|frame| case.job.site(frame)).collect()
}

fn sizes(case: &Case<'_>, sizes: ShapesId) -> Vec<Vec<i64>> {
    let symbols = &case.job.symbols;
    symbols.shape_lists.get(sizes).iter().map(|&shape| symbols.shapes.get(shape).to_vec()).collect()
}

fn dtypes(case: &Case<'_>, dtypes: DtypesId) -> Vec<String> {
    let symbols = &case.job.symbols;
    symbols.dtype_lists.get(dtypes).iter().map(|&dtype| symbols.strings.get(dtype).to_string()).collect()
}
