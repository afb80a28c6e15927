//! Moving from cell to cell by the keyboard.

use hangscope_analyzer_core::report::CellCode;

use crate::dataset::{CellPlace, Dataset};
use crate::table::layout::TableLayout;

/// A move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Left,
    Right,
    RowStart,
    RowEnd,
    /// That many lines down, or up if negative.
    Lines(i64),
    Top,
    Bottom,
}

impl Step {
    /// The move that a key asks for.
    pub(crate) fn of_key(key: &str, control: bool, page_lines: i64) -> Option<Step> {
        Some(match key {
            "ArrowLeft" => Step::Left,
            "ArrowRight" => Step::Right,
            "ArrowUp" => Step::Lines(-1),
            "ArrowDown" => Step::Lines(1),
            "PageUp" => Step::Lines(-page_lines),
            "PageDown" => Step::Lines(page_lines),
            "Home" if control => Step::Top,
            "End" if control => Step::Bottom,
            "Home" => Step::RowStart,
            "End" => Step::RowEnd,
            _ => return None,
        })
    }

    /// Whether the column that the user wants to stay in changes.
    pub(crate) fn is_sideways(self) -> bool {
        matches!(self, Step::Left | Step::Right | Step::RowStart | Step::RowEnd)
    }
}

/// Where a move leads. Up and down keep to the `wanted` column where its rank has a cell.
pub(crate) fn moved(
    dataset: &Dataset,
    layout: &TableLayout,
    from: CellPlace,
    wanted: u32,
    step: Step,
) -> Option<CellPlace> {
    if step.is_sideways() {
        let cells = cells_of_row(dataset, from.row);
        let column = match step {
            Step::Left => cells.iter().rev().find(|column| **column < from.column),
            Step::Right => cells.iter().find(|column| **column > from.column),
            Step::RowStart => cells.first(),
            _ => cells.last(),
        };
        return Some(CellPlace { row: from.row, column: *column? });
    }
    let last_line = layout.line_count().checked_sub(1)?;
    let line = layout.line_of(from.row).unwrap_or(0);
    let row = match step {
        Step::Top => layout.row_from(0, true),
        Step::Bottom => layout.row_from(last_line, false),
        Step::Lines(lines) => {
            let target = line as i64 + lines;
            let (target, down) = (usize::try_from(target.max(0)).unwrap_or(0).min(last_line), lines > 0);
            // Heads and folds are passed over; at an end, the move goes as far as there are rows.
            layout.row_from(target, down).or_else(|| layout.row_from(target, !down))
        }
        _ => None,
    };
    nearest_cell(dataset, row?, wanted)
}

/// The cell of a row that is nearest to a column.
pub(crate) fn nearest_cell(dataset: &Dataset, row: u32, column: u32) -> Option<CellPlace> {
    let column = cells_of_row(dataset, row).into_iter().min_by_key(|candidate| candidate.abs_diff(column))?;
    Some(CellPlace { row, column })
}

fn cells_of_row(dataset: &Dataset, row: u32) -> Vec<u32> {
    let Some((_, band)) = dataset.band_of(row) else { return Vec::new() };
    let cells = band.columns.iter().zip(dataset.row_cells(band, row));
    cells.filter(|(_, code)| CellCode(**code).state() != CellCode::NONE).map(|(column, _)| *column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::table::layout::Shown;
    use crate::table::zoom::Zoom;

    fn check(shown: &Shown, (row, column): (u32, u32), wanted: u32, step: Step, expected: Option<(u32, u32)>) {
        let dataset = example::dataset();
        let layout = TableLayout::new(&dataset, shown, Zoom::default());
        let place = moved(&dataset, &layout, CellPlace { row, column }, wanted, step);
        assert_eq!(place.map(|place| (place.row, place.column)), expected, "{step:?} from {row}, {column}");
    }

    #[test]
    fn within_a_row() {
        let all = Shown::default();
        check(&all, (0, 5), 5, Step::Left, Some((0, 4)));
        check(&all, (0, 4), 4, Step::Left, None);
        check(&all, (0, 7), 7, Step::Right, None);
        check(&all, (0, 6), 6, Step::RowStart, Some((0, 4)));
        check(&all, (10, 6), 6, Step::RowEnd, Some((10, 7)));
    }

    #[test]
    fn from_row_to_row() {
        let all = Shown::default();
        check(&all, (9, 5), 5, Step::Lines(1), Some((10, 5)));
        check(&all, (10, 5), 5, Step::Lines(-1), Some((9, 5)));
        check(&all, (10, 0), 0, Step::Lines(-1), Some((9, 4)));
        check(&all, (9, 4), 0, Step::Lines(1), Some((10, 0)));
        check(&all, (0, 4), 4, Step::Lines(-1), Some((0, 4)));
        check(&all, (5, 4), 4, Step::Lines(100), Some((12, 4)));
        check(&all, (12, 4), 4, Step::Lines(1), Some((12, 4)));
        check(&all, (5, 4), 4, Step::Bottom, Some((12, 4)));
        check(&all, (12, 1), 1, Step::Top, Some((0, 4)));
    }

    #[test]
    fn over_closed_bands() {
        let closed = Shown { closed: [0].into(), ..Shown::default() };
        check(&closed, (10, 5), 5, Step::Lines(-1), Some((10, 5)));
        let everything_closed = Shown { closed: [0, 1].into(), ..Shown::default() };
        check(&everything_closed, (10, 5), 5, Step::Lines(1), None);
    }

    #[test]
    fn keys() {
        assert_eq!(Step::of_key("PageDown", false, 20), Some(Step::Lines(20)));
        assert_eq!(Step::of_key("Home", true, 20), Some(Step::Top));
        assert_eq!(Step::of_key("Home", false, 20), Some(Step::RowStart));
        assert_eq!(Step::of_key("x", false, 20), None);
    }
}
