//! Arguments, which both programs share.

use std::time::Duration;

use clap::Args;

use crate::fault::{Fault, FaultKind};

/// What to run, and what goes wrong. A round has six operations, numbered from 0 over all rounds: `all_reduce`,
/// `all_gather`, `reduce_scatter` and `broadcast` among all ranks, `all_reduce` among pairs, and an exchange of messages with
/// the next rank and the one before.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// Processes to start, one a rank. A process that finds RANK and WORLD_SIZE in its environment is one of them.
    #[arg(long, default_value_t = 2)]
    pub ranks: u32,
    /// Rounds.
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
    /// Elements of each operation, 32-bit floats.
    #[arg(long, default_value_t = 256)]
    pub count: usize,
    /// Waits after each operation, not after each round: a rank does not run ahead of its device.
    #[arg(long)]
    pub synchronous: bool,
    /// Small all_reduces after the rounds, whose time is told.
    #[arg(long, default_value_t = 0)]
    pub small: usize,
    /// Captures a round into a CUDA graph after the others, and runs it this many times.
    #[arg(long, default_value_t = 0)]
    pub replays: usize,
    /// Seconds after which all processes are killed.
    #[arg(long, default_value_t = 60)]
    pub limit: u64,
    /// RANK:OP. The rank leaves the operation out.
    #[arg(long)]
    pub skip: Vec<Fault>,
    /// RANK:OP or RANK:OP:SECONDS. The rank sleeps before it.
    #[arg(long)]
    pub sleep: Vec<Fault>,
    /// RANK:OP. The rank passes twice as many elements.
    #[arg(long)]
    pub wrong_size: Vec<Fault>,
    /// RANK:OP. The rank issues the operation after it first.
    #[arg(long)]
    pub swap: Vec<Fault>,
    /// RANK:OP. The rank's process dies before it.
    #[arg(long)]
    pub exit: Vec<Fault>,
    /// RANK:OP. The rank leaves the receive out, if the operation is an exchange.
    #[arg(long)]
    pub no_recv: Vec<Fault>,
}

impl Arguments {
    /// The fault of this kind that is ordered for a rank's operation.
    #[must_use]
    pub fn fault(&self, kind: FaultKind, rank: u32, op: usize) -> Option<Fault> {
        let ordered = match kind {
            FaultKind::Skip => &self.skip,
            FaultKind::Sleep => &self.sleep,
            FaultKind::WrongSize => &self.wrong_size,
            FaultKind::Swap => &self.swap,
            FaultKind::Exit => &self.exit,
            FaultKind::NoRecv => &self.no_recv,
        };
        ordered.iter().copied().find(|fault| fault.rank == rank && fault.op == op)
    }

    /// When all processes are killed.
    #[must_use]
    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.limit)
    }
}
