//! What the page shows: the report, the heads of the table, and one byte per cell.
//!
//! It stands outside the reactive graph: it never changes once it is there, and a signal over millions of cells would
//! cost more than it gives.

use hangscope_analyzer_core::report::{
    Band, CellCode, FindingPlace, QualityKind, RankStatus, Report, RowHead, RowHeads, TableIndex,
};

use crate::overview::pyramid::Pyramid;
use crate::overview::{Likeness, RowCodes, RowStates, TableData};

/// A place in the table: indices of a row and of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CellPlace {
    pub(crate) row: u32,
    pub(crate) column: u32,
}

/// Mark of a cell, beside those of [`CellCode`]: in a tie, not of the first side.
pub(crate) const OTHER_SIDE: u8 = 0x40;

/// One analysed job.
#[derive(Debug)]
pub(crate) struct Dataset {
    /// Name of the dropped folder, or what stands for it.
    pub(crate) title: String,
    pub(crate) report: Report,
    table: TableData,
    /// The report as the command prints it.
    pub(crate) report_text: String,
    /// Ranks of which nothing open is known because their dumps break off, ascending as the notes of one kind are.
    broken_off: Vec<u32>,
}

impl Dataset {
    pub(crate) fn new(title: String, report: Report, mut table: TableData, report_text: String) -> Self {
        let mut broken_off = Vec::new();
        // What an operation hangs in is written last: with that lost, a rank is not known to wait for nothing.
        for rank in
            report.data_quality.iter().filter(|note| note.kind == QualityKind::Truncated).filter_map(|note| note.rank)
        {
            let column = table.index.column(rank).and_then(|column| table.index.ranks.get_mut(column as usize));
            if let Some(column) = column.filter(|column| column.status == RankStatus::Ok) {
                column.status = RankStatus::Unreadable;
                broken_off.push(rank);
            }
        }
        Self { title, report, table, report_text, broken_off }
    }

    /// Whether the rank's dump breaks off, and nothing open is in what is left of it. Its status is then that of an unreadable one.
    pub(crate) fn breaks_off(&self, rank: u32) -> bool {
        self.broken_off.binary_search(&rank).is_ok()
    }

    /// Heads of bands and columns, and where the findings are.
    pub(crate) fn index(&self) -> &TableIndex {
        &self.table.index
    }

    /// Heads of all rows.
    pub(crate) fn rows(&self) -> &RowHeads {
        &self.table.index.rows
    }

    /// Whether all who could complete a row did so with equal arguments.
    pub(crate) fn agrees(&self, row: u32) -> bool {
        self.row(row).is_some_and(|head| head.agrees)
    }

    /// Which states the cells of each row have.
    pub(crate) fn states(&self) -> &RowStates {
        &self.table.states
    }

    /// Which ranks and groups look alike.
    pub(crate) fn likeness(&self) -> &Likeness {
        &self.table.likeness
    }

    /// The cells from afar.
    pub(crate) fn pyramid(&self) -> &Pyramid {
        &self.table.pyramid
    }

    #[cfg(test)]
    pub(crate) fn cells(&self) -> &[u8] {
        &self.table.cells
    }

    /// The band that holds a row.
    pub(crate) fn band_of(&self, row: u32) -> Option<(usize, &Band)> {
        let after = self.index().bands.partition_point(|band| band.first_row <= row);
        let index = after.checked_sub(1)?;
        let band = self.index().bands.get(index)?;
        (row - band.first_row < band.row_count).then_some((index, band))
    }

    /// The cells of a row.
    pub(crate) fn row_cells<'a>(&'a self, band: &Band, row: u32) -> RowCodes<'a> {
        RowCodes::of_row(self.index(), band, row, &self.table.cells)
    }

    /// The code of a cell; [`CellCode::NONE`] for a rank outside of the row's group.
    pub(crate) fn code(&self, place: CellPlace) -> CellCode {
        let code = self.band_of(place.row).and_then(|(_, band)| {
            let at = self.index().cell_at(band, place.row, place.column)?;
            self.table.cells.get(at)
        });
        code.copied().map_or(CellCode::NONE, CellCode)
    }

    pub(crate) fn row(&self, row: u32) -> Option<RowHead<'_>> {
        self.rows().get(row)
    }

    /// The global rank of a column.
    pub(crate) fn rank(&self, column: u32) -> Option<u32> {
        self.index().ranks.get(column as usize).map(|column| column.rank)
    }

    pub(crate) fn status(&self, column: u32) -> Option<RankStatus> {
        self.index().ranks.get(column as usize).map(|column| column.status)
    }

    /// The column of a global rank.
    pub(crate) fn column(&self, rank: u32) -> Option<u32> {
        self.index().column(rank)
    }

    pub(crate) fn column_count(&self) -> u32 {
        u32::try_from(self.index().ranks.len()).unwrap_or(u32::MAX)
    }

    /// Where a finding is.
    pub(crate) fn finding_place(&self, finding: usize) -> Option<&FindingPlace> {
        let id = &self.report.findings.get(finding)?.id;
        self.index().findings.iter().find(|place| place.id == *id)
    }

    /// The cell to look at first for a finding: a suspect's, else the first of the row.
    pub(crate) fn finding_cell(&self, finding: usize) -> Option<CellPlace> {
        let place = self.finding_place(finding)?;
        let row = place.row?;
        let column = place.columns.first().copied().or_else(|| self.band_of(row)?.1.columns.first().copied())?;
        Some(CellPlace { row, column })
    }

    /// The finding that points at a cell.
    pub(crate) fn finding_at(&self, place: CellPlace) -> Option<&FindingPlace> {
        self.index()
            .findings
            .iter()
            .find(|finding| finding.row == Some(place.row) && finding.columns.contains(&place.column))
    }

    /// A cell in words, for those who do not see the table.
    pub(crate) fn describe(&self, place: CellPlace) -> String {
        let (Some(row), Some((_, band)), Some(rank)) =
            (self.row(place.row), self.band_of(place.row), self.rank(place.column))
        else {
            return String::new();
        };
        let code = self.code(place);
        let mut text = format!("rank {rank}, row {} {}, {}: {}", row.number, row.op, band.label, code.name());
        if code.has(CellCode::DIFFERS) {
            text.push_str(", differs");
        }
        if let Some(finding) = self.finding_at(place) {
            text.push_str(&format!(", origin of finding {}", finding.id));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn cells_are_found_by_band() {
        let dataset = example::dataset();
        let code = |row, column| dataset.code(CellPlace { row, column });
        assert_eq!(code(0, 4), CellCode::COMPLETED);
        assert_eq!(code(0, 0), CellCode::NONE, "rank 0 is not in the first band");
        assert_eq!(code(example::ORIGIN.row, example::ORIGIN.column), CellCode::MISSING.with(CellCode::ORIGIN));
        assert_eq!(code(10_000, 0), CellCode::NONE);
        assert_eq!(dataset.band_of(9).map(|(index, _)| index), Some(0));
        assert_eq!(dataset.band_of(10).map(|(index, _)| index), Some(1));
        assert_eq!(dataset.band_of(13), None);
    }

    #[test]
    fn findings_lead_to_cells_and_back() {
        let dataset = example::dataset();
        assert_eq!(dataset.finding_cell(0), Some(example::ORIGIN));
        assert_eq!(dataset.finding_cell(1), None);
        assert_eq!(dataset.finding_at(example::ORIGIN).map(|finding| finding.id.as_str()), Some("F1"));
    }

    #[test]
    fn a_cell_in_words() {
        let dataset = example::dataset();
        assert_eq!(
            dataset.describe(example::ORIGIN),
            "rank 5, row 18 all_reduce [4096], tp[4-7]: missing, origin of finding F1"
        );
        assert_eq!(
            dataset.describe(CellPlace { row: 0, column: 4 }),
            "rank 4, row 9 all_reduce [4096], tp[4-7]: completed"
        );
        assert_eq!(dataset.describe(CellPlace { row: 99, column: 4 }), "");
    }
}
