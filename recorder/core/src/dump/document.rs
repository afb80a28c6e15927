//! A dump's fields, by PyTorch's names, in PyTorch's order. What they mean is told in PyTorch's Flight Recorder, version
//! 2.10.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::order;
use crate::settings::Settings;
use crate::snapshot::{Snapshot, SnapshotEntry};
use crate::stack::Frame;
use crate::{Buffer, Communicator, DumpForm, OpKind, Peer};

/// The version of the format that is written.
pub(super) const VERSION: &str = "2.10";

/// A whole dump.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    version: &'static str,
    pg_config: BTreeMap<String, GroupConfig>,
    comm_lib_version: String,
    pg_status: BTreeMap<String, GroupStatus>,
    /// JSON has an empty one where a pickle has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    nccl_comm_state: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<Entry>>,
}

#[derive(Debug, Serialize)]
struct GroupConfig {
    name: String,
    desc: String,
    /// A list as text.
    ranks: String,
}

#[derive(Debug, Serialize)]
struct GroupStatus {
    last_enqueued_collective: Count,
    last_started_collective: Count,
    last_completed_collective: Count,
}

/// A number that JSON has as text.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Count {
    Number(i64),
    Text(String),
}

#[derive(Debug, Serialize)]
struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<Vec<Frame>>,
    record_id: u64,
    pg_id: u32,
    process_group: (String, String),
    thread_name: String,
    thread_id: String,
    collective_seq_id: u64,
    p2p_seq_id: u64,
    op_id: u64,
    profiling_name: String,
    time_created_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    input_sizes: Vec<Vec<u64>>,
    input_dtypes: Vec<&'static str>,
    output_sizes: Vec<Vec<u64>>,
    output_dtypes: Vec<&'static str>,
    state: &'static str,
    time_discovered_started_ns: Option<u64>,
    time_discovered_completed_ns: Option<u64>,
    retired: bool,
    timeout_ms: u64,
    is_p2p: bool,
}

/// What a document is made of beside the snapshot.
#[derive(Debug)]
pub(super) struct Making<'a> {
    pub settings: &'a Settings,
    pub library: &'a str,
    pub version: &'a str,
    /// Frames by the entries' places in the snapshot.
    pub frames: Vec<Option<Vec<Frame>>>,
}

impl Document {
    pub(super) fn new(snapshot: Snapshot, making: Making<'_>) -> Self {
        let is_json = making.settings.form == DumpForm::Json;
        let mut frames = making.frames;
        frames.resize(snapshot.entries.len(), None);
        let communicators = snapshot.communicators;
        let ordered = order::for_readers(snapshot.entries, frames);

        let mut pg_config = BTreeMap::new();
        for communicator in &communicators {
            let info = communicator.info();
            if let Some(members) = communicator.members() {
                let ranks = format!("{:?}", sorted(members));
                let config = GroupConfig { name: info.name.clone(), desc: info.description.clone(), ranks };
                pg_config.insert(info.name.clone(), config);
            }
        }
        let pg_status = communicators
            .iter()
            .map(|communicator| {
                let of_it = ordered
                    .iter()
                    .map(|(entry, _)| entry)
                    .filter(|entry| Arc::ptr_eq(&entry.communicator, communicator));
                (communicator.index.to_string(), status(communicator, of_it, is_json))
            })
            .collect();
        let first = ordered.iter().map(|(entry, _)| entry.record_id).min().unwrap_or_default();
        let entries: Vec<_> = (first..)
            .zip(ordered)
            .map(|(record_id, (entry, frames))| {
                let timeout = making.settings.timeout.as_millis();
                Entry {
                    record_id,
                    timeout_ms: u64::try_from(timeout).unwrap_or(u64::MAX),
                    ..Entry::new(&entry, frames, making.library, is_json)
                }
            })
            .collect();
        Self {
            version: VERSION,
            pg_config,
            comm_lib_version: making.version.to_owned(),
            pg_status,
            nccl_comm_state: is_json.then(BTreeMap::new),
            entries: (!is_json || !entries.is_empty()).then_some(entries),
        }
    }
}

impl Entry {
    fn new(entry: &SnapshotEntry, frames: Option<Vec<Frame>>, library: &str, is_json: bool) -> Self {
        let operation = &entry.operation;
        let info = entry.communicator.info();
        let absent_time = is_json.then_some(0);
        let state = match (entry.completed_ns, entry.started_ns) {
            (Some(_), _) => "completed",
            (None, Some(_)) => "started",
            (None, None) => "scheduled",
        };
        #[expect(clippy::cast_precision_loss, reason = "a duration has no sixteen digits that count")]
        let duration_ms = entry
            .started_ns
            .zip(entry.completed_ns)
            .map(|(started, completed)| completed.saturating_sub(started) as f64 / 1e6);
        let (thread_id, thread_name) = &entry.thread;
        // As in PyTorch: the tensor of a reduce stands on both sides of all ranks.
        let output = operation.output.or(operation.input.filter(|_| operation.kind == OpKind::Reduce));
        Self {
            frames,
            record_id: entry.record_id,
            pg_id: entry.communicator.index,
            process_group: (info.name.clone(), info.description.clone()),
            thread_name: thread_name.clone(),
            thread_id: thread_id.to_string(),
            collective_seq_id: entry.collective_seq,
            p2p_seq_id: entry.p2p_seq,
            op_id: entry.op_id,
            profiling_name: format!("{library}:{}", op_text(entry)),
            time_created_ns: entry.created_ns,
            duration_ms,
            input_sizes: sizes(operation.input),
            input_dtypes: dtypes(operation.input),
            output_sizes: sizes(output),
            output_dtypes: dtypes(output),
            state,
            time_discovered_started_ns: entry.started_ns.or(absent_time),
            time_discovered_completed_ns: entry.completed_ns.or(absent_time),
            retired: entry.is_over(),
            timeout_ms: 0,
            is_p2p: operation.kind.is_message(),
        }
    }
}

/// The operation as its name in a dump has it: messages with the ranks that they go between. Such ranks are places in
/// the sorted list of the group's members, whatever order the communicator itself has them in.
fn op_text(entry: &SnapshotEntry) -> String {
    let kind = entry.operation.kind;
    let name = kind.name();
    if !kind.is_message() {
        return name.to_owned();
    }
    let place = |rank: u32| {
        let Some(members) = entry.communicator.members() else { return rank.to_string() };
        let Some(global) = members.get(rank as usize) else { return rank.to_string() };
        members.iter().filter(|member| *member < global).count().to_string()
    };
    let own = place(entry.communicator.info().rank);
    let other = match entry.operation.peer {
        Peer::Rank(rank) => place(rank),
        Peer::Any => "?".to_owned(),
        Peer::Unknown => return name.to_owned(),
    };
    let arrow = if kind == OpKind::Send { "->" } else { "<-" };
    format!("{name} {own}{arrow}{other}")
}

fn status<'a>(
    communicator: &Communicator,
    entries: impl Iterator<Item = &'a SnapshotEntry>,
    is_json: bool,
) -> GroupStatus {
    let enqueued = communicator.last_enqueued();
    let (mut started, mut completed, mut first_open) = (-1, -1, None);
    for entry in entries {
        let number = if entry.operation.kind.is_message() { entry.p2p_seq } else { entry.collective_seq };
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        if entry.started_ns.is_some() {
            started = number.max(started);
        }
        if entry.is_over() {
            completed = number.max(completed);
        } else {
            first_open.get_or_insert(number);
        }
    }
    if completed == -1 {
        // The ring has none of the ended ones any more, or there were none.
        completed = match first_open {
            Some(number) if number > 1 => number - 1,
            Some(_) => -1,
            None => enqueued,
        };
    }
    let count = |number: i64| if is_json { Count::Text(number.to_string()) } else { Count::Number(number) };
    GroupStatus {
        last_enqueued_collective: count(enqueued),
        last_started_collective: count(started),
        last_completed_collective: count(completed),
    }
}

fn sizes(buffer: Option<Buffer>) -> Vec<Vec<u64>> {
    buffer.iter().map(|buffer| vec![buffer.count]).collect()
}

fn dtypes(buffer: Option<Buffer>) -> Vec<&'static str> {
    buffer.iter().map(|buffer| buffer.dtype.name()).collect()
}

fn sorted(members: &[u32]) -> Vec<u32> {
    let mut members = members.to_vec();
    members.sort_unstable();
    members
}
