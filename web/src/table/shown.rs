//! What the user chose to see of the table.

use std::sync::Arc;

use hangscope_analyzer_core::report::{CellCode, Contradiction, ProgramOrderView};
use hangscope_analyzer_core::tree_set::TreeSet;

use crate::dataset::Dataset;
use crate::overview::CellStates;

/// More ranks than this, and what is alike is folded from the start.
const FOLD_ABOVE_RANKS: u32 = 64;
/// More rows than this, and those that agree are folded from the start.
const FOLD_ABOVE_ROWS: usize = 40;

/// What of the table is shown, and in what order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Whether agreeing rows are folded.
    pub(crate) folded: bool,
    /// First rows of the folds that the user opened.
    pub(crate) opened: TreeSet<u32>,
    /// Whether one column stands for all ranks that are equal.
    pub(crate) ranks_folded: bool,
    /// Kinds of ranks that the user unfolded.
    pub(crate) opened_ranks: TreeSet<u32>,
    /// Whether one group stands for all that are alike.
    pub(crate) groups_folded: bool,
    /// Kinds of groups that the user unfolded.
    pub(crate) opened_groups: TreeSet<u32>,
    /// Bands that are shown though those alike are folded.
    pub(crate) single_bands: TreeSet<u32>,
    /// Bands that the user closed.
    pub(crate) closed: TreeSet<u32>,
    /// Whether the ranks to look at come first.
    pub(crate) by_status: bool,
    /// The rows of all groups in one order, in place of one group after the other.
    pub(crate) order: Option<Order>,
    pub(crate) filter: Filter,
}

/// One order over the rows of all groups. It is worked out once and shared.
#[derive(Clone, Debug)]
pub(crate) struct Order(pub(crate) Arc<ProgramOrderView>);

impl PartialEq for Order {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Order {}

impl Order {
    /// All rows that are part of a contradiction.
    pub(crate) fn contradicted(&self) -> impl Iterator<Item = u32> {
        self.0.contradictions.iter().flat_map(|found| found.rows.iter().copied())
    }

    /// The contradictions that a row is part of.
    pub(crate) fn contradictions_of(&self, row: u32) -> impl Iterator<Item = &Contradiction> {
        self.0.contradictions.iter().filter(move |found| found.rows.contains(&row))
    }
}

/// What is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// The only band to show.
    pub(crate) band: Option<u32>,
    /// Only groups whose label or description has this text.
    pub(crate) group: String,
    /// The only operation to show.
    pub(crate) op: Option<String>,
    /// Only rows that have a cell of this state.
    pub(crate) state: Option<StateFilter>,
    /// Only these ranks: `0-7,64-`.
    pub(crate) ranks: String,
    /// Only rows that were called from this place.
    pub(crate) frame: Option<FrameRows>,
}

/// The rows whose call stacks have a text.
#[derive(Clone, Debug)]
pub(crate) struct FrameRows {
    pub(crate) text: String,
    /// Ascending.
    pub(crate) rows: Arc<[u32]>,
}

impl PartialEq for FrameRows {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && Arc::ptr_eq(&self.rows, &other.rows)
    }
}

impl Eq for FrameRows {}

impl FrameRows {
    fn has(&self, row: u32) -> bool {
        self.rows.binary_search(&row).is_ok()
    }
}

/// States to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateFilter {
    /// What a finding points at.
    Origin,
    Differs,
    Missing,
    Waiting,
    NoDump,
    NotRecorded,
}

impl StateFilter {
    pub(crate) const ALL: [StateFilter; 6] = [
        StateFilter::Origin,
        StateFilter::Differs,
        StateFilter::Missing,
        StateFilter::Waiting,
        StateFilter::NoDump,
        StateFilter::NotRecorded,
    ];

    pub(crate) fn label(self) -> &'static str {
        match self {
            StateFilter::Origin => "origin",
            StateFilter::Differs => "differs",
            StateFilter::Missing => "missing",
            StateFilter::Waiting => "started or scheduled",
            StateFilter::NoDump => "no dump",
            StateFilter::NotRecorded => "not recorded",
        }
    }

    pub(crate) fn of_label(label: &str) -> Option<StateFilter> {
        StateFilter::ALL.into_iter().find(|state| state.label() == label)
    }

    fn states(self) -> CellStates {
        match self {
            StateFilter::Origin => CellStates::ORIGIN,
            StateFilter::Differs => CellStates::DIFFERS,
            StateFilter::Missing => CellStates::of(CellCode::MISSING),
            StateFilter::Waiting => CellStates::of(CellCode::STARTED).and(CellStates::of(CellCode::SCHEDULED)),
            StateFilter::NoDump => CellStates::of(CellCode::NO_DUMP),
            StateFilter::NotRecorded => CellStates::of(CellCode::UNKNOWN),
        }
    }
}

impl Shown {
    /// How a dataset is shown at first: what is many is folded.
    pub(crate) fn at_first(dataset: &Dataset) -> Self {
        let many = dataset.column_count() > FOLD_ABOVE_RANKS;
        Self {
            folded: dataset.rows().len() > FOLD_ABOVE_ROWS,
            ranks_folded: many,
            groups_folded: many,
            ..Self::default()
        }
    }

    pub(crate) fn fold_rows(&mut self, folded: bool) {
        self.folded = folded;
        self.opened = TreeSet::new();
    }

    pub(crate) fn fold_ranks(&mut self, folded: bool) {
        self.ranks_folded = folded;
        self.opened_ranks = TreeSet::new();
    }

    pub(crate) fn fold_groups(&mut self, folded: bool) {
        self.groups_folded = folded;
        self.opened_groups = TreeSet::new();
        self.single_bands = TreeSet::new();
    }

    /// Closes a band, or opens it again.
    pub(crate) fn toggle_band(&mut self, band: u32) {
        if !self.closed.remove(&band) {
            self.closed.insert(band);
        }
    }
}

impl Filter {
    /// Whether all is shown.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// A test for rows.
    pub(crate) fn rows<'a>(&'a self, dataset: &'a Dataset) -> RowFilter<'a> {
        let rows = dataset.rows();
        let ops = self
            .op
            .as_deref()
            .map(|wanted| rows.ops().iter().map(|op| crate::overview::op_name(op) == wanted).collect::<Vec<bool>>());
        RowFilter { dataset, ops, states: self.state.map(StateFilter::states), frame: self.frame.as_ref() }
    }

    /// Whether a band may be shown.
    pub(crate) fn has_band(&self, dataset: &Dataset, index: u32) -> bool {
        if self.band.is_some_and(|only| only != index) {
            return false;
        }
        let wanted = self.group.trim().to_ascii_lowercase();
        let band = dataset.index().bands.get(index as usize);
        wanted.is_empty()
            || band.is_some_and(|band| {
                [&band.label, &band.desc].iter().any(|text| text.to_ascii_lowercase().contains(&wanted))
            })
    }
}

/// Which rows are shown.
pub(crate) struct RowFilter<'a> {
    dataset: &'a Dataset,
    ops: Option<Vec<bool>>,
    states: Option<CellStates>,
    frame: Option<&'a FrameRows>,
}

impl RowFilter<'_> {
    /// Whether all rows are shown.
    pub(crate) fn is_empty(&self) -> bool {
        self.ops.is_none() && self.states.is_none() && self.frame.is_none()
    }

    pub(crate) fn has(&self, row: u32) -> bool {
        let rows = self.dataset.rows();
        let op = |ops: &Vec<bool>| rows.op_of(row).is_some_and(|op| ops.get(op as usize).copied().unwrap_or(false));
        self.ops.as_ref().is_none_or(op)
            && self.states.is_none_or(|states| self.dataset.states().get(row).meets(states))
            && self.frame.is_none_or(|frame| frame.has(row))
    }
}

/// Ranks as people write them: `0-7,64-`. Nothing stands for all; `None` if it cannot be understood.
pub(crate) fn parse_ranks(text: &str) -> Option<Vec<(u32, u32)>> {
    let number = |text: &str, open: u32| {
        let text = text.trim();
        if text.is_empty() { Some(open) } else { text.parse().ok() }
    };
    let parts = text.split([',', ' ', ';']).map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| match part.split_once('-') {
            Some(("", "")) => None,
            Some((first, last)) => {
                let (first, last) = (number(first, 0)?, number(last, u32::MAX)?);
                (first <= last).then_some((first, last))
            }
            None => part.parse().ok().map(|rank| (rank, rank)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn ranks_as_people_write_them() {
        assert_eq!(parse_ranks("0-7,64-"), Some(vec![(0, 7), (64, u32::MAX)]));
        assert_eq!(parse_ranks(" 3, -2 5"), Some(vec![(3, 3), (0, 2), (5, 5)]));
        assert_eq!(parse_ranks(""), Some(vec![]));
        for bad in ["x", "1-2-3", "-", "7-3", "1,,a", "4294967296"] {
            assert_eq!(parse_ranks(bad), None, "{bad}");
        }
    }

    #[test]
    fn folds_where_there_is_much() {
        let few = Shown::at_first(&example::dataset());
        assert_eq!((few.folded, few.ranks_folded, few.groups_folded), (false, false, false));
        let many = Shown::at_first(&example::mesh(128, 8, 19).dataset());
        assert_eq!((many.folded, many.ranks_folded, many.groups_folded), (true, true, true));
    }

    #[test]
    fn rows_by_state_op_and_frame() {
        let dataset = example::dataset();
        let rows = |filter: &Filter| (0..13).filter(|row| filter.rows(&dataset).has(*row)).collect::<Vec<u32>>();
        assert_eq!(rows(&Filter { state: Some(StateFilter::Missing), ..Filter::default() }), [9, 12]);
        assert_eq!(rows(&Filter { state: Some(StateFilter::Origin), ..Filter::default() }), [9]);
        assert_eq!(rows(&Filter { state: Some(StateFilter::Waiting), ..Filter::default() }), [9, 12]);
        assert_eq!(rows(&Filter { op: Some("barrier".to_owned()), ..Filter::default() }), [0_u32; 0]);
        let frame = FrameRows { text: "attn".to_owned(), rows: vec![1, 12].into() };
        assert_eq!(rows(&Filter { frame: Some(frame), ..Filter::default() }), [1, 12]);
        assert!(Filter::default().rows(&dataset).is_empty());
    }

    #[test]
    fn groups_by_text() {
        let dataset = example::dataset();
        let has = |group: &str, band| Filter { group: group.to_owned(), ..Filter::default() }.has_band(&dataset, band);
        assert!(has("TP[", 0) && !has("tp[", 1));
        assert!(has(" mesh ", 0) && has("", 1));
    }

    #[test]
    fn every_state_filter_is_found_by_its_label() {
        for state in StateFilter::ALL {
            assert_eq!(StateFilter::of_label(state.label()), Some(state));
        }
    }
}
