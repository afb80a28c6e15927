//! Which states the cells of each row have, so that rows can be looked for by state.

use hangscope_analyzer_core::report::{Band, CellCode};

/// States of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellStates(u16);

impl CellStates {
    pub(crate) const DIFFERS: CellStates = CellStates(1 << 8);
    pub(crate) const ORIGIN: CellStates = CellStates(1 << 9);

    /// The states of one cell.
    pub(crate) fn of(code: CellCode) -> CellStates {
        let state = if code.state() == CellCode::NONE { 0 } else { 1 << (code.state().0 & 7) };
        let differs = if code.has(CellCode::DIFFERS) { CellStates::DIFFERS.0 } else { 0 };
        let origin = if code.has(CellCode::ORIGIN) { CellStates::ORIGIN.0 } else { 0 };
        CellStates(state | differs | origin)
    }

    /// Whether both have a state in common.
    pub(crate) fn meets(self, other: CellStates) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn and(self, other: CellStates) -> CellStates {
        CellStates(self.0 | other.0)
    }
}

/// The states of all rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowStates(pub(super) Vec<u16>);

impl RowStates {
    /// Looks at all cells.
    pub(crate) fn new(bands: &[Band], rows: usize, cells: &[u8]) -> Self {
        let mut all = vec![0_u16; rows];
        for band in bands {
            let width = band.row_bytes();
            let Ok(start) = usize::try_from(band.cells_at) else { continue };
            let size = band.row_count as usize * width;
            let rows = cells.get(start..start + size).unwrap_or_default();
            let of_band = all.get_mut(band.first_row as usize..).unwrap_or_default();
            for (states, row) in of_band.iter_mut().zip(rows.chunks(width.max(1))) {
                *states = row.iter().fold(0, |states, code| states | CellStates::of(CellCode(*code)).0);
            }
        }
        Self(all)
    }

    pub(crate) fn get(&self, row: u32) -> CellStates {
        CellStates(self.0.get(row as usize).copied().unwrap_or_default())
    }
}

/// The operation of a row's head, without its sizes.
pub(crate) fn op_name(op: &str) -> &str {
    op.split_once(" [").map_or(op, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn states_of_a_row() {
        let dataset = example::dataset();
        let states = |row| dataset.states().get(row);
        assert_eq!(states(0), CellStates::of(CellCode::COMPLETED));
        let origin = CellStates::of(CellCode::MISSING.with(CellCode::ORIGIN));
        assert_eq!(states(9), origin.and(CellStates::of(CellCode::STARTED)));
        assert!(states(9).meets(CellStates::ORIGIN) && !states(9).meets(CellStates::DIFFERS));
        assert_eq!(states(99), CellStates::default());
    }
}
