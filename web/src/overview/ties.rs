//! In a tie no side is the odd one: both differ from each other, each with its own mark.

use hangscope_analyzer_core::report::{CellCode, Report, TableIndex, ranks_in};

use crate::dataset::OTHER_SIDE;

/// Marks the cells of both sides of each tie.
pub(crate) fn mark(report: &Report, index: &TableIndex, cells: &mut [u8]) {
    for finding in report.findings.iter().filter(|finding| finding.tie) {
        let place = index.findings.iter().find(|place| place.id == finding.id);
        let Some(row) = place.and_then(|place| place.row) else { continue };
        let band =
            index.bands.iter().find(|band| row.checked_sub(band.first_row).is_some_and(|at| at < band.row_count));
        let Some(band) = band else { continue };
        for (side, ranks) in finding.sides.iter().enumerate() {
            let marks = CellCode::DIFFERS | if side == 0 { 0 } else { OTHER_SIDE };
            for rank in ranks_in(&ranks.ranks) {
                let Some(code) = index
                    .column(rank)
                    .and_then(|column| index.cell_at(band, row, column))
                    .and_then(|at| cells.get_mut(at))
                else {
                    continue;
                };
                if matches!(CellCode(*code).state(), CellCode::STARTED | CellCode::SCHEDULED | CellCode::COMPLETED) {
                    *code |= marks;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn both_sides_of_a_tie_are_marked() {
        let mut report = example::report();
        report.findings[0].tie = true;
        report.findings[0].sides = vec![example::side("4,6"), example::side("7")];
        let mut cells = example::cells();
        mark(&report, &example::index(), &mut cells);
        let row: Vec<CellCode> = cells[9 * 4..10 * 4].iter().copied().map(CellCode).collect();
        assert_eq!(row[0], CellCode::STARTED.with(CellCode::DIFFERS));
        assert_eq!(row[1], CellCode::MISSING.with(CellCode::ORIGIN), "who issued nothing has no side");
        assert_eq!(row[3], CellCode::STARTED.with(CellCode::DIFFERS | OTHER_SIDE));
    }
}
