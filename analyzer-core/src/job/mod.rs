//! All dumps of a job put together: ranks in order, process groups resolved, symbols interned once.

mod assemble;
mod capabilities;
mod clocks;
mod doubles;
mod families;
mod group;
mod label;
mod mesh;
mod notes;
mod op;
mod op_table;
mod resolve;
mod runs;
mod status;
mod traffic;
mod user_frame;
mod whole;

pub use capabilities::Capabilities;
pub use families::Families;
pub use group::{Group, GroupIdx};
pub use op::{Direction, Op, Peer};
pub use user_frame::is_library_file;
pub use whole::{Job, RankDump, RankIdx};
