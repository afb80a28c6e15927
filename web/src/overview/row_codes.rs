//! The cells of a row, or the worst of several rows: of collectives one for each member of the group, of messages those of the ranks that have a
//! part in them.

use hangscope_analyzer_core::report::{Band, CellCode, TableIndex};

/// Codes by the place of their rank in the band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowCodes<'a> {
    /// One for each member.
    All(&'a [u8]),
    /// Sender and receiver of a message; `None` for an end that nobody says.
    Ends([Option<(usize, u8)>; 2]),
    /// The ranks that have a part in some messages, ascending, each packed by [`pack`].
    Some(&'a [u32]),
}

/// A place and a code in one number: no group has more than 16 million members.
pub(crate) fn pack(position: usize, code: u8) -> u32 {
    (position as u32) << 8 | u32::from(code)
}

/// What [`pack`] put together.
pub(crate) fn unpack(packed: u32) -> (usize, u8) {
    ((packed >> 8) as usize, packed as u8)
}

impl<'a> RowCodes<'a> {
    /// A row from bytes laid out as the cells are, of cells or of what colours them.
    pub(crate) fn of_row(index: &TableIndex, band: &Band, row: u32, bytes: &'a [u8]) -> Self {
        let bytes = band.row_at(row).and_then(|start| bytes.get(start..start + band.row_bytes())).unwrap_or_default();
        match *bytes {
            [send, recv] if band.p2p => {
                let [src, dst] = index.ends(band, row);
                RowCodes::Ends([src.map(|at| (at, send)), dst.map(|at| (at, recv))])
            }
            _ => RowCodes::All(bytes),
        }
    }

    /// The code at a place of the band; that of no cell where there is none.
    pub(crate) fn get(&self, position: usize) -> u8 {
        let none = CellCode::NONE.0;
        match self {
            RowCodes::All(codes) => codes.get(position).copied().unwrap_or(none),
            RowCodes::Ends(ends) => ends.iter().flatten().find(|end| end.0 == position).map_or(none, |end| end.1),
            RowCodes::Some(packed) => {
                let found = packed.binary_search_by_key(&position, |packed| unpack(*packed).0).ok();
                found.and_then(|at| packed.get(at)).map_or(none, |packed| unpack(*packed).1)
            }
        }
    }

    /// Calls `visit` for each place that has a code, and the code. One function for all callers: the page is to be small.
    pub(crate) fn for_each(&self, visit: &mut dyn FnMut(usize, u8)) {
        match self {
            RowCodes::All(codes) => codes.iter().enumerate().for_each(|(at, code)| visit(at, *code)),
            RowCodes::Ends(ends) => ends.iter().flatten().for_each(|(at, code)| visit(*at, *code)),
            RowCodes::Some(packed) => {
                packed.iter().map(|packed| unpack(*packed)).for_each(|(at, code)| visit(at, code));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn all(codes: RowCodes<'_>) -> Vec<(usize, u8)> {
        let mut found = Vec::new();
        codes.for_each(&mut |at, code| found.push((at, code)));
        found
    }

    #[test]
    fn collectives_have_a_code_for_each_member() {
        let (index, cells) = (example::index(), example::cells());
        let codes = RowCodes::of_row(&index, &index.bands[0], 9, &cells);
        assert_eq!(all(codes), (0..4).map(|at| (at, cells[36 + at])).collect::<Vec<_>>());
        assert_eq!((codes.get(1), codes.get(4)), (cells[37], 0));
        assert_eq!(RowCodes::of_row(&index, &index.bands[0], 10, &cells), RowCodes::All(&[]), "of another band");
    }

    #[test]
    fn messages_have_two_ends() {
        let messages = example::messages(8);
        let (index, band) = (&messages.index, &messages.index.bands[0]);
        let row = |row: u32| RowCodes::of_row(index, band, row, &messages.cells);
        // 0→1, and one to nobody knows whom.
        assert_eq!(row(0), RowCodes::Ends([Some((0, CellCode::COMPLETED.0)), Some((1, CellCode::COMPLETED.0))]));
        assert_eq!((row(0).get(1), row(0).get(2)), (CellCode::COMPLETED.0, CellCode::NONE.0));
        let last = index.rows.len() as u32 - 1;
        assert_eq!(all(row(last)), [(7, CellCode::SCHEDULED.0)]);
    }

    #[test]
    fn packed_codes() {
        let packed = [pack(3, 7), pack(10_239, 0x34)];
        let codes = RowCodes::Some(&packed);
        assert_eq!(all(codes), [(3, 7), (10_239, 0x34)]);
        assert_eq!((codes.get(10_239), codes.get(4)), (0x34, 0));
    }
}
