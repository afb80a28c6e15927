//! A place of the table in words, as it is shown: a fold says that it is one.

use hangscope_analyzer_core::report::ranges;

use crate::dataset::{CellPlace, Dataset};
use crate::rank_status;
use crate::table::layout::{Line, TableLayout};
use crate::text;

/// What stands where the cell is: the cell, or what stands for it.
pub(crate) fn place(dataset: &Dataset, layout: &TableLayout, place: CellPlace) -> String {
    let band = |index: u32| dataset.index().bands.get(index as usize).map_or("", |band| band.label.as_str());
    match layout.line_of(place.row).and_then(|line| layout.line(line)) {
        Some(Line::Fold(first, count)) => {
            let label = dataset.band_of(first).map_or("", |(_, band)| band.label.as_str());
            format!("{} of {label} agree, folded. Enter unfolds them", text::counted(count.into(), "row"))
        }
        Some(Line::Alike(first, count)) => {
            format!(
                "{} alike, {} and so on, folded. Enter unfolds them",
                text::counted(count.into(), "group"),
                band(first)
            )
        }
        Some(Line::Head(index)) => format!("{}, closed. Enter opens it", band(index)),
        _ => {
            let equal = layout.columns.slot_of(place.column).and_then(|slot| layout.columns.slot(slot));
            match equal.filter(|slot| slot.count > 1) {
                Some(slot) => {
                    let others = text::counted((slot.count - 1).into(), "equal rank");
                    format!("{}; stands for {others} too", dataset.describe(place))
                }
                None => dataset.describe(place),
            }
        }
    }
}

/// The ranks that a column stands for: `rank 5`, `9,998 equal ranks: 0-3,5-…`.
pub(crate) fn column(dataset: &Dataset, layout: &TableLayout, slot: u32) -> String {
    let columns = layout.columns.columns_of(slot);
    match columns.as_slice() {
        [only] => rank_status::describe(dataset, *only),
        columns => {
            let ranks = columns.iter().filter_map(|column| dataset.rank(*column));
            let count = text::counted(columns.len() as u64, "equal rank");
            format!("{count}: {}. Click to unfold", rank_status::short(&ranges(ranks)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::table::shown::Shown;
    use crate::table::zoom::Zoom;

    #[test]
    fn a_fold_says_what_it_stands_for() {
        let dataset = example::mesh(128, 8, 19).dataset();
        let shown = Shown { closed: [2].into(), ..Shown::at_first(&dataset) };
        let layout = TableLayout::new(&dataset, &shown, Zoom::default());
        let first_row = |band: usize| dataset.index().bands[band].first_row;
        let said = |row, column| place(&dataset, &layout, CellPlace { row, column });
        assert_eq!(said(first_row(0), 0), "18 rows of tp0 agree, folded. Enter unfolds them");
        assert_eq!(said(first_row(5), 40), "14 groups alike, tp1 and so on, folded. Enter unfolds them");
        assert_eq!(said(first_row(2), 19), "tp2, closed. Enter opens it");
        assert_eq!(
            said(first_row(0) + 20, 0),
            "rank 0, row 21 all_reduce [3], tp0: completed; stands for 104 equal ranks too"
        );
        assert_eq!(said(first_row(24) + 20, 19), "rank 19, row 21 all_reduce [3], world: not issued");
        let slot = layout.columns.slot_of(0).unwrap();
        assert_eq!(
            column(&dataset, &layout, slot),
            "105 equal ranks: 0-2,4-10,12-15,24-26,28-34,36-42,44-50,52-58,60-66,68-74,…. Click to unfold"
        );
        assert_eq!(column(&dataset, &layout, layout.columns.slot_of(19).unwrap()), "rank 19: suspect");
    }
}
