//! Kinds of operations, by the names that Flight Recorder dumps use.

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident => $name:literal,)*) => {
        /// What an operation is. The names are PyTorch's where it has the operation, so that ranks' entries are read
        /// like its own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum OpKind {
            $($(#[$doc])* $kind,)*
        }

        impl OpKind {
            const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The name in dumps, without the library's and without the ranks of a message.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// Every rank gets the reduction of all.
    AllReduce => "all_reduce",
    /// Every rank gets all parts, in one buffer of equal parts.
    AllGather => "_all_gather_base",
    /// Every rank gets all parts, which may differ in size.
    AllGatherV => "all_gather_v",
    /// Every rank gets its part of the reduction, in equal parts.
    ReduceScatter => "_reduce_scatter_base",
    /// Every rank gets its part of the reduction; parts may differ in size.
    ReduceScatterV => "reduce_scatter_v",
    /// One rank's buffer goes to all.
    Broadcast => "broadcast",
    /// One rank gets the reduction.
    Reduce => "reduce",
    /// Every rank sends a part to every rank; the parts may differ in size.
    AllToAll => "all_to_all",
    /// One rank gets all parts.
    Gather => "gather",
    /// One rank gets all parts, which may differ in size.
    GatherV => "gather_v",
    /// One rank gives every rank its part.
    Scatter => "scatter",
    /// One rank gives every rank its part; parts may differ in size.
    ScatterV => "scatter_v",
    /// Every rank gets the parts of its neighbours in a grid or graph.
    NeighborAllGather => "neighbor_all_gather",
    /// Every rank sends a part to each of its neighbours in a grid or graph.
    NeighborAllToAll => "neighbor_all_to_all",
    /// Nobody goes on before all have come.
    Barrier => "barrier",
    /// Rank r gets the reduction of ranks 0 to r.
    Scan => "scan",
    /// Rank r gets the reduction of ranks 0 to r - 1.
    ExclusiveScan => "exscan",
    /// A message to one rank.
    Send => "send",
    /// A message from one rank, or from any.
    Recv => "recv",
    /// A new communicator of the ranks that gave the same colour.
    Split => "split",
    /// A copy of a communicator.
    Duplicate => "duplicate",
    /// A new communicator of a list of ranks.
    Create => "create",
    /// The end of a communicator.
    Free => "free",
    /// The end of the library's use, for which ranks wait for each other.
    Finalize => "finalize",
    /// The end of a block of operations that were issued together.
    Coalesced => "coalesced",
    /// A write into another rank's memory.
    PutSignal => "put_signal",
    /// A signal to another rank.
    Signal => "signal",
    /// A wait for signals.
    WaitSignal => "wait_signal",
    /// A library's call that none of the others names.
    Other => "unknown",
}

impl OpKind {
    /// Whether it is a message between two ranks.
    #[must_use]
    pub fn is_message(self) -> bool {
        matches!(self, Self::Send | Self::Recv)
    }

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_code(code: u8) -> Self {
        Self::ALL.get(usize::from(code)).copied().unwrap_or(Self::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::OpKind;

    #[test]
    fn codes_lead_back() {
        for kind in OpKind::ALL {
            assert_eq!(OpKind::from_code(kind.code()), *kind);
        }
        assert_eq!(OpKind::from_code(250), OpKind::Other);
    }
}
