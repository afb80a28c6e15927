//! Which columns the table has, from left to right. One may stand for many ranks that are equal.

use std::collections::HashMap;

use crate::dataset::Dataset;
use crate::rank_status::urgency;
use crate::table::shown::{Shown, parse_ranks};
use crate::table::zoom::Zoom;
use hangscope_analyzer_core::small_sort::SmallSort as _;

/// Fewer equal ranks are not worth folding.
const LEAST_EQUAL: usize = 16;
/// A column that stands for many is as wide as its count, where cells are large enough to read.
const FOLDED_WIDTH: f64 = 56.0;
/// Mark of a column of the dataset that is not shown.
const HIDDEN: u32 = u32::MAX;

/// A column as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The column of the dataset, or the first of those that are folded.
    pub(crate) column: u32,
    /// How many columns of the dataset it stands for.
    pub(crate) count: u32,
}

/// The columns in the order in which they are shown.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Columns {
    slots: Vec<Slot>,
    /// For each column of the dataset, where it is shown.
    slot_of: Vec<u32>,
    /// For each slot, how many slots to the left of it stand for many; empty where none does.
    wide_before: Vec<u32>,
    /// Whether every rank has a column of its own, in order.
    pub(crate) is_plain: bool,
}

impl Columns {
    /// `bands` are those that are shown.
    pub(crate) fn new(dataset: &Dataset, shown: &Shown, bands: &[u32]) -> Self {
        let count = dataset.column_count();
        let mut columns: Vec<u32> = visible(dataset, shown);
        if shown.by_status {
            // Stable: ranks of one status stay in their order.
            columns.sort_small_by_key(|column| std::cmp::Reverse(dataset.status(*column).map_or(0, urgency)));
        }
        let mut kinds: HashMap<u32, Vec<u32>> = HashMap::new();
        if shown.ranks_folded {
            let has_cell = in_bands(dataset, bands);
            columns.retain(|column| has_cell.get(*column as usize).copied().unwrap_or(false));
            for column in &columns {
                if let Some(kind) = dataset.likeness().ranks.get(*column as usize) {
                    kinds.entry(*kind).or_default().push(*column);
                }
            }
            kinds.retain(|kind, of_kind| of_kind.len() >= LEAST_EQUAL && !shown.opened_ranks.contains(kind));
        }
        let mut found = Self { slot_of: vec![HIDDEN; count as usize], ..Self::default() };
        for column in columns {
            let kind = dataset.likeness().ranks.get(column as usize);
            match kind.and_then(|kind| kinds.get(kind)) {
                None => found.push(&[column]),
                Some(equal) if equal.first() == Some(&column) => found.push(equal),
                Some(_) => {}
            }
        }
        let is_plain = |(at, slot): (u32, &Slot)| slot.column == at && slot.count == 1;
        found.is_plain = found.slots.len() == count as usize && (0..).zip(&found.slots).all(is_plain);
        if found.slots.iter().any(|slot| slot.count > 1) {
            let wide = found.slots.iter().map(|slot| u32::from(slot.count > 1));
            found.wide_before = wide.scan(0, |sum, wide| Some(std::mem::replace(sum, *sum + wide))).collect();
        }
        found
    }

    fn push(&mut self, columns: &[u32]) {
        let Some(first) = columns.first() else { return };
        let slot = self.slots.len() as u32;
        self.slots.push(Slot { column: *first, count: columns.len() as u32 });
        for column in columns {
            if let Some(of_column) = self.slot_of.get_mut(*column as usize) {
                *of_column = slot;
            }
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.slots.len() as u32
    }

    pub(crate) fn slot(&self, slot: u32) -> Option<Slot> {
        self.slots.get(slot as usize).copied()
    }

    /// Where a column of the dataset is shown.
    pub(crate) fn slot_of(&self, column: u32) -> Option<u32> {
        self.slot_of.get(column as usize).copied().filter(|slot| *slot != HIDDEN)
    }

    /// The columns of the dataset that a slot stands for.
    pub(crate) fn columns_of(&self, slot: u32) -> Vec<u32> {
        match self.slot(slot) {
            Some(Slot { column, count: 1 }) => vec![column],
            Some(_) => (0..).zip(&self.slot_of).filter(|(_, of)| **of == slot).map(|(column, _)| column).collect(),
            None => Vec::new(),
        }
    }

    /// Left edge of a slot, or of the end.
    pub(crate) fn x(&self, slot: u32, zoom: Zoom) -> f64 {
        let wide = match self.wide_before.get(slot as usize) {
            Some(wide) => *wide,
            // Behind the last.
            None => self.wide_before.last().map_or(0, |wide| wide + u32::from(self.is_folded(self.len() - 1))),
        };
        f64::from(slot) * zoom.cell_width() + f64::from(wide) * extra(zoom)
    }

    fn is_folded(&self, slot: u32) -> bool {
        self.slot(slot).is_some_and(|slot| slot.count > 1)
    }

    /// Width of a slot, the gap included.
    pub(crate) fn slot_width(&self, slot: u32, zoom: Zoom) -> f64 {
        zoom.cell_width() + if self.is_folded(slot) { extra(zoom) } else { 0.0 }
    }

    /// Width of all.
    pub(crate) fn width(&self, zoom: Zoom) -> f64 {
        self.x(self.len(), zoom)
    }

    /// The slots from `left` to `right`, those that are cut included.
    pub(crate) fn between(&self, left: f64, right: f64, zoom: Zoom) -> std::ops::Range<u32> {
        let (first, end) = if self.wide_before.is_empty() || extra(zoom) == 0.0 {
            let slot = |x: f64| (x / zoom.cell_width()).max(0.0);
            (slot(left).floor() as u32, slot(right).ceil() as u32)
        } else {
            // Few enough slots that a search by halves is quick.
            (self.before(left, zoom).saturating_sub(1), self.before(right, zoom))
        };
        let end = end.min(self.len());
        first.min(end)..end
    }

    /// How many slots begin at `x` or to the left of it.
    fn before(&self, x: f64, zoom: Zoom) -> u32 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.x(middle, zoom) <= x {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The slot at `x`.
    pub(crate) fn at(&self, x: f64, zoom: Zoom) -> Option<u32> {
        (x >= 0.0 && x < self.width(zoom)).then(|| self.between(x, x + 0.001, zoom).start)
    }
}

/// How much wider a column that stands for many is.
fn extra(zoom: Zoom) -> f64 {
    if zoom.is_picture() { 0.0 } else { (FOLDED_WIDTH - zoom.cell_width()).max(0.0) }
}

/// The columns whose ranks the filter lets through.
fn visible(dataset: &Dataset, shown: &Shown) -> Vec<u32> {
    let wanted = parse_ranks(&shown.filter.ranks).unwrap_or_default();
    let all = 0..dataset.column_count();
    if wanted.is_empty() {
        return all.collect();
    }
    let is_wanted = |rank: u32| wanted.iter().any(|(first, last)| (*first..=*last).contains(&rank));
    all.filter(|column| dataset.rank(*column).is_some_and(is_wanted)).collect()
}

/// For each column, whether its rank is in one of the bands.
fn in_bands(dataset: &Dataset, bands: &[u32]) -> Vec<bool> {
    let mut found = vec![false; dataset.column_count() as usize];
    for band in bands.iter().filter_map(|band| dataset.index().bands.get(*band as usize)) {
        for column in &band.columns {
            if let Some(found) = found.get_mut(*column as usize) {
                *found = true;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::table::shown::Filter;

    fn mesh() -> Dataset {
        example::mesh(128, 8, 19).dataset()
    }

    fn columns(dataset: &Dataset, shown: &Shown) -> Columns {
        let bands: Vec<u32> = (0..dataset.index().bands.len() as u32).collect();
        Columns::new(dataset, shown, &bands)
    }

    fn ranks(columns: &Columns) -> Vec<(u32, u32)> {
        columns.slots.iter().map(|slot| (slot.column, slot.count)).collect()
    }

    #[test]
    fn every_rank_by_itself_in_order() {
        let found = columns(&example::dataset(), &Shown::default());
        assert!(found.is_plain);
        assert_eq!(ranks(&found), (0..8).map(|rank| (rank, 1)).collect::<Vec<_>>());
        let zoom = Zoom::default();
        assert_eq!((found.width(zoom), found.x(3, zoom)), (128.0, 48.0));
        assert_eq!((found.at(47.9, zoom), found.at(48.0, zoom), found.at(128.0, zoom)), (Some(2), Some(3), None));
        assert_eq!(found.between(10.0, 33.0, zoom), 0..3);
        assert_eq!(found.between(500.0, 600.0, zoom), 8..8);
    }

    #[test]
    fn one_column_stands_for_all_that_are_equal() {
        let dataset = mesh();
        let found = columns(&dataset, &Shown { ranks_folded: true, ..Shown::default() });
        // The rest; of dp[3] 15 others, which are too few; those beside rank 19.
        let (folded, single): (Vec<Slot>, Vec<Slot>) = found.slots.iter().copied().partition(|slot| slot.count > 1);
        assert_eq!(folded, [Slot { column: 0, count: 128 - 1 - 7 - 15 }]);
        assert_eq!(single.len(), 1 + 7 + 15);
        assert_eq!((found.slot_of(0), found.slot_of(127)), (Some(0), Some(0)));
        assert_eq!(found.columns_of(0).len(), 105);
        let zoom = Zoom::default();
        assert_eq!((found.x(1, zoom), found.x(2, zoom)), (56.0, 72.0));
        assert_eq!(found.width(zoom), 56.0 + 23.0 * 16.0);
        assert_eq!((found.at(55.9, zoom), found.at(56.1, zoom)), (Some(0), Some(1)));
        assert_eq!(found.between(0.0, 1e6, zoom), 0..24);
        let small = (0..4).fold(zoom, |zoom, _| zoom.farther());
        assert_eq!(found.x(1, small), small.cell_width(), "no wider where nothing can be read");

        let kind = dataset.likeness().ranks[0];
        let opened = Shown { ranks_folded: true, opened_ranks: [kind].into(), ..Shown::default() };
        assert!(columns(&dataset, &opened).is_plain);
    }

    #[test]
    fn the_ranks_to_look_at_come_first() {
        let found = columns(&mesh(), &Shown { by_status: true, ..Shown::default() });
        assert_eq!(ranks(&found)[..3], [(19, 1), (0, 1), (1, 1)]);
        assert!(!found.is_plain);
        assert_eq!((found.slot_of(19), found.slot_of(20)), (Some(0), Some(20)));
    }

    #[test]
    fn filters_leave_ranks_out() {
        let dataset = mesh();
        let only = |text: &str| Filter { ranks: text.to_owned(), ..Filter::default() };
        let found = columns(&dataset, &Shown { filter: only("2-3,126-"), ..Shown::default() });
        assert_eq!(ranks(&found), [(2, 1), (3, 1), (126, 1), (127, 1)]);
        assert_eq!(found.slot_of(5), None);
        assert!(columns(&dataset, &Shown { filter: only("nonsense"), ..Shown::default() }).is_plain);
        let folded = Shown { ranks_folded: true, ..Shown::default() };
        let found = Columns::new(&dataset, &folded, &[2]);
        assert_eq!(ranks(&found), (16..24).map(|rank| (rank, 1)).collect::<Vec<_>>(), "the ranks of one group");
    }
}
