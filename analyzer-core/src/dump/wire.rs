//! A reading as bytes, for messages between the page's workers.
//!
//! The bytes live as long as a message: writer and reader are of one build. They carry a version all the same, so that a page whose
//! parts come from different builds (a stale cache) says so instead of showing nonsense.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{
    Dump, Encoding, Entry, EntryRows, EntryIdx, Fault, FaultKind, GroupConfig, GroupRef, GroupStatus, Reading, State,
};
use crate::symbols::{Args, ArgsId, Frame, FrameId, SliceId, StackId, StrId, Symbols};

/// Version of the bytes.
const VERSION: u32 = 1;

/// Why bytes are no reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The bytes are of another version of this program.
    #[error("parts of the page are of different versions; reload it")]
    OtherVersion,
    /// The bytes are cut off or are something else.
    #[error("a message between the page's workers is damaged; reload the page")]
    Damaged,
}

#[derive(Serialize, Deserialize)]
struct WireReading {
    version: u32,
    file: String,
    size_bytes: u64,
    dumps: Vec<WireDump>,
    faults: Vec<(u8, Option<u64>, String)>,
}

#[derive(Serialize, Deserialize)]
struct WireDump {
    file: String,
    rank: Option<u32>,
    json: bool,
    version: String,
    comm_lib_version: String,
    has_entries_key: bool,
    truncated: bool,
    entries: Vec<WireEntry>,
    group_refs: Vec<(Option<i64>, u32, u32)>,
    group_configs: Vec<(String, String, Vec<u32>)>,
    group_statuses: Vec<(i64, i64, i64, i64)>,
    unknown_keys: Vec<String>,
    symbols: WireSymbols,
}

#[derive(Serialize, Deserialize)]
struct WireEntry {
    numbers: [Option<u32>; 4],
    handles: [u32; 5],
    times: [i64; 3],
    duration_ms: Option<f32>,
    timeout_ms: u32,
    state: u8,
    is_p2p: Option<bool>,
    retired: bool,
}

#[derive(Serialize, Deserialize)]
struct WireSymbols {
    strings: Vec<String>,
    frames: Vec<(u32, u32, u32)>,
    stacks: Vec<(u32, u32)>,
    shapes: Vec<Vec<i64>>,
    shape_lists: Vec<Vec<u32>>,
    dtype_lists: Vec<Vec<u32>>,
    args: Vec<([u32; 4], [Option<u32>; 2])>,
}

/// A reading as bytes.
pub fn encode(reading: &Reading) -> Vec<u8> {
    let wire = WireReading {
        version: VERSION,
        file: reading.file.clone(),
        size_bytes: reading.size_bytes,
        dumps: reading.dumps.iter().map(wire_dump).collect(),
        faults: reading
            .faults
            .iter()
            .map(|fault| (fault_code(fault.kind), fault.offset, fault.message.clone()))
            .collect(),
    };
    // Nothing in it can fail to be written: there are no maps and every length is known.
    postcard::to_allocvec(&wire).unwrap_or_default()
}

/// The reading that bytes stand for.
///
/// # Errors
///
/// When the bytes are of another version or damaged.
pub fn decode(bytes: &[u8]) -> Result<Reading, WireError> {
    let (version, _) = postcard::take_from_bytes::<u32>(bytes).map_err(|_| WireError::Damaged)?;
    if version != VERSION {
        return Err(WireError::OtherVersion);
    }
    let wire: WireReading = postcard::from_bytes(bytes).map_err(|_| WireError::Damaged)?;
    Ok(Reading {
        file: wire.file,
        dumps: wire.dumps.into_iter().map(dump).collect(),
        faults: wire
            .faults
            .into_iter()
            .map(|(kind, offset, message)| Fault { kind: fault_kind(kind), offset, message })
            .collect(),
        size_bytes: wire.size_bytes,
    })
}

fn wire_dump(dump: &Dump) -> WireDump {
    WireDump {
        file: dump.file.clone(),
        rank: dump.rank,
        json: dump.encoding == Encoding::Json,
        version: dump.version.clone(),
        comm_lib_version: dump.comm_lib_version.clone(),
        has_entries_key: dump.has_entries_key,
        truncated: dump.truncated,
        entries: (0..dump.entries.len() as u32).map(|at| wire_entry(&dump.entries.get(EntryIdx(at)))).collect(),
        group_refs: dump.group_refs.iter().map(|item| (item.pg_id, item.name.0, item.desc.0)).collect(),
        group_configs: dump
            .group_configs
            .iter()
            .map(|item| (item.name.clone(), item.desc.clone(), item.ranks.clone()))
            .collect(),
        group_statuses: dump
            .group_statuses
            .iter()
            .map(|item| (item.pg_id, item.last_enqueued, item.last_started, item.last_completed))
            .collect(),
        unknown_keys: dump.unknown_keys.clone(),
        symbols: wire_symbols(&dump.symbols),
    }
}

fn dump(wire: WireDump) -> Dump {
    let mut entries = EntryRows::default();
    for item in &wire.entries {
        entries.push(&entry(item));
    }
    Dump {
        file: wire.file,
        rank: wire.rank,
        encoding: if wire.json { Encoding::Json } else { Encoding::Pickle },
        version: wire.version,
        comm_lib_version: wire.comm_lib_version,
        has_entries_key: wire.has_entries_key,
        truncated: wire.truncated,
        entries: entries.pack(),
        group_refs: wire
            .group_refs
            .into_iter()
            .map(|(pg_id, name, desc)| GroupRef { pg_id, name: StrId(name), desc: StrId(desc) })
            .collect(),
        group_configs: wire
            .group_configs
            .into_iter()
            .map(|(name, desc, ranks)| GroupConfig { name, desc, ranks })
            .collect(),
        group_statuses: wire
            .group_statuses
            .into_iter()
            .map(|(pg_id, last_enqueued, last_started, last_completed)| GroupStatus {
                pg_id,
                last_enqueued,
                last_started,
                last_completed,
            })
            .collect(),
        unknown_keys: wire.unknown_keys,
        symbols: symbols(&wire.symbols),
    }
}

fn wire_entry(entry: &Entry) -> WireEntry {
    WireEntry {
        numbers: [entry.record_id, entry.collective_seq, entry.p2p_seq, entry.op_id],
        handles: [entry.group_ref, entry.op.0, entry.args.0, entry.stack.0, entry.thread.0],
        times: [entry.created_ns, entry.started_ns, entry.completed_ns],
        duration_ms: entry.duration_ms,
        timeout_ms: entry.timeout_ms,
        state: entry.state as u8,
        is_p2p: entry.is_p2p,
        retired: entry.retired,
    }
}

fn entry(wire: &WireEntry) -> Entry {
    let [record_id, collective_seq, p2p_seq, op_id] = wire.numbers;
    let [group_ref, op, args, stack, thread] = wire.handles;
    let [created_ns, started_ns, completed_ns] = wire.times;
    Entry {
        record_id,
        group_ref,
        collective_seq,
        p2p_seq,
        op_id,
        op: StrId(op),
        args: ArgsId(args),
        stack: StackId(stack),
        created_ns,
        started_ns,
        completed_ns,
        duration_ms: wire.duration_ms,
        timeout_ms: wire.timeout_ms,
        thread: StrId(thread),
        state: match wire.state {
            1 => State::Scheduled,
            2 => State::Started,
            3 => State::Completed,
            _ => State::Unknown,
        },
        is_p2p: wire.is_p2p,
        retired: wire.retired,
    }
}

fn wire_symbols(symbols: &Symbols) -> WireSymbols {
    WireSymbols {
        strings: symbols.strings.iter().map(ToString::to_string).collect(),
        frames: symbols.frames.iter().map(|frame| (frame.function.0, frame.file.0, frame.line)).collect(),
        stacks: symbols.stacks.nodes().map(|(parent, frame)| (parent.0, frame.0)).collect(),
        shapes: symbols.shapes.iter().map(<[i64]>::to_vec).collect(),
        shape_lists: symbols.shape_lists.iter().map(|list| list.iter().map(|id| id.index).collect()).collect(),
        dtype_lists: symbols.dtype_lists.iter().map(|list| list.iter().map(|id| id.0).collect()).collect(),
        args: symbols
            .args
            .iter()
            .map(|args| {
                let lists = [
                    args.input_sizes.index,
                    args.output_sizes.index,
                    args.input_dtypes.index,
                    args.output_dtypes.index,
                ];
                (lists, [args.input_splits.map(|id| id.index), args.output_splits.map(|id| id.index)])
            })
            .collect(),
    }
}

/// Interned in the order in which they were written, equal things get equal handles again.
fn symbols(wire: &WireSymbols) -> Symbols {
    let mut symbols = Symbols::default();
    for text in &wire.strings {
        symbols.strings.intern(text);
    }
    for &(function, file, line) in &wire.frames {
        symbols.frames.intern(Frame { function: StrId(function), file: StrId(file), line });
    }
    for &(parent, frame) in &wire.stacks {
        symbols.stacks.push(StackId(parent), FrameId(frame));
    }
    for shape in &wire.shapes {
        symbols.shapes.intern(shape);
    }
    for list in &wire.shape_lists {
        let list: Vec<_> = list.iter().map(|&id| SliceId::new(id)).collect();
        symbols.shape_lists.intern(&list);
    }
    for list in &wire.dtype_lists {
        let list: Vec<_> = list.iter().map(|&id| StrId(id)).collect();
        symbols.dtype_lists.intern(&list);
    }
    for (lists, splits) in &wire.args {
        let [input_sizes, output_sizes, input_dtypes, output_dtypes] = *lists;
        symbols.args.intern(Args {
            input_sizes: SliceId::new(input_sizes),
            output_sizes: SliceId::new(output_sizes),
            input_dtypes: SliceId::new(input_dtypes),
            output_dtypes: SliceId::new(output_dtypes),
            input_splits: splits[0].map(SliceId::new),
            output_splits: splits[1].map(SliceId::new),
        });
    }
    symbols.shrink_to_fit();
    symbols
}

fn fault_code(kind: FaultKind) -> u8 {
    match kind {
        FaultKind::Empty => 0,
        FaultKind::NotADump => 1,
        FaultKind::Truncated => 2,
        FaultKind::Malformed => 3,
        FaultKind::UnexpectedValue => 4,
    }
}

fn fault_kind(code: u8) -> FaultKind {
    match code {
        0 => FaultKind::Empty,
        1 => FaultKind::NotADump,
        2 => FaultKind::Truncated,
        4 => FaultKind::UnexpectedValue,
        _ => FaultKind::Malformed,
    }
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
    fn a_reading_survives() {
        for bytes in [DUMP, &DUMP[..DUMP.len() - 1], b"", b"no dump"] {
            let reading = read("rank_1", bytes);
            let copy = decode(&encode(&reading)).unwrap();
            assert_eq!(alloc::format!("{:?}", copy.faults), alloc::format!("{:?}", reading.faults));
            assert_eq!(copy.dumps.len(), reading.dumps.len());
            for (a, b) in copy.dumps.iter().zip(&reading.dumps) {
                assert_eq!(a.entries.iter().collect::<Vec<_>>(), b.entries.iter().collect::<Vec<_>>());
                assert_eq!(
                    (&a.group_configs, &a.group_statuses, a.rank),
                    (&b.group_configs, &b.group_statuses, b.rank)
                );
                assert_eq!(a.unknown_keys, b.unknown_keys);
                assert!(a.symbols.strings.iter().eq(b.symbols.strings.iter()));
                assert!(a.symbols.args.iter().eq(b.symbols.args.iter()));
                assert!(a.symbols.stacks.nodes().eq(b.symbols.stacks.nodes()));
            }
        }
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = encode(&read("rank_1", DUMP));
        assert_eq!(decode(&[]).unwrap_err(), WireError::Damaged);
        assert_eq!(decode(&bytes[..bytes.len() / 2]).unwrap_err(), WireError::Damaged);
        let mut other = bytes;
        other[0] = 99;
        assert_eq!(decode(&other).unwrap_err(), WireError::OtherVersion);
    }
}
