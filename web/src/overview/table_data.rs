//! The table as it goes from the worker to the page: a few blocks of bytes, which the page takes as they are.

use hangscope_analyzer_core::report::{Report, TableIndex};
use serde::{Deserialize, Serialize};

use super::{Likeness, RowStates, pyramid::Pyramid, ties};

/// Heads, cells, and what was worked out of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TableData {
    pub(crate) index: TableIndex,
    pub(crate) states: RowStates,
    pub(crate) cells: Vec<u8>,
    pub(crate) pyramid: Pyramid,
    pub(crate) likeness: Likeness,
}

#[derive(Serialize, Deserialize)]
struct Head {
    index: TableIndex,
    likeness: Likeness,
}

impl TableData {
    /// From what the analysis gives.
    pub(crate) fn new(report: &Report, index: TableIndex, mut cells: Vec<u8>) -> Self {
        ties::mark(report, &index, &mut cells);
        let states = RowStates::new(&index.bands, index.rows.len(), &cells);
        let likeness = Likeness::new(report, &index, &cells);
        let pyramid = Pyramid::new(&index.bands, &cells);
        Self { index, states, cells, pyramid, likeness }
    }

    /// As blocks of bytes: heads, the states of the rows, cells, pyramid.
    pub(crate) fn into_blocks(self) -> [Vec<u8>; 4] {
        let (states, pyramid) = (self.states.to_bytes(), self.pyramid.to_bytes());
        let head = Head { index: self.index, likeness: self.likeness };
        [postcard::to_allocvec(&head).unwrap_or_default(), states, self.cells, pyramid]
    }

    /// What [`TableData::into_blocks`] gave. Both sides are of one build: if it does not fit, this is a fault of the program.
    pub(crate) fn from_blocks([head, states, cells, pyramid]: [Vec<u8>; 4]) -> Result<Self, String> {
        let Head { index, likeness } = postcard::from_bytes(&head).map_err(|error| error.to_string())?;
        let states = RowStates::from_bytes(&states);
        let pyramid = Pyramid::from_bytes(&index.bands, &pyramid).ok_or("the table is cut off")?;
        Ok(Self { index, states, cells, pyramid, likeness })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn what_goes_over_comes_back() {
        let data = TableData::new(&example::report(), example::index(), example::cells());
        let blocks = data.clone().into_blocks();
        assert_eq!(TableData::from_blocks(blocks.clone()), Ok(data));
        for cut in [0, 3] {
            let mut blocks = blocks.clone();
            blocks[cut].truncate(blocks[cut].len() / 2);
            assert!(TableData::from_blocks(blocks).is_err(), "block {cut}");
        }
    }
}
