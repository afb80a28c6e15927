//! Moving from cell to cell by the keyboard.

use hangscope_analyzer_core::report::CellCode;
use hangscope_analyzer_core::small_sort::SmallSort as _;

use crate::dataset::{CellPlace, Dataset};
use crate::overview::severity::is_worse;
use crate::table::layout::{Line, TableLayout};

/// A move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Left,
    Right,
    /// To the next cell of another state, to the left or to the right.
    OtherLeft,
    OtherRight,
    RowStart,
    RowEnd,
    /// That many lines down, or up if negative.
    Lines(i64),
    /// To the next row that does not agree, down or up.
    Odd(bool),
    Top,
    Bottom,
}

impl Step {
    /// The move that a key asks for.
    pub(crate) fn of_key(key: &str, control: bool, page_lines: i64) -> Option<Step> {
        Some(match key {
            "ArrowLeft" if control => Step::OtherLeft,
            "ArrowRight" if control => Step::OtherRight,
            "ArrowUp" if control => Step::Odd(false),
            "ArrowDown" if control => Step::Odd(true),
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
        matches!(self, Step::Left | Step::Right | Step::OtherLeft | Step::OtherRight | Step::RowStart | Step::RowEnd)
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
        let cells = cells_of_row(dataset, layout, from.row);
        let here = layout.columns.slot_of(from.column);
        let before = cells.iter().rev().filter(|cell| here.is_none_or(|here| cell.slot < here));
        let after = cells.iter().filter(|cell| here.is_none_or(|here| cell.slot > here));
        let code = cells.iter().find(|cell| Some(cell.slot) == here).map_or(0, |cell| cell.code);
        let is_other = |cell: &&RowCell| cell.code != code;
        let mut before = before.peekable();
        let mut after = after.peekable();
        let column = match step {
            Step::Left => before.next(),
            Step::Right => after.next(),
            Step::OtherLeft => before.find(is_other),
            Step::OtherRight => after.find(is_other),
            Step::RowStart => cells.first(),
            _ => cells.last(),
        };
        return Some(CellPlace { row: from.row, column: column?.column });
    }
    let last_line = layout.line_count().checked_sub(1)?;
    let line = layout.line_of(from.row).unwrap_or(0);
    let row = match step {
        Step::Top => layout.stop_from(dataset, 0, true),
        Step::Bottom => layout.stop_from(dataset, last_line, false),
        Step::Lines(lines) => {
            let target = line as i64 + lines;
            let (target, down) = (usize::try_from(target.max(0)).unwrap_or(0).min(last_line), lines > 0);
            // Open heads are passed over; at an end, the move goes as far as there are rows.
            layout.stop_from(dataset, target, down).or_else(|| layout.stop_from(dataset, target, !down))
        }
        Step::Odd(down) => odd_row(dataset, layout, line, down),
        _ => None,
    };
    nearest_cell(dataset, layout, row?, wanted)
}

/// The next row that does not agree.
fn odd_row(dataset: &Dataset, layout: &TableLayout, line: usize, down: bool) -> Option<u32> {
    let odd = |line: usize| match layout.line(line) {
        Some(Line::Row(row)) if !dataset.agrees(row) => Some(row),
        _ => None,
    };
    if down { (line + 1..layout.line_count()).find_map(odd) } else { (0..line).rev().find_map(odd) }
}

/// The cell of a row that is nearest to a column, as the columns are shown.
pub(crate) fn nearest_cell(dataset: &Dataset, layout: &TableLayout, row: u32, column: u32) -> Option<CellPlace> {
    let here = layout.columns.slot_of(column);
    let distance = |cell: &RowCell| here.map_or(cell.column.abs_diff(column), |here| cell.slot.abs_diff(here));
    let cells = cells_of_row(dataset, layout, row);
    let nearest = cells.iter().min_by_key(|cell| distance(cell))?;
    // A rank that shares the column with others stays itself.
    let has_cell = |column: u32| dataset.code(CellPlace { row, column }).state() != CellCode::NONE;
    let column = if Some(nearest.slot) == here && has_cell(column) { column } else { nearest.column };
    Some(CellPlace { row, column })
}

/// A cell as it is shown: of several in one slot the worst.
struct RowCell {
    slot: u32,
    column: u32,
    code: u8,
}

/// The cells of a row, from left to right.
fn cells_of_row(dataset: &Dataset, layout: &TableLayout, row: u32) -> Vec<RowCell> {
    let Some((_, band)) = dataset.band_of(row) else { return Vec::new() };
    let mut cells: Vec<RowCell> = Vec::new();
    dataset.row_cells(band, row).for_each(&mut |position, code| {
        let column = band.columns.get(position).copied().filter(|_| CellCode(code).state() != CellCode::NONE);
        let shown = column.and_then(|column| Some((layout.columns.slot_of(column)?, column)));
        cells.extend(shown.map(|(slot, column)| RowCell { slot, column, code }));
    });
    // Of equals the first column stands for its slot.
    cells.sort_small_by_key(|cell| (cell.slot, cell.column));
    cells.dedup_by(|next, kept| {
        let is_same = next.slot == kept.slot;
        if is_same && is_worse(next.code, kept.code) {
            std::mem::swap(next, kept);
        }
        is_same
    });
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::table::shown::Shown;
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
        check(&all, (9, 4), 4, Step::OtherRight, Some((9, 5)));
        check(&all, (12, 7), 7, Step::OtherLeft, Some((12, 3)));
        check(&all, (12, 0), 0, Step::OtherLeft, None);
    }

    #[test]
    fn columns_by_status_are_gone_along_as_they_are_shown() {
        let by_status = Shown { by_status: true, ..Shown::default() };
        check(&by_status, (12, 5), 5, Step::Right, Some((12, 4)));
        check(&by_status, (12, 0), 0, Step::Left, Some((12, 7)));
        check(&by_status, (12, 3), 3, Step::RowStart, Some((12, 5)));
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
        check(&all, (0, 4), 4, Step::Odd(true), Some((9, 4)));
        check(&all, (9, 4), 4, Step::Odd(true), Some((12, 4)));
        check(&all, (9, 4), 4, Step::Odd(false), None);
    }

    #[test]
    fn folds_and_closed_bands_can_be_stepped_on() {
        let closed = Shown { closed: [0].into(), ..Shown::default() };
        check(&closed, (10, 5), 5, Step::Lines(-1), Some((0, 5)));
        check(&closed, (0, 5), 5, Step::Lines(1), Some((10, 5)));
        let dataset = example::mesh(128, 8, 19).dataset();
        let layout = TableLayout::new(&dataset, &Shown::at_first(&dataset), Zoom::default());
        let mut place = moved(&dataset, &layout, CellPlace { row: 0, column: 0 }, 0, Step::Top).unwrap();
        let mut lines = vec![layout.line_of(place.row).unwrap()];
        while let Some(next) = moved(&dataset, &layout, place, 0, Step::Lines(1)).filter(|next| *next != place) {
            place = next;
            lines.push(layout.line_of(place.row).unwrap());
        }
        let stops: Vec<usize> =
            (0..layout.line_count()).filter(|line| !matches!(layout.line(*line), Some(Line::Head(_)))).collect();
        assert_eq!(lines, stops, "every line but the heads of open bands");
    }

    #[test]
    fn a_rank_that_is_folded_stays_itself() {
        let dataset = example::mesh(128, 8, 19).dataset();
        let layout = TableLayout::new(&dataset, &Shown::at_first(&dataset), Zoom::default());
        let world = dataset.index().bands.last().unwrap();
        let place = nearest_cell(&dataset, &layout, world.first_row, 120);
        assert_eq!(place, Some(CellPlace { row: world.first_row, column: 120 }));
    }

    #[test]
    fn keys() {
        assert_eq!(Step::of_key("PageDown", false, 20), Some(Step::Lines(20)));
        assert_eq!(Step::of_key("Home", true, 20), Some(Step::Top));
        assert_eq!(Step::of_key("Home", false, 20), Some(Step::RowStart));
        assert_eq!(Step::of_key("ArrowRight", true, 20), Some(Step::OtherRight));
        assert_eq!(Step::of_key("x", false, 20), None);
    }
}
