//! From the wait graph to findings, origin first.

use alloc::vec::Vec;

use super::disagreement::first_misfit;
use super::rules::{behind, block, cycle, divergence, joined, launch_order, message, missing_rank, no_dump, splits};
use super::wait_graph::WaitGraph;
use super::{Case, Draft, Place, doubt, vote};
use crate::align::Cell;
use crate::report::Kind;
use crate::small_sort::SmallSort as _;
use crate::symbols::StrId;
use crate::tree_map::TreeMap;
use crate::tree_set::TreeSet;

/// Most findings of rows that everybody got past: the same mistake in every group says no more.
const MOST_PASSED: usize = 64;
/// For so many findings the way on which waits go round is looked for.
const MOST_CYCLES: usize = 64;

/// A draft and the place of the wait graph that it explains.
struct Found {
    at: usize,
    draft: Draft,
}

/// Finds what broke; the first draft is the origin.
///
/// Places that carry their own reason (calls that do not fit, a member that is absent and waits for nothing) are origins wherever
/// they are in the graph. Only where there is none do the ends of the graph tell: cycles, members without a dump, rows that all have joined.
pub fn diagnose(case: &Case<'_>) -> Vec<Draft> {
    let graph = WaitGraph::of(case);
    let mut found = own_reasons(case, &graph);
    if found.is_empty() {
        // Calls that fit row by row and come in another order over several groups, or a rank that left the common program.
        found =
            at_ends(&graph, |places| cycle::find_swapped(case, places).or_else(|| cycle::find_departed(case, places)));
    }
    if found.is_empty() {
        let rules = [divergence::find_shift, divergence::find_by_site];
        found = at_places(&graph, |place| rules.iter().find_map(|rule| rule(case, place)));
    }
    if found.is_empty() {
        found = unmatched(case, &graph);
    }
    if found.is_empty() {
        found = ends(case, &graph);
    }
    let mut drafts = without_consequences(case, &graph, found);
    if drafts.is_empty() {
        drafts = passed(case);
    }
    for (at, draft) in drafts.iter_mut().enumerate() {
        doubt::weigh(case, draft);
        let told = at < MOST_CYCLES && draft.hangs;
        if told && matches!(draft.kind, Kind::CrossGroupDeadlock | Kind::OrderMismatch | Kind::P2pUnmatched) {
            draft.cycle = graph.cycle(case, draft.place);
        }
    }
    drafts
}

fn at_places(graph: &WaitGraph, rule: impl Fn(Place) -> Option<Draft>) -> Vec<Found> {
    let found = |(at, &place)| Some(Found { at, draft: rule(place)? });
    graph.places.iter().enumerate().filter_map(found).collect()
}

fn at_ends(graph: &WaitGraph, rule: impl Fn(&[Place]) -> Option<Draft>) -> Vec<Found> {
    let mut found = Vec::new();
    for end in graph.ends() {
        let places: Vec<Place> = end.iter().filter_map(|&at| graph.places.get(at).copied()).collect();
        found.extend(end.first().zip(rule(&places)).map(|(&at, draft)| Found { at, draft }));
    }
    found
}

/// Places that carry their own reason.
fn own_reasons(case: &Case<'_>, graph: &WaitGraph) -> Vec<Found> {
    at_places(graph, |place| {
        divergence::find(case, place)
            .or_else(|| message::find_misfit(case, place))
            .or_else(|| {
                missing_rank::find(case, place).map(|found| divergence::find_shift(case, place).unwrap_or(found))
            })
            .or_else(|| message::find_unposted(case, place))
            .or_else(|| splits::find(case, place))
    })
}

/// Messages in a cycle of waits whose absent end waits in a collective. One such rank has gone past its message; where there are
/// several, some of them only wait for the others before they get there, and nothing tells which. Outside a cycle the absent
/// end waits for something else, and that is the origin. In a circle of blocks of messages their sizes may tell.
fn unmatched(case: &Case<'_>, graph: &WaitGraph) -> Vec<Found> {
    at_ends(graph, |places| {
        if places.len() < 2 {
            return None;
        }
        if let Some(draft) = block::find_left_out(case, places) {
            return Some(draft);
        }
        let mut found = places.iter().filter_map(|&place| message::find_unmatched(case, place));
        let first = found.next()?;
        found.all(|other| other.suspects == first.suspects).then_some(first)
    })
}

/// What the ends of the graph say.
fn ends(case: &Case<'_>, graph: &WaitGraph) -> Vec<Found> {
    let mut lost: Vec<Found> = Vec::new();
    let mut other: Vec<Found> = Vec::new();
    for end in graph.ends() {
        let places: Vec<Place> = end.iter().filter_map(|&at| graph.places.get(at).copied()).collect();
        let Some(&at) = end.first() else { continue };
        let found = |draft| Found { at, draft };
        if let Some(draft) = no_dump::find_at(case, &places) {
            lost.push(found(draft));
        } else if places.len() > 1 {
            // Where the file of an end is cut or lost, the circle may be none.
            let open = places.iter().find(|&&place| {
                case.parties(place).iter().any(|party| matches!(party.cell, Cell::UNKNOWN | Cell::NO_DUMP))
            });
            let draft = match open {
                Some(&place) => joined::find(case, place),
                None => cycle::find_deadlock(case, &places),
            };
            other.extend(draft.map(found));
        } else {
            let rules =
                [missing_rank::find_idle, splits::find_overtaken, launch_order::find, behind::find, joined::find];
            let one = places.first().and_then(|&place| rules.iter().find_map(|rule| rule(case, place)));
            other.extend(one.map(found));
        }
    }
    // A rank without a dump explains a wait only where nothing else does.
    if other.is_empty() { lost } else { other }
}

/// Orders findings by time and leaves out those that another one explains: the same suspects again, or nobody to blame in a
/// place that waits for an origin.
fn without_consequences(case: &Case<'_>, graph: &WaitGraph, mut found: Vec<Found>) -> Vec<Draft> {
    found.sort_small_by_cached_key(|item| {
        // Blame that is proven comes before a shrug; then what happened first.
        let vague = item.draft.suspects.is_empty() && !item.draft.tie;
        (vague, case.order(item.draft.place))
    });
    let (mut kept, mut places, mut of_rank) = (Vec::new(), TreeSet::new(), TreeMap::<u32, Vec<usize>>::new());
    for (at, item) in found.iter().enumerate() {
        let earlier = |at: usize| found.get(at);
        let suspects = &item.draft.suspects;
        let explained = places.contains(&item.draft.place)
            || match suspects.first() {
                Some(first) => of_rank
                    .get(first)
                    .into_iter()
                    .flatten()
                    .filter_map(|&at| earlier(at))
                    .any(|earlier| suspects.iter().all(|rank| earlier.draft.suspects.binary_search(rank).is_ok())),
                None if kept.is_empty() => false,
                None if !item.draft.tie => true,
                None => {
                    let reach = graph.reach(item.at);
                    kept.iter().filter_map(|&at| earlier(at)).any(|earlier| reach.get(earlier.at) == Some(&true))
                }
            };
        if !explained {
            kept.push(at);
            places.insert(item.draft.place);
            for &rank in suspects {
                of_rank.entry(rank).or_default().push(at);
            }
        }
    }
    let mut drafts: Vec<Option<Draft>> = found.into_iter().map(|item| Some(item.draft)).collect();
    one_for_siblings(case, kept.into_iter().filter_map(|at| drafts.get_mut(at)?.take()).collect())
}

/// Makes one finding of those that tell the same story of sibling groups: the same row, held up in the same way.
fn one_for_siblings(case: &Case<'_>, drafts: Vec<Draft>) -> Vec<Draft> {
    let mut merged: Vec<Draft> = Vec::new();
    let mut stories: TreeMap<Story, Vec<Draft>> = TreeMap::new();
    let mut order: Vec<Result<Draft, Story>> = Vec::new();
    for draft in drafts {
        match story(case, &draft) {
            Some(story) => {
                let told = stories.entry(story).or_default();
                if told.is_empty() {
                    order.push(Err(story));
                }
                told.push(draft);
            }
            None => order.push(Ok(draft)),
        }
    }
    for item in order {
        match item {
            Ok(draft) => merged.push(draft),
            Err(story) => merged.extend(one_story(case, stories.remove(&story).unwrap_or_default())),
        }
    }
    merged
}

/// Kind, family of the groups, number of the row, and operation.
type Story = (Kind, u32, u32, StrId);

/// What findings of sibling groups have in common; `None` for a finding that is not told together with others.
fn story(case: &Case<'_>, draft: &Draft) -> Option<Story> {
    let Place::Row(group, row) = draft.place else { return None };
    if !matches!(draft.kind, Kind::MissingRank | Kind::RankBehind) {
        return None;
    }
    let band = case.table.band(group);
    let (_, rank, entry) = band.issued(row).next()?;
    let op = case.table.signature(case.job, rank, entry).0;
    Some((draft.kind, case.table.families.number(group)?, band.number(row), op))
}

/// The findings of one story, as one where they can be described together.
fn one_story(case: &Case<'_>, drafts: Vec<Draft>) -> Vec<Draft> {
    let describe = |places: &[Place], kind: Kind| match kind {
        Kind::MissingRank => missing_rank::describe(case, places, true),
        _ => behind::describe(case, places),
    };
    let is_one = |draft: &Draft| drafts.first().is_some_and(|first| first.cause == draft.cause);
    let members: TreeSet<&[u32]> =
        TreeSet::from_iter(drafts.iter().map(|draft| case.job.group(draft.place.group()).members.as_slice()));
    if drafts.len() > 1 && drafts.iter().all(is_one) && members.len() == drafts.len() {
        let places: Vec<Place> = drafts.iter().flat_map(Draft::places).collect();
        if let Some(together) = drafts.first().and_then(|first| describe(&places, first.kind)) {
            return alloc::vec![together];
        }
    }
    // Not all of them belong together: one by one, as far as they do.
    let mut merged: Vec<Draft> = Vec::new();
    for draft in drafts {
        let mut same = merged.iter_mut().filter(|earlier| {
            let groups = (earlier.place.group(), draft.place.group());
            earlier.cause == draft.cause && vote::are_siblings(case.job, groups.0, groups.1)
        });
        let together = same.find_map(|earlier| {
            let places: Vec<Place> = earlier.places().chain(draft.places()).collect();
            Some((describe(&places, draft.kind)?, earlier))
        });
        match together {
            Some((described, earlier)) => *earlier = described,
            None => merged.push(draft),
        }
    }
    merged
}

/// Calls that did not fit in rows that everybody got past: the job does not hang there, and they are wrong all the same. Where the
/// job hangs for another reason they would only draw attention from it.
fn passed(case: &Case<'_>) -> Vec<Draft> {
    let mut passed: Vec<Place> = Vec::new();
    for band in &case.table.bands {
        let Some(row) = first_misfit(case, band) else { continue };
        let place = Place::Row(band.group, row);
        if case.parties(place).iter().all(|party| party.cell.entry().is_some()) {
            passed.push(place);
        }
    }
    passed.sort_small_by_cached_key(|&place| case.order(place));
    let rows = passed.into_iter().take(MOST_PASSED).filter_map(|place| match place {
        Place::Row(group, row) => Some((group, row)),
        Place::Message(..) => None,
    });
    rows.map(|(group, row)| {
        let mut draft = divergence::describe(case, group, row, false);
        draft.hangs = false;
        draft.headline.push_str("; the job did not hang there");
        draft
    })
    .collect()
}
