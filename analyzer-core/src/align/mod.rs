//! Lining up: which entries of the ranks are the same operation.
//!
//! Collectives meet by (group, sequence number), a coalesced block as one row; messages meet by (group, sender,
//! receiver, n-th). Every member of a group has a cell in every row of it, and a cell says what is known:
//! the entry, or that the rank never issued it, or that nobody can know.

mod absence;
mod blocks;
mod cell;
mod messages;
mod rows;
mod stale;
mod table;

pub use blocks::Blocks;
pub use cell::{Cell, Progress};
pub use messages::Message;
pub use table::{Band, RowIdx, Table};
