//! What the page's panel says about one cell.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// One cell in full, beside the other side of its row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellDetail {
    /// Global rank.
    pub rank: u32,
    /// Index of the row in the table.
    pub row: u32,
    /// Label of the group.
    pub group: String,
    /// Number of the row, as in its head.
    pub number: String,
    /// The operation, without the library prefix; what the majority issued where this rank issued nothing.
    pub op: String,
    /// State in a word, as [`super::CellCode::name`].
    pub state: String,
    /// One line on why the cell is as it is, where the state alone does not say: `never issued; rank 5 was last seen in …`.
    pub note: String,
    /// Sizes as text: `[4096]`, several tensors comma-separated; empty for none.
    pub input_sizes: String,
    /// As `input_sizes`.
    pub output_sizes: String,
    /// Dtypes as text.
    pub input_dtypes: String,
    /// As `input_dtypes`.
    pub output_dtypes: String,
    /// When the CPU issued it: Unix nanoseconds; 0 when not known.
    pub created_ns: i64,
    /// When the start was noticed; 0 when not known.
    pub started_ns: i64,
    /// When the end was noticed; 0 when not known.
    pub completed_ns: i64,
    /// For an unfinished op: from its issue to the snapshot, in nanoseconds; 0 otherwise.
    pub waiting_ns: i64,
    /// The first rank that issued the row, and how much later this one did, in nanoseconds.
    pub after_first: Option<(u32, i64)>,
    /// Device time; `None` when not recorded.
    pub duration_ms: Option<f32>,
    /// Timeout of the group; 0 when not recorded.
    pub timeout_ms: u32,
    /// Issuing thread; empty when not recorded.
    pub thread: String,
    /// Whether [`CellDetail::frames`] belong to the rank's last op because it never issued this one.
    pub frames_of_last_op: bool,
    /// The stack, innermost first; empty when not recorded.
    pub frames: Vec<PanelFrame>,
    /// The majority of the row, or for a cell of the majority those who differ; `None` when all agree.
    pub other: Option<OtherSide>,
}

/// The ranks that a cell is compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherSide {
    /// They, as ranges.
    pub ranks: String,
    /// What they issued; empty when nothing.
    pub op: String,
    /// State in a word.
    pub state: String,
    /// Sizes as text.
    pub input_sizes: String,
    /// Sizes as text.
    pub output_sizes: String,
    /// Dtypes as text.
    pub input_dtypes: String,
    /// Their stack, innermost first.
    pub frames: Vec<PanelFrame>,
}

/// A frame in the panel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanelFrame {
    /// Function.
    pub function: String,
    /// File as recorded.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Whether it belongs to a library (torch, site-packages, the interpreter) and not to the user's program.
    pub library: bool,
    /// Whether the other side's stack has another frame here, counted from the outermost.
    pub differs: bool,
    /// Whether it is the outermost frame that differs: there the two programs parted.
    pub first_difference: bool,
}
