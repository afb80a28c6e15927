//! Interned strings, frames, stacks and tensor descriptions.
//!
//! A dump says the same few things thousands of times. Each distinct one is stored once and named by a typed handle.
//! A handle belongs to the table that made it: one of another table names something else or nothing, and the getters
//! then answer with an empty value instead of a panic.

mod args_table;
mod frame_table;
mod slice_table;
mod stack_table;
mod string_table;
mod table_index;
mod tables;
mod transfer;

pub use args_table::{Args, ArgsId, ArgsTable, DtypesId, ShapeId, ShapesId};
pub use frame_table::{Frame, FrameId, FrameTable};
pub use slice_table::{SliceId, SliceTable};
pub use stack_table::{StackId, StackTable};
pub use string_table::{StrId, StringTable};
pub(crate) use table_index::TableIndex;
pub use tables::Symbols;
pub(crate) use transfer::Transfer;
