//! What the user must be shown so that a cell can be seen.

use crate::dataset::{CellPlace, Dataset};
use crate::table::layout::{Line, TableLayout};
use crate::table::shown::Shown;
use crate::table::zoom::Zoom;

/// What must be shown for a cell to be in the table.
pub(crate) fn uncovered(dataset: &Dataset, shown: &Shown, zoom: Zoom, place: CellPlace) -> Shown {
    /// Filter, band, groups that are alike, rows that agree.
    const COVERS: usize = 4;
    let mut uncovered = shown.clone();
    for _ in 0..COVERS {
        let layout = TableLayout::new(dataset, &uncovered, zoom);
        let band = dataset.band_of(place.row).map_or(u32::MAX, |(band, _)| band as u32);
        match layout.line_of(place.row).and_then(|line| layout.line(line)) {
            Some(Line::Row(_)) if layout.columns.slot_of(place.column).is_some() => return uncovered,
            Some(Line::Row(_)) => uncovered.filter.ranks.clear(),
            Some(Line::Fold(first, _)) => {
                uncovered.opened.insert(first);
            }
            Some(Line::Alike(..)) => {
                // The one before it folds again, or they would become many.
                uncovered.single_bands = [band].into_iter().collect();
            }
            Some(Line::Head(_)) => {
                uncovered.closed.remove(&band);
            }
            None if uncovered.filter.is_empty() => return shown.clone(),
            None => uncovered.filter = Default::default(),
        }
    }
    uncovered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::table::shown::Filter;

    #[test]
    fn a_hidden_row_is_uncovered() {
        let dataset = example::dataset();
        let check = |shown: Shown, row, expected: Shown| {
            let place = CellPlace { row, column: 5 };
            assert_eq!(uncovered(&dataset, &shown, Zoom::default(), place), expected);
        };
        let filtered = |filter| Shown { filter, ..Shown::default() };
        check(Shown::default(), 3, Shown::default());
        check(Shown { closed: [0, 1].into(), ..Shown::default() }, 3, Shown { closed: [1].into(), ..Shown::default() });
        check(filtered(Filter { band: Some(1), ..Filter::default() }), 3, Shown::default());
        check(filtered(Filter { op: Some("barrier".to_owned()), ..Filter::default() }), 3, Shown::default());
        check(filtered(Filter { ranks: "4".to_owned(), ..Filter::default() }), 3, Shown::default());
        check(Shown::default(), 1000, Shown::default());
    }

    #[test]
    fn a_folded_group_is_shown_by_itself() {
        let dataset = example::mesh(128, 8, 19).dataset();
        let shown = Shown::at_first(&dataset);
        let first_row = dataset.index().bands[7].first_row;
        let found = uncovered(&dataset, &shown, Zoom::default(), CellPlace { row: first_row + 20, column: 57 });
        assert_eq!(found, Shown { single_bands: [7].into(), ..shown.clone() });
        let found = uncovered(&dataset, &shown, Zoom::default(), CellPlace { row: first_row, column: 57 });
        assert_eq!(found, Shown { single_bands: [7].into(), opened: [first_row].into(), ..shown });
    }
}
