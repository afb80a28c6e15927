//! The table as it goes from the worker to the page: a few blocks, which the page takes as they are.

use hangscope_analyzer_core::report::{Report, TableIndex};
use js_sys::{Array, Uint8Array, Uint16Array, Uint32Array};
use serde::{Deserialize, Serialize};

use super::pyramid::{Parts, Pyramid};
use super::{Likeness, RowStates, ties};

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
        let pyramid = Pyramid::new(&index, &cells);
        Self { index, states, cells, pyramid, likeness }
    }

    /// As blocks that can go over as they are.
    pub(crate) fn into_blocks(mut self) -> Blocks {
        let [numbers, marks] = self.index.rows.take_columns();
        let head = Head { index: self.index, likeness: self.likeness };
        let pyramid = self.pyramid.into_parts();
        Blocks {
            head: postcard::to_allocvec(&head).unwrap_or_default(),
            cells: self.cells,
            pyramid: pyramid.codes,
            packed: pyramid.packed,
            ends: pyramid.ends,
            numbers,
            marks,
            states: self.states.0,
        }
    }

    /// What [`TableData::into_blocks`] gave. Both sides are of one build: if it does not fit, this is a fault of the program.
    pub(crate) fn from_blocks(blocks: Blocks) -> Result<Self, String> {
        let Blocks { head, cells, pyramid, packed, ends, numbers, marks, states } = blocks;
        let Head { mut index, likeness } = postcard::from_bytes(&head).map_err(|error| error.to_string())?;
        index.rows.put_columns([numbers, marks]);
        let parts = Parts { codes: pyramid, packed, ends };
        let pyramid = Pyramid::from_parts(&index.bands, parts).ok_or("the table is cut off")?;
        Ok(Self { index, states: RowStates(states), cells, pyramid, likeness })
    }
}

/// A table in few pieces. What there is one of for each row or cell is not taken apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    head: Vec<u8>,
    cells: Vec<u8>,
    pyramid: Vec<u8>,
    packed: Vec<u32>,
    ends: Vec<u32>,
    numbers: Vec<u32>,
    marks: Vec<u32>,
    states: Vec<u16>,
}

impl Blocks {
    /// How many buffers they are.
    const COUNT: u32 = 8;

    /// As buffers of their own, outside of the module's memory.
    pub(crate) fn to_buffers(&self) -> Array {
        let bytes = |bytes: &Vec<u8>| Uint8Array::from(bytes.as_slice()).buffer();
        let words = |words: &Vec<u32>| Uint32Array::from(words.as_slice()).buffer();
        let states = Uint16Array::from(self.states.as_slice()).buffer();
        let buffers = [
            bytes(&self.head),
            bytes(&self.cells),
            bytes(&self.pyramid),
            words(&self.packed),
            words(&self.ends),
            words(&self.numbers),
            words(&self.marks),
            states,
        ];
        buffers.iter().collect()
    }

    /// The last buffers of a message.
    pub(crate) fn from_buffers(message: &Array) -> Self {
        let first = message.length().saturating_sub(Self::COUNT);
        let buffer = |at: u32| message.get(first + at);
        let (bytes, words) = (|at| Uint8Array::new(&buffer(at)).to_vec(), |at| Uint32Array::new(&buffer(at)).to_vec());
        Self {
            head: bytes(0),
            cells: bytes(1),
            pyramid: bytes(2),
            packed: words(3),
            ends: words(4),
            numbers: words(5),
            marks: words(6),
            states: Uint16Array::new(&buffer(7)).to_vec(),
        }
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
        let cut = Blocks { head: blocks.head[..9].to_vec(), ..blocks.clone() };
        assert!(TableData::from_blocks(cut).is_err());
        let cut = Blocks { pyramid: blocks.pyramid[1..].to_vec(), ..blocks };
        assert!(TableData::from_blocks(cut).is_err());
    }
}
