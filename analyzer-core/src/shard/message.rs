//! A shard as bytes, for messages between the page's workers.
//!
//! The bytes live as long as a message, so that they are neither compressed nor checked. They carry a version all the same, so that a page
//! whose parts come from different builds (a stale cache) says so instead of showing nonsense.

use alloc::vec::Vec;

use super::wire::{WireDump, WireTables};
use super::{Shard, ShardDump};

/// Version of the bytes.
const VERSION: u32 = 2;

/// Why bytes are no shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The bytes are of another version of this program.
    #[error("parts of the page are of different versions; reload it")]
    OtherVersion,
    /// The bytes are cut off or are something else.
    #[error("a message between the page's workers is damaged; reload the page")]
    Damaged,
}

/// A shard as bytes.
pub fn encode(shard: &Shard) -> Vec<u8> {
    let tables = WireTables::of(&shard.symbols, &shard.configs, &shard.notes);
    let dumps: Vec<WireDump> = shard.dumps.iter().map(WireDump::of).collect();
    // Nothing in it can fail to be written: there are no maps and every length is known.
    postcard::to_allocvec(&(VERSION, tables, dumps)).unwrap_or_default()
}

/// The shard that bytes stand for.
///
/// # Errors
///
/// When the bytes are of another version or damaged.
pub fn decode(bytes: &[u8]) -> Result<Shard, MessageError> {
    let (version, _) = postcard::take_from_bytes::<u32>(bytes).map_err(|_| MessageError::Damaged)?;
    if version != VERSION {
        return Err(MessageError::OtherVersion);
    }
    let (_, tables, dumps): (u32, WireTables, Vec<WireDump>) =
        postcard::from_bytes(bytes).map_err(|_| MessageError::Damaged)?;
    let (symbols, configs, notes) = tables.tables();
    let dumps: Option<Vec<ShardDump>> = dumps.into_iter().map(WireDump::dump).collect();
    Ok(Shard { symbols, configs, dumps: dumps.ok_or(MessageError::Damaged)?, notes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::read;

    const DUMP: &[u8] = br#"{"version": "2.10", "extra": 1, "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
        "pg_status": {"0": {"last_enqueued_collective": "1", "last_started_collective": "-1", "last_completed_collective": "0"}},
        "entries": [{"record_id": 0, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 1, "p2p_seq_id": 0,
        "op_id": 1, "profiling_name": "nccl:all_reduce", "time_created_ns": 5, "duration_ms": 1.5, "input_sizes": [[4, 8]],
        "output_sizes": [[4, 8]], "input_dtypes": ["Float"], "output_dtypes": ["Float"], "state": "scheduled", "is_p2p": false,
        "retired": true, "timeout_ms": 600000, "frames": [{"name": "f", "filename": "a.py", "line": 3}]}]}"#;

    #[test]
    fn a_shard_survives() {
        let files = [DUMP, &DUMP[..DUMP.len() - 1], b"", b"no dump"];
        let shard: Shard = files.iter().map(|bytes| read("rank_1", bytes)).collect();
        let copy = decode(&encode(&shard)).unwrap();
        assert_eq!(copy.notes(), shard.notes());
        assert_eq!(copy.len(), 2);
        for (a, b) in copy.dumps.iter().zip(&shard.dumps) {
            assert_eq!(a.entries.iter().collect::<Vec<_>>(), b.entries.iter().collect::<Vec<_>>());
            assert_eq!(a.entries.heads(), b.entries.heads());
            assert_eq!((&a.configs, &a.statuses, a.rank), (&b.configs, &b.statuses, b.rank));
        }
        assert!(copy.symbols.strings.iter().eq(shard.symbols.strings.iter()));
        assert!(copy.symbols.args.iter().eq(shard.symbols.args.iter()));
        assert!(copy.symbols.stacks.nodes().eq(shard.symbols.stacks.nodes()));
        assert!(copy.configs.iter().eq(shard.configs.iter()));
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = encode(&[read("rank_1", DUMP)].into_iter().collect());
        let error = |bytes: &[u8]| decode(bytes).err();
        assert_eq!(error(&[]), Some(MessageError::Damaged));
        assert_eq!(error(&bytes[..bytes.len() / 2]), Some(MessageError::Damaged));
        let mut other = bytes;
        other[0] = 99;
        assert_eq!(error(&other), Some(MessageError::OtherVersion));
    }
}
