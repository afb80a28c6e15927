//! The dump of a rank as the recorder gives it in JSON: keys in the alphabet's order, no stacks, zero for a time that is not known.

use std::collections::BTreeMap;

use serde::Serialize;

use super::pickle::{LIBRARY, THREAD, TIMEOUT_MS, VERSION, member_list, thread_id};
use super::program::{Dimension, Program};
use super::rank::{Entry, RankDump};

#[derive(Serialize)]
struct Document {
    comm_lib_version: &'static str,
    entries: Vec<EntryDocument>,
    nccl_comm_state: BTreeMap<String, String>,
    pg_config: BTreeMap<String, GroupDocument>,
    pg_status: BTreeMap<String, StatusDocument>,
    version: &'static str,
}

#[derive(Serialize)]
struct GroupDocument {
    desc: &'static str,
    name: String,
    ranks: String,
}

#[derive(Serialize)]
struct StatusDocument {
    last_completed_collective: String,
    last_enqueued_collective: String,
    last_started_collective: String,
}

#[derive(Serialize)]
struct EntryDocument {
    collective_seq_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    input_dtypes: [&'static str; 1],
    input_sizes: [[u32; 1]; 1],
    is_p2p: bool,
    op_id: u64,
    output_dtypes: [&'static str; 1],
    output_sizes: [[u32; 1]; 1],
    p2p_seq_id: u64,
    pg_id: usize,
    process_group: [String; 2],
    profiling_name: &'static str,
    record_id: u64,
    retired: bool,
    state: &'static str,
    thread_id: String,
    thread_name: &'static str,
    time_created_ns: i64,
    time_discovered_completed_ns: i64,
    time_discovered_started_ns: i64,
    timeout_ms: i64,
}

/// The JSON of one rank.
pub(super) fn json(program: &Program, dump: &RankDump) -> Result<Vec<u8>, serde_json::Error> {
    let groups = Dimension::ALL.map(|dimension| GroupDocument {
        desc: dimension.description(),
        name: program.group_name(dimension, dump.rank),
        ranks: member_list(&program.members(dimension, dump.rank)),
    });
    let status = Dimension::ALL.iter().zip(dump.counters).map(|(dimension, counters)| {
        let document = StatusDocument {
            last_completed_collective: counters.completed.to_string(),
            last_enqueued_collective: counters.enqueued.to_string(),
            last_started_collective: counters.started.to_string(),
        };
        (dimension.index().to_string(), document)
    });
    serde_json::to_vec(&Document {
        comm_lib_version: LIBRARY,
        entries: dump.entries.iter().map(|entry| document(program, dump.rank, entry)).collect(),
        nccl_comm_state: BTreeMap::new(),
        pg_config: groups.into_iter().map(|group| (group.name.clone(), group)).collect(),
        pg_status: status.collect(),
        version: VERSION,
    })
}

fn document(program: &Program, rank: u32, entry: &Entry) -> EntryDocument {
    let dimension = entry.call.dimension;
    EntryDocument {
        collective_seq_id: entry.sequence,
        duration_ms: entry.duration_ms,
        input_dtypes: [entry.dtype],
        input_sizes: [[entry.call.elements[0]]],
        is_p2p: false,
        op_id: entry.sequence,
        output_dtypes: [entry.dtype],
        output_sizes: [[entry.call.elements[1]]],
        p2p_seq_id: 0,
        pg_id: dimension.index(),
        process_group: [program.group_name(dimension, rank), dimension.description().to_owned()],
        profiling_name: entry.call.op.name(),
        record_id: entry.record,
        retired: entry.is_completed(),
        state: entry.state.name(),
        thread_id: thread_id(rank),
        thread_name: THREAD,
        time_created_ns: entry.created_ns,
        time_discovered_completed_ns: entry.completed_ns().unwrap_or(0),
        time_discovered_started_ns: entry.started_ns().unwrap_or(0),
        timeout_ms: TIMEOUT_MS,
    }
}
