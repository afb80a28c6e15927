//! A recording as words of the ring.

use crate::thread::ThreadTag;
use crate::{Block, Buffer, DataType, OpKind, Operation, Peer};

/// Words of one recording.
pub(crate) const WORDS: usize = 11;

/// The word that holds when it was made, for those who want the time that passed since.
pub(crate) const CREATED: usize = 0;

/// What is set when an operation is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// Nanoseconds since 1970.
    pub created_ns: u64,
    /// The communicator's place in the registry.
    pub communicator: u32,
    pub operation: Operation,
    pub collective_seq: u64,
    pub p2p_seq: u64,
    pub op_id: u64,
    /// Words of its stack.
    pub stack_len: u16,
    pub thread: ThreadTag,
}

/// Stands for no buffer.
const NO_COUNT: u64 = u64::MAX;
/// Peers that are no rank.
const PEER_UNKNOWN: u32 = u32::MAX;
const PEER_ANY: u32 = u32::MAX - 1;

/// Marks: what is no progress, but belongs to a recording.
pub(crate) mod marks {
    /// Nobody waits for it any more.
    pub(crate) const RETIRED: u64 = 1;
    /// A thread waits for its end now.
    pub(crate) const WAITED: u64 = 2;
    /// It is handed to the device.
    pub(crate) const LAUNCHED: u64 = 4;
    /// It returned at once and nobody waits for it yet: others may be issued and end before it.
    pub(crate) const NONBLOCKING: u64 = 8;
}

impl Record {
    pub(crate) fn to_words(self) -> [u64; WORDS] {
        let operation = self.operation;
        let count = |buffer: Option<Buffer>| buffer.map_or(NO_COUNT, |buffer| buffer.count.min(NO_COUNT - 1));
        let dtype = |buffer: Option<Buffer>| buffer.map_or(0, |buffer| u64::from(buffer.dtype.code()));
        let [name_head, name_tail] = self.thread.name;
        [
            self.created_ns,
            u64::from(self.communicator) | u64::from(peer_code(operation.peer)) << 32,
            self.collective_seq,
            self.p2p_seq,
            self.op_id,
            count(operation.input),
            count(operation.output),
            u64::from(operation.kind.code())
                | u64::from(block_code(operation.block)) << 8
                | u64::from(operation.untracked) << 16
                | dtype(operation.input) << 24
                | dtype(operation.output) << 32
                | u64::from(self.stack_len) << 40,
            self.thread.id,
            name_head,
            name_tail,
        ]
    }

    pub(crate) fn from_words(words: &[u64; WORDS]) -> Self {
        let [created_ns, channel, collective_seq, p2p_seq, op_id, input, output, kinds, id, head, tail] = *words;
        let buffer = |count: u64, shift: u32| {
            (count != NO_COUNT).then(|| Buffer { count, dtype: DataType::from_code(byte(kinds, shift)) })
        };
        let (communicator, peer) = Self::channel(channel);
        Self {
            created_ns,
            communicator,
            operation: Operation {
                kind: OpKind::from_code(byte(kinds, 0)),
                peer,
                input: buffer(input, 24),
                output: buffer(output, 32),
                block: block_of(byte(kinds, 8)),
                untracked: byte(kinds, 16) != 0,
            },
            collective_seq,
            p2p_seq,
            op_id,
            stack_len: u16::from_le_bytes([byte(kinds, 40), byte(kinds, 48)]),
            thread: ThreadTag { id, name: [head, tail] },
        }
    }

    /// Communicator and peer, which stand in one word.
    pub(crate) fn channel(word: u64) -> (u32, Peer) {
        let [a, b, c, d, e, f, g, h] = word.to_le_bytes();
        let peer = match u32::from_le_bytes([e, f, g, h]) {
            PEER_UNKNOWN => Peer::Unknown,
            PEER_ANY => Peer::Any,
            rank => Peer::Rank(rank),
        };
        (u32::from_le_bytes([a, b, c, d]), peer)
    }
}

fn byte(word: u64, shift: u32) -> u8 {
    (word >> shift).to_le_bytes()[0]
}

fn peer_code(peer: Peer) -> u32 {
    match peer {
        Peer::Unknown => PEER_UNKNOWN,
        Peer::Any => PEER_ANY,
        Peer::Rank(rank) => rank.min(PEER_ANY - 1),
    }
}

fn block_code(block: Block) -> u8 {
    match block {
        Block::Single => 0,
        Block::First => 1,
        Block::Inner => 2,
        Block::End => 3,
    }
}

fn block_of(code: u8) -> Block {
    match code {
        1 => Block::First,
        2 => Block::Inner,
        3 => Block::End,
        _ => Block::Single,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back() {
        let buffer = |count, dtype| Some(Buffer { count, dtype });
        let operations = [
            Operation::collective(OpKind::AllReduce, buffer(5, DataType::Half), buffer(7, DataType::Double)),
            Operation::collective(OpKind::Barrier, None, None),
            Operation { untracked: true, ..Operation::block_end() },
            Operation::message(OpKind::Recv, Peer::Any, Buffer { count: 0, dtype: DataType::Byte })
                .within(Block::First),
            Operation::message(OpKind::Send, Peer::Rank(9999), Buffer { count: 1 << 40, dtype: DataType::Byte })
                .within(Block::Inner),
        ];
        for operation in operations {
            let record = Record {
                created_ns: 1_796_000_000_123_456_789,
                communicator: 70_000,
                operation,
                collective_seq: 3,
                p2p_seq: u64::MAX,
                op_id: 1 << 50,
                stack_len: 300,
                thread: ThreadTag { id: 4_000_000, name: [1, u64::MAX] },
            };
            assert_eq!(Record::from_words(&record.to_words()), record);
        }
    }
}
