//! What the table is at a distance. It is worked out once, in the worker that holds the analysis: the
//! states that each row has ([`row_states`], [`row_codes`]), coarser and coarser pictures of the cells in which the worst cell stands for its neighbours ([`pyramid`],
//! [`severity`]), and which ranks and groups look alike ([`likeness`]). All of it goes over to the page as a few blocks of bytes
//! ([`table_data`]), for what is taken apart there would hold the page up.

pub(crate) mod layer_data;
pub(crate) mod likeness;
pub(crate) mod pyramid;
pub(crate) mod row_codes;
pub(crate) mod row_states;
pub(crate) mod severity;
pub(crate) mod table_data;
pub(crate) mod ties;

pub(crate) use layer_data::LayerData;
pub(crate) use likeness::Likeness;
pub(crate) use row_codes::RowCodes;
pub(crate) use row_states::{CellStates, RowStates, op_name};
pub(crate) use table_data::{Blocks, TableData};
