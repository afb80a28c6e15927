//! Saying it: the report that people, programs and the page get, and the table that the page draws.
//!
//! These types cross the boundary of the analyser (JSON, messages to the page), so they are apart from the internal
//! ones and carry a version. Names are fixed: fields may be added, never renamed or removed within one schema number.

mod build;
mod cell_detail;
mod contract;
mod finding_form;
mod json;
mod layers;
mod majority;
mod marks;
mod others;
mod panel;
mod program_order;
mod ranges;
mod row_filter;
mod row_heads;
mod sizes;
mod table_index;
mod table_view;
mod text;
mod whom;

pub use build::build;
pub use cell_detail::{CellDetail, OtherSide, PanelFrame};
pub use contract::{
    Alternative, Cause, Confidence, CycleStep, Finding, FindingGroup, JobFacts, Kind, LastOp, P2pPlace, Place, Quality,
    QualityKind, RankState, RankStatus, Report, SCHEMA, Side, SideState, Site, Tool,
};
pub use json::render_json;
pub use layers::{ColourBy, Layer, LegendItem};
pub(crate) use panel::cell_detail;
pub use program_order::{Contradiction, ProgramOrderView};
pub use ranges::{ranges, rank_words, ranks_in, readable_ranges};
pub(crate) use row_filter::rows_with_frame;
pub use row_heads::{RowHead, RowHeads, RowNumber};
pub use sizes::{shapes_text, sizes_text};
pub use table_index::{Band, CellCode, FindingPlace, RankColumn, TableIndex};
pub(crate) use table_view::TableView;
pub use text::{Emphasis, render_styled, render_text};
pub use whom::Whom;
