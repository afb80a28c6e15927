//! What findings point at, by place.

use alloc::vec::Vec;

use super::Kind;
use crate::align::RowIdx;
use crate::diagnose::{Draft, Place};
use crate::job::GroupIdx;
use crate::small_sort::SmallSort as _;
use crate::tree_map::TreeMap;
use crate::tree_set::TreeSet;

/// What findings point at: asked for every cell, so it is sorted once.
#[derive(Default)]
pub(super) struct Marks {
    /// By finding, ascending.
    loud: Vec<Vec<u32>>,
    /// The findings of each place.
    here: TreeMap<Place, Vec<usize>>,
    divided: TreeSet<Place>,
    first_draft: TreeMap<GroupIdx, usize>,
    first_origin: TreeMap<GroupIdx, RowIdx>,
    about_messages: TreeSet<GroupIdx>,
}

impl Marks {
    /// Marks of findings, the origin first.
    pub fn of(drafts: &[Draft]) -> Marks {
        let mut marks = Marks::default();
        for (at, draft) in drafts.iter().enumerate() {
            let mut loud = loud_ranks(draft);
            loud.sort_small();
            marks.loud.push(loud);
            for place in draft.places() {
                marks.here.entry(place).or_default().push(at);
            }
            if is_divided(draft) {
                marks.divided.insert(draft.place);
            }
            let group = draft.place.group();
            marks.first_draft.entry(group).or_insert(at);
            match draft.place {
                Place::Row(_, row) => {
                    let first = marks.first_origin.entry(group).or_insert(row);
                    *first = row.min(*first);
                }
                Place::Message(..) => {
                    marks.about_messages.insert(group);
                }
            }
        }
        marks
    }

    /// The ranks that a finding points at, ascending.
    pub fn loud_ranks(&self, finding: usize) -> &[u32] {
        self.loud.get(finding).map_or(&[], Vec::as_slice)
    }

    /// The findings that are about a place.
    pub fn findings_at(&self, place: Place) -> &[usize] {
        self.here.get(&place).map_or(&[], Vec::as_slice)
    }

    /// Whether one of these findings points at a rank.
    pub fn is_loud(&self, findings: &[usize], rank: u32) -> bool {
        findings.iter().any(|&finding| self.loud_ranks(finding).binary_search(&rank).is_ok())
    }

    /// Whether the sides of a finding at a place made different calls.
    pub fn is_divided(&self, place: Place) -> bool {
        self.divided.contains(&place)
    }

    /// The first finding in a group; `usize::MAX` for none.
    pub fn first_draft(&self, group: GroupIdx) -> usize {
        self.first_draft.get(&group).copied().unwrap_or(usize::MAX)
    }

    /// The oldest row of a group that a finding is about.
    pub fn first_origin(&self, group: GroupIdx) -> Option<RowIdx> {
        self.first_origin.get(&group).copied()
    }

    /// Whether a finding is about a message of a group.
    pub fn is_about_messages(&self, group: GroupIdx) -> bool {
        self.about_messages.contains(&group)
    }
}

/// The ranks that a finding points at: its suspects, or in a tie the smaller side; of equal ones that without the lowest rank, whose call
/// stands for the row.
fn loud_ranks(draft: &Draft) -> Vec<u32> {
    if !draft.suspects.is_empty() {
        return draft.suspects.clone();
    }
    if !draft.tie {
        return Vec::new();
    }
    draft.sides.iter().rev().min_by_key(|side| side.ranks.len()).map(|side| side.ranks.clone()).unwrap_or_default()
}

/// Whether the sides of a finding made different calls.
fn is_divided(draft: &Draft) -> bool {
    draft.sides.iter().filter(|side| side.entry.is_some()).count() > 1
        && !matches!(draft.kind, Kind::RankBehind | Kind::AllJoined | Kind::MissingRank)
}
