//! Saying it: the report that people, programs and the page get, and the table that the page draws.
//!
//! These types cross the boundary of the analyser (JSON, messages to the page), so they are apart from the internal
//! ones and carry a version. Names are fixed: fields may be added, never renamed or removed within one schema number.

mod cell_detail;
mod contract;
mod ranges;
mod table_index;

pub use cell_detail::{CellDetail, OtherSide, PanelFrame};
pub use contract::{
    Alternative, Cause, Confidence, Finding, FindingGroup, JobFacts, Kind, LastOp, P2pPlace, Place, Quality,
    QualityKind, RankState, RankStatus, Report, SCHEMA, Side, SideState, Site, Tool,
};
pub use ranges::ranges;
pub use table_index::{Band, CellCode, FindingPlace, RankColumn, RowHead, TableIndex};
