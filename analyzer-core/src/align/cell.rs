//! What a rank did in a row.

use crate::dump::EntryIdx;

/// What a rank did in a row, as far as its dump tells. Missing is not unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell(u32);

impl Cell {
    /// The rank has a dump that would show the operation, and it is not there: the CPU had not issued it.
    pub const MISSING: Cell = Cell(u32::MAX);
    /// Nobody can tell: below the rank's window, or left out by the recorder, or after a break in the file.
    pub const UNKNOWN: Cell = Cell(u32::MAX - 1);
    /// The rank left no readable dump.
    pub const NO_DUMP: Cell = Cell(u32::MAX - 2);
    /// The rank issued and finished it, as its counters say or as it is past it; its recorder wrote only what was unfinished.
    pub const FINISHED: Cell = Cell(u32::MAX - 3);

    /// The rank issued it.
    pub fn issued(entry: EntryIdx) -> Cell {
        Cell(entry.0.min(u32::MAX - 4))
    }

    /// The entry, if the rank issued it.
    pub fn entry(self) -> Option<EntryIdx> {
        (self.0 < u32::MAX - 3).then_some(EntryIdx(self.0))
    }
}

impl core::fmt::Debug for Cell {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            Cell::MISSING => f.write_str("missing"),
            Cell::UNKNOWN => f.write_str("unknown"),
            Cell::NO_DUMP => f.write_str("no dump"),
            Cell::FINISHED => f.write_str("finished"),
            Cell(entry) => write!(f, "entry {entry}"),
        }
    }
}

/// How far an issued operation has come, with what its block and its time limit say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Progress {
    /// The dump says nothing usable.
    Unknown,
    /// Issued; without start events it may be running.
    Scheduled,
    /// Reached by the device.
    Started,
    /// Completed only after its time limit: an abort released it.
    Late,
    /// Done in time.
    Completed,
}

impl Progress {
    /// Whether the operation is known not to have finished in time.
    pub fn is_pending(self) -> bool {
        matches!(self, Progress::Scheduled | Progress::Started | Progress::Late)
    }
}
