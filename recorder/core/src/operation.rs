//! What a caller says of one operation.

use crate::{DataType, OpKind};

/// One operation, as its caller asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// What it is.
    pub kind: OpKind,
    /// The other rank of a message.
    pub peer: Peer,
    /// What goes in; `None`: nothing does on this rank.
    pub input: Option<Buffer>,
    /// What comes out; `None`: nothing does on this rank.
    pub output: Option<Buffer>,
    /// Whether it is one of several that were issued together.
    pub block: Block,
    /// Whether it runs where no progress can be seen (a captured CUDA graph): it stays out of the watchdog's sight.
    pub untracked: bool,
}

/// The other rank of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// The operation is no message, or nobody is told yet.
    Unknown,
    /// A receive that takes a message from whoever sends one.
    Any,
    /// The rank within the communicator.
    Rank(u32),
}

/// A part of memory, told by what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    /// Elements.
    pub count: u64,
    /// Their type.
    pub dtype: DataType,
}

/// The place of an operation among those that are issued together. A block has one sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// It is issued on its own.
    Single,
    /// It is the first of a block.
    First,
    /// It is a later one of a block.
    Inner,
    /// It stands for the end of a block, and for the state of all of it; its kind is [`OpKind::Coalesced`].
    End,
}

impl Operation {
    /// A collective that is issued on its own.
    #[must_use]
    pub fn collective(kind: OpKind, input: Option<Buffer>, output: Option<Buffer>) -> Self {
        Self { kind, peer: Peer::Unknown, input, output, block: Block::Single, untracked: false }
    }

    /// A message that is issued on its own. As in PyTorch's dumps, the buffer stands on both sides.
    #[must_use]
    pub fn message(kind: OpKind, peer: Peer, buffer: Buffer) -> Self {
        Self { kind, peer, input: Some(buffer), output: Some(buffer), block: Block::Single, untracked: false }
    }

    /// The end of a block of operations.
    #[must_use]
    pub fn block_end() -> Self {
        Self { block: Block::End, ..Self::collective(OpKind::Coalesced, None, None) }
    }

    /// The same, as one of a block.
    #[must_use]
    pub fn within(self, block: Block) -> Self {
        Self { block, ..self }
    }
}
