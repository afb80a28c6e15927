//! What the page and its workers say to each other.
//!
//! Both sides are of one build, so there is no version. A message is a JavaScript array: the bytes of a [`Request`] or
//! an [`Answer`], then what goes as it is.

use hangscope_analyzer_core::report::{CellDetail, ColourBy, Contradiction, LegendItem};
use serde::{Deserialize, Serialize};

/// From the page to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Read a file, a dump or a pack, and keep what is in it. Payload: the file.
    ReadFile { name: String },
    /// Read a file of the page's own server.
    ReadUrl { name: String, url: String },
    /// Give away what was read so far.
    HandOver,
    /// Keep what another worker read. Payload: the bytes.
    Add,
    /// Count a file as unreadable that the page could not get read.
    AddUnreadable { name: String, reason: String },
    /// All is there: analyse it.
    Analyze,
    /// Tell about a cell: index of the row, global rank.
    Detail { row: u32, rank: u32 },
    /// Write the report as JSON.
    ReportJson,
    /// Look for functions whose name contains a text.
    FindFunction { text: String },
    /// Look for rows that were called from a place whose function or file has a text.
    RowsWithFrame { text: String },
    /// Put the rows of all groups in one order.
    ProgramOrder,
    /// Tell the cells apart by something else than their state.
    Layer { by: ColourBy },
}

/// From a worker to the page.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// It listens. The first message of every worker.
    Ready,
    /// To [`Request::ReadFile`] and [`Request::ReadUrl`].
    Read { size_bytes: u64, entries: u64 },
    /// To [`Request::HandOver`]. Payload: the bytes for [`Request::Add`].
    Shard,
    /// The file could not be got at all.
    Unreadable { reason: String },
    /// To [`Request::Analyze`]. Payload: the report as text and as bytes, then the blocks of the table.
    Analyzed,
    /// To [`Request::Detail`].
    Detail { row: u32, rank: u32, detail: Option<Box<CellDetail>> },
    /// To [`Request::ReportJson`]. Payload: the text as bytes.
    ReportJson,
    /// To [`Request::FindFunction`].
    Functions { text: String, hits: Vec<FunctionHit> },
    /// To [`Request::RowsWithFrame`]. Payload: the rows.
    RowsWithFrame { text: String },
    /// To [`Request::ProgramOrder`]. Payload: the rows.
    ProgramOrder { contradictions: Vec<Contradiction>, contradicted: u32 },
    /// To [`Request::Layer`]. Payload: the blocks of the layer.
    Layer { by: ColourBy, legend: Vec<LegendItem> },
    /// The worker is about to end.
    Panicked { message: String },
}

/// A function, and a row that was called from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FunctionHit {
    pub(crate) function: String,
    pub(crate) place: String,
    pub(crate) row: u32,
}
