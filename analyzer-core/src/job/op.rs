//! What an operation's name says.

use alloc::string::{String, ToString};

/// Which end of a message an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `send`.
    Send,
    /// `recv`.
    Recv,
}

/// The two ends of a message as the name gives them: ranks within the group, not global ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// Which end the entry is.
    pub direction: Direction,
    /// Sender; `None` for a receive from any source, and where the recorder writes no ranks (torchcomms).
    pub src: Option<u32>,
    /// Receiver; `None` where the recorder writes no ranks.
    pub dst: Option<u32>,
}

/// An operation's name, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Op {
    /// Before the last colon: `nccl`; empty when there is no colon. Ranks of one job may differ in it.
    pub library: String,
    /// Without library and ranks: `all_reduce`, `send`.
    pub name: String,
    /// For point-to-point operations.
    pub peer: Option<Peer>,
}

impl Op {
    /// Takes a `profiling_name` apart. Unknown names are operations like any other.
    pub fn parse(profiling_name: &str) -> Op {
        let (library, rest) = profiling_name.rsplit_once(':').unwrap_or(("", profiling_name));
        let (word, ranks) = rest.split_once(' ').unwrap_or((rest, ""));
        let direction = match word {
            "send" => Some(Direction::Send),
            "recv" => Some(Direction::Recv),
            _ => None,
        };
        let Some(direction) = direction else {
            return Op { library: library.to_string(), name: rest.to_string(), peer: None };
        };
        let ends = match direction {
            Direction::Send => ranks.split_once("->"),
            Direction::Recv => ranks.split_once("<-").map(|(dst, src)| (src, dst)),
        };
        let (src, dst) = ends.unwrap_or(("", ""));
        Op {
            library: library.to_string(),
            name: word.to_string(),
            peer: Some(Peer { direction, src: src.trim().parse().ok(), dst: dst.trim().parse().ok() }),
        }
    }

    /// Whether no member can finish the operation before every other one has begun it: all give to all. The root of a broadcast
    /// may be done early, an exchange or an uneven block may leave a rank out, and of an unknown operation nobody knows.
    pub fn waits_for_all(&self) -> bool {
        let families = ["all_reduce", "allreduce", "all_gather", "allgather", "reduce_scatter", "barrier"];
        let name = self.name.trim_start_matches('_');
        self.peer.is_none() && families.iter().any(|family| name.starts_with(family))
    }

    /// Whether an entry of this name ends a coalesced block. The fast-path operations such as `allreduce_coalesced` don't: they are
    /// the whole operation.
    pub fn closes_block(&self) -> bool {
        matches!(self.name.as_str(), "coalesced" | "ALLGATHER_coalesced" | "REDUCE_SCATTER_coalesced")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_recorders() {
        let check = |text: &str, library: &str, name: &str, peer: Option<(Direction, Option<u32>, Option<u32>)>| {
            let op = Op::parse(text);
            assert_eq!((op.library.as_str(), op.name.as_str()), (library, name), "{text}");
            assert_eq!(op.peer.map(|p| (p.direction, p.src, p.dst)), peer, "{text}");
        };
        check("nccl:all_reduce", "nccl", "all_reduce", None);
        check("weird:backend:all_reduce", "weird:backend", "all_reduce", None);
        check("all_reduce", "", "all_reduce", None);
        check("nccl2:send 0->1", "nccl2", "send", Some((Direction::Send, Some(0), Some(1))));
        check("nccl:recv 1<-0", "nccl", "recv", Some((Direction::Recv, Some(0), Some(1))));
        check("nccl2:recv 1<-?", "nccl2", "recv", Some((Direction::Recv, None, Some(1))));
        check("ncclx:send", "ncclx", "send", Some((Direction::Send, None, None)));
        check("nccl:frobnicate", "nccl", "frobnicate", None);
        check("", "", "", None);
    }

    #[test]
    fn only_operations_that_need_everybody_prove_that_all_came() {
        for op in ["all_reduce", "_all_gather_base", "allreduce_coalesced", "_reduce_scatter_base", "barrier"] {
            assert!(Op::parse(op).waits_for_all(), "{op}");
        }
        for op in [
            "broadcast",
            "reduce",
            "gather",
            "scatter",
            "all_to_all",
            "ALLGATHER_coalesced",
            "send 0->1",
            "frobnicate",
            "",
        ] {
            assert!(!Op::parse(op).waits_for_all(), "{op}");
        }
    }

    #[test]
    fn only_block_ends_close_blocks() {
        assert!(Op::parse("nccl:coalesced").closes_block());
        assert!(Op::parse("nccl:ALLGATHER_coalesced").closes_block());
        assert!(!Op::parse("nccl:allreduce_coalesced").closes_block());
        assert!(!Op::parse("nccl:all_gather_into_tensor_coalesced").closes_block());
    }
}
