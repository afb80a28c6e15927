//! Lining up: which entries of the ranks are the same operation.
//!
//! Collectives meet by (group, sequence number), a coalesced block as one row; messages meet by (group, sender,
//! receiver, n-th). Every member of a group has a cell in every row of it, and a cell says what is known:
//! the entry, or that the rank never issued it, or that nobody can know. [`ProgramOrder`] puts the rows of all groups in one order.

mod absence;
mod blocks;
mod cell;
mod contradiction;
mod messages;
mod program_order;
mod row_list;
mod rows;
mod slots;
mod stale;
mod table;

pub use blocks::Blocks;
pub use cell::{Cell, Progress};
pub use contradiction::Contradiction;
pub use messages::Message;
pub use program_order::ProgramOrder;
pub use row_list::{RowList, Stretch};
pub use table::{Band, RowIdx, Signature, Table};
