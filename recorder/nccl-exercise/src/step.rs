//! The program's operations.

/// Which communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// All ranks.
    World,
    /// Ranks 0 and 1, ranks 2 and 3, and so on.
    Pair,
}

/// One operation of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Everybody gets the sum.
    AllReduce(On),
    /// Everybody gets everything.
    AllGather(On),
    /// Everybody gets a part of the sum.
    ReduceScatter(On),
    /// Everybody gets what rank 0 has.
    Broadcast(On),
    /// Everybody sends to the next rank and receives from the one before, in one group.
    Exchange(On),
}

/// One round of the program; an operation's number counts on over all rounds.
pub const STEPS: [Step; 6] = [
    Step::AllReduce(On::World),
    Step::AllGather(On::World),
    Step::ReduceScatter(On::World),
    Step::Broadcast(On::World),
    Step::AllReduce(On::Pair),
    Step::Exchange(On::World),
];

/// An operation as a rank issues it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issue {
    /// Which.
    pub step: Step,
    /// Elements of each rank, 32-bit floats. For [`Step::ReduceScatter`] those of the result.
    pub count: usize,
    /// Whether an [`Step::Exchange`] has its receive.
    pub receives: bool,
}
