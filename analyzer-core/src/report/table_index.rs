//! What the page needs to draw the aligned table: heads of bands, rows and columns. The cells are one byte each, apart.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{RankStatus, RowHeads, RowNumber};

/// Everything about the table but its cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableIndex {
    /// The columns: every rank of the job, in order.
    pub ranks: Vec<RankColumn>,
    /// Bands of rows, one per process group (and one for its P2P messages); the origin's first.
    pub bands: Vec<Band>,
    /// The rows of all bands, one band after the other.
    pub rows: RowHeads,
    /// Where each finding of the report is, in the report's order.
    pub findings: Vec<FindingPlace>,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankColumn {
    /// Global rank.
    pub rank: u32,
    /// Its part in what happened.
    pub status: RankStatus,
}

/// The rows of one process group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Band {
    /// As people say: `tp[2,3]`.
    pub label: String,
    /// Name in the dump.
    pub name: String,
    /// Description in the dump.
    pub desc: String,
    /// Members, as ranges.
    pub ranks: String,
    /// Whether the rows are messages between two ranks.
    pub p2p: bool,
    /// The columns of the members, ascending: indices into [`TableIndex::ranks`].
    pub columns: Vec<u32>,
    /// Index of the first row in [`TableIndex::rows`].
    pub first_row: u32,
    /// How many rows there are.
    pub row_count: u32,
    /// Where the band's cells begin in the cell bytes: row by row, in each row one byte per item of `columns`; in a row of messages
    /// two bytes, the sender's and the receiver's, [`CellCode::NONE`] for an end that nobody says or that has no column.
    pub cells_at: u64,
}

impl Band {
    /// How many bytes the cells of a row take.
    pub fn row_bytes(&self) -> usize {
        if self.p2p { 2 } else { self.columns.len() }
    }

    /// Where the cells of a row begin; `None` for a row that is not in this band.
    pub fn row_at(&self, row: u32) -> Option<usize> {
        let offset = row.checked_sub(self.first_row).filter(|offset| *offset < self.row_count)?;
        let offset = (offset as usize).checked_mul(self.row_bytes())?;
        usize::try_from(self.cells_at).ok()?.checked_add(offset)
    }

    /// The place of a column among [`Band::columns`].
    pub fn position(&self, column: u32) -> Option<usize> {
        // Of the world each column is at its own place.
        if self.columns.get(column as usize) == Some(&column) {
            return Some(column as usize);
        }
        self.columns.binary_search(&column).ok()
    }
}

impl TableIndex {
    /// The column of a global rank.
    pub fn column(&self, rank: u32) -> Option<u32> {
        // Ranks count from 0, and mostly all of them are there.
        if self.ranks.get(rank as usize).is_some_and(|column| column.rank == rank) {
            return Some(rank);
        }
        self.ranks.binary_search_by_key(&rank, |column| column.rank).ok().map(|at| at as u32)
    }

    /// The places among [`Band::columns`] of a message's sender and receiver; `None` for an end that nobody says or that has no column.
    pub fn ends(&self, band: &Band, row: u32) -> [Option<usize>; 2] {
        let Some(RowNumber::Message { src, dst, .. }) = self.rows.get(row).map(|head| head.number) else {
            return [None; 2];
        };
        [src, dst].map(|rank| self.column(rank?).and_then(|column| band.position(column)))
    }

    /// Where the cell of a column is among the cell bytes; `None` for a rank that has no part in the row.
    pub fn cell_at(&self, band: &Band, row: u32, column: u32) -> Option<usize> {
        let (begin, position) = (band.row_at(row)?, band.position(column)?);
        if !band.p2p {
            return Some(begin + position);
        }
        let end = self.ends(band, row).iter().position(|end| *end == Some(position))?;
        Some(begin + end)
    }
}

/// The cells of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingPlace {
    /// `F1` and so on.
    pub id: String,
    /// Index of the row in [`TableIndex::rows`]; `None` when the table has no such row.
    pub row: Option<u32>,
    /// Columns of the suspects, or of the smaller side.
    pub columns: Vec<u32>,
}

/// One byte per cell: the state in the low four bits, marks above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CellCode(pub u8);

impl CellCode {
    /// The rank is no party of this row (P2P rows: neither sender nor receiver).
    pub const NONE: CellCode = CellCode(0);
    /// Completed.
    pub const COMPLETED: CellCode = CellCode(1);
    /// Started.
    pub const STARTED: CellCode = CellCode(2);
    /// Scheduled.
    pub const SCHEDULED: CellCode = CellCode(3);
    /// Not issued.
    pub const MISSING: CellCode = CellCode(4);
    /// Not known: below the rank's window, or the recorder does not tell.
    pub const UNKNOWN: CellCode = CellCode(5);
    /// The rank left no readable dump.
    pub const NO_DUMP: CellCode = CellCode(6);
    /// Mark: differs from the majority of its row (another op, other arguments, another call site).
    pub const DIFFERS: u8 = 0x10;
    /// Mark: what a finding points at. A missing cell without it merely follows from the origin.
    pub const ORIGIN: u8 = 0x20;

    /// The state without marks.
    pub fn state(self) -> CellCode {
        CellCode(self.0 & 0x0f)
    }

    /// With a mark.
    pub fn with(self, mark: u8) -> CellCode {
        CellCode(self.0 | mark)
    }

    /// Whether a mark is set.
    pub fn has(self, mark: u8) -> bool {
        self.0 & mark != 0
    }

    /// The state in a word, for people who do not see the colour.
    pub fn name(self) -> &'static str {
        match self.state() {
            CellCode::COMPLETED => "completed",
            CellCode::STARTED => "started",
            CellCode::SCHEDULED => "scheduled",
            CellCode::MISSING if self.has(CellCode::ORIGIN) => "missing",
            CellCode::MISSING => "not issued",
            CellCode::UNKNOWN => "not recorded",
            CellCode::NO_DUMP => "no dump",
            _ => "not in this group",
        }
    }
}
