//! Whether a process is one of the job's ranks, or the one that starts them.

use std::env;

/// What a process ends with.
pub mod status {
    /// Something failed.
    pub const FAILED: u8 = 1;
    /// There is no GPU to run on.
    pub const NO_GPU: u8 = 77;
    /// The time limit was over, and the processes were killed.
    pub const LIMIT: u8 = 124;
}

/// What this process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It starts the others.
    Launcher,
    /// One of the ranks.
    Rank {
        /// Which.
        rank: u32,
        /// Of how many.
        size: u32,
    },
}

impl Role {
    /// As the environment says.
    #[must_use]
    pub fn from_environment() -> Self {
        let number = |name| env::var(name).ok()?.parse().ok();
        match (number("RANK"), number("WORLD_SIZE")) {
            (Some(rank), Some(size)) => Self::Rank { rank, size },
            _ => Self::Launcher,
        }
    }
}
