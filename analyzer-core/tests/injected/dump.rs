//! The dumps that a job's ranks leave.

use std::collections::BTreeMap;
use std::fmt::Write;

use hangscope_analyzer_core::dump::{self, Reading};

use crate::op::{Op, Part, Site};
use crate::simulator::{Job, Reached};

/// How the recorders of a job write.
#[derive(Clone, Debug)]
pub struct Recorders {
    pub timing: bool,
    /// Whether stacks are recorded, by rank modulo three.
    pub frames: [bool; 3],
    /// How many entries the rings hold, by rank modulo three.
    pub ring: [usize; 3],
    /// Whether the counters of the groups are there.
    pub status: bool,
    pub names: Names,
}

/// What must not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Names {
    /// Changes the names of the groups and their numbers on each rank.
    pub groups: u32,
    /// Added to the record ids of rings that lost entries.
    pub records: u32,
    /// Seconds that each rank's clock is off, times its rank.
    pub clocks: i64,
}

/// One entry of a ring.
struct Record<'a> {
    name: String,
    part: Option<&'a Part>,
    sizes: Option<i64>,
    dtype: &'a str,
    site: Site,
    message: bool,
    /// Index of the operation in the program, and whether the entry itself tells how far it came.
    at: usize,
    has_events: bool,
    group: usize,
    /// Whether its number counts messages.
    numbers_messages: bool,
    /// Collectives, messages and logical operations of the group so far.
    counters: [u32; 3],
}

/// Entries of a rank that can be dropped: those from the front that ended.
pub fn ended_entries(job: &Job, reached: &Reached, rank: u32) -> usize {
    let records = records(job, reached, rank);
    records.iter().position(|record| !reached.done[record.at]).unwrap_or(records.len())
}

/// How many entries a rank recorded.
pub fn entry_count(job: &Job, reached: &Reached, rank: u32) -> usize {
    records(job, reached, rank).len()
}

/// Reads the dump of a rank; `drop` older entries left its ring, besides those that the ring's size drops.
pub fn reading(job: &Job, reached: &Reached, rank: u32, recorders: &Recorders, drop: usize) -> Reading {
    let text = write(job, reached, rank, recorders, drop);
    dump::read(&format!("rank_{rank}"), text.as_bytes())
}

fn records<'a>(job: &'a Job, reached: &Reached, rank: u32) -> Vec<Record<'a>> {
    let mut counters: BTreeMap<usize, [u32; 3]> = BTreeMap::new();
    let mut records = Vec::new();
    for (at, op) in job.ranks[rank as usize].program[..reached.issued].iter().enumerate() {
        let group = op.group();
        let members = &job.groups[group].members;
        let local = |rank: u32| members.iter().position(|&member| member == rank).unwrap();
        let counters = counters.entry(group).or_default();
        match op {
            Op::Collective(op) => {
                counters[0] += 1;
                let record = |name: &str, part, counters, has_events| {
                    let (name, dtype) = (name.into(), op.dtype);
                    let (sizes, message) = (None, false);
                    Record {
                        name,
                        part,
                        sizes,
                        dtype,
                        site: op.site,
                        message,
                        at,
                        has_events,
                        group,
                        numbers_messages: false,
                        counters,
                    }
                };
                for part in &op.parts {
                    counters[2] += 1;
                    records.push(record(part.name, Some(part), *counters, op.end.is_none()));
                }
                records.extend(op.end.map(|end| record(end, None, *counters, true)));
            }
            Op::Messages(op) => {
                counters[1] += 1;
                for message in &op.list {
                    counters[2] += 1;
                    let (me, peer) = (local(rank), local(message.peer));
                    let name = if message.send { format!("send {me}->{peer}") } else { format!("recv {me}<-{peer}") };
                    records.push(Record {
                        name,
                        part: None,
                        sizes: Some(message.size),
                        dtype: message.dtype,
                        site: op.site,
                        message: true,
                        at,
                        has_events: !op.batched,
                        group,
                        numbers_messages: true,
                        counters: *counters,
                    });
                }
                if op.batched {
                    let (name, sizes, dtype) = ("coalesced".into(), None, "Float");
                    let (part, message, has_events, counters) = (None, false, true, *counters);
                    let numbers_messages = true;
                    let site = op.site;
                    records.push(Record {
                        name,
                        part,
                        sizes,
                        dtype,
                        site,
                        message,
                        at,
                        has_events,
                        group,
                        numbers_messages,
                        counters,
                    });
                }
            }
        }
    }
    records
}

fn write(job: &Job, reached: &Reached, rank: u32, recorders: &Recorders, drop: usize) -> String {
    let records = records(job, reached, rank);
    let third = rank as usize % 3;
    let lost = records.len().saturating_sub(recorders.ring[third]).max(drop).min(records.len());
    let names = recorders.names;
    let shift = if lost > 0 { names.records * (rank + 1) } else { 0 };
    let clock = 1_700_000_000_000_000_000i64 + i64::from(rank) * (1000 + names.clocks * 1_000_000_000);
    let mut text = String::with_capacity(512 * (records.len() - lost) + 1024);
    text.push_str("{\"version\":\"2.10\",\"pg_config\":{");
    let own_groups: Vec<usize> =
        (0..job.groups.len()).filter(|&group| job.groups[group].members.contains(&rank)).collect();
    for (nth, &group) in own_groups.iter().enumerate() {
        let (name, of) = (group_name(group, recorders), &job.groups[group]);
        let comma = if nth > 0 { "," } else { "" };
        let (desc, members) = (of.desc, &of.members);
        write!(text, "{comma}\"{name}\":{{\"name\":\"{name}\",\"desc\":\"{desc}\",\"ranks\":\"{members:?}\"}}")
            .unwrap();
    }
    text.push_str("},");
    if recorders.status {
        status(&mut text, &records, reached, recorders, rank);
    }
    text.push_str("\"entries\":[");
    for (id, record) in records.iter().enumerate().skip(lost) {
        let comma = if id > lost { "," } else { "" };
        write!(text, "{comma}{{\"record_id\":{},", id as u32 + shift).unwrap();
        entry(&mut text, job, record, reached, recorders, (rank, clock));
    }
    text.push_str("]}");
    text
}

fn entry(
    text: &mut String,
    job: &Job,
    record: &Record<'_>,
    reached: &Reached,
    recorders: &Recorders,
    (rank, clock): (u32, i64),
) {
    let done = record.has_events && reached.done[record.at];
    let started = recorders.timing && record.has_events && (done || reached.running[record.at]);
    let state = match (done, started) {
        (true, _) => "completed",
        (false, true) => "started",
        (false, false) => "scheduled",
    };
    let created = clock + record.at as i64 * 1_000_000;
    let start = if started { created + 1000 } else { 0 };
    let end = if done { created + 500_000 } else { 0 };
    let (name, desc) = (group_name(record.group, recorders), job.groups[record.group].desc);
    let [collective, messages, op] = record.counters;
    write!(
        text,
        "\"pg_id\":{},\"process_group\":[\"{name}\",\"{desc}\"],\"collective_seq_id\":{collective},\"p2p_seq_id\":{messages},\
         \"op_id\":{op},\"profiling_name\":\"nccl:{}\",\"time_created_ns\":{created},\"time_discovered_started_ns\":{start},\
         \"time_discovered_completed_ns\":{end},\"state\":\"{state}\",\"retired\":{done},\"timeout_ms\":600000,\"is_p2p\":{}",
        pg_id(record.group, rank, recorders.names.groups),
        record.name,
        record.message,
    )
    .unwrap();
    match (record.part, record.sizes) {
        (Some(part), _) => {
            sizes(text, "input", &part.input, record.dtype);
            sizes(text, "output", &part.output, record.dtype);
        }
        (None, Some(size)) => {
            sizes(text, "input", &[size], record.dtype);
            sizes(text, "output", &[size], record.dtype);
        }
        (None, None) => {
            text.push_str(",\"input_sizes\":[],\"output_sizes\":[],\"input_dtypes\":[],\"output_dtypes\":[]");
        }
    }
    if recorders.frames[rank as usize % 3] {
        let (function, line) = record.site;
        write!(
            text,
            ",\"frames\":[{{\"name\":\"c10d\",\"filename\":\"/v/site-packages/torch/distributed/distributed_c10d.py\",\"line\":1}},\
             {{\"name\":\"{function}\",\"filename\":\"/job/train.py\",\"line\":{line}}},\
             {{\"name\":\"main\",\"filename\":\"/job/train.py\",\"line\":500}}]",
        )
        .unwrap();
    }
    text.push('}');
}

fn sizes(text: &mut String, side: &str, sizes: &[i64], dtype: &str) {
    write!(text, ",\"{side}_sizes\":[").unwrap();
    for (nth, size) in sizes.iter().enumerate() {
        write!(text, "{}[{size}]", if nth > 0 { "," } else { "" }).unwrap();
    }
    write!(text, "],\"{side}_dtypes\":[").unwrap();
    for nth in 0..sizes.len() {
        write!(text, "{}\"{dtype}\"", if nth > 0 { "," } else { "" }).unwrap();
    }
    text.push(']');
}

/// The counters of the groups: numbers of the last collective or message, as the stock recorder keeps them.
fn status(text: &mut String, records: &[Record<'_>], reached: &Reached, recorders: &Recorders, rank: u32) {
    let mut of: BTreeMap<usize, [i64; 3]> = BTreeMap::new();
    for record in records.iter().filter(|record| record.has_events) {
        let last = of.entry(record.group).or_insert([-1; 3]);
        let number = i64::from(record.counters[usize::from(record.numbers_messages)]);
        last[0] = number;
        if recorders.timing && (reached.done[record.at] || reached.running[record.at]) {
            last[1] = number;
        }
        if reached.done[record.at] {
            last[2] = number;
        }
    }
    text.push_str("\"pg_status\":{");
    for (nth, (group, [enqueued, started, completed])) in of.into_iter().enumerate() {
        write!(
            text,
            "{}\"{}\":{{\"last_enqueued_collective\":{enqueued},\"last_started_collective\":{started},\"last_completed_collective\":{completed}}}",
            if nth > 0 { "," } else { "" },
            pg_id(group, rank, recorders.names.groups),
        )
        .unwrap();
    }
    text.push_str("},");
}

/// The default group is always called 0.
/// Where there are counters of groups, names that are counters too tell which is whose: then they stay counters of the same order.
fn group_name(group: usize, recorders: &Recorders) -> String {
    match (group, recorders.names.groups) {
        (0, _) | (_, 0) => group.to_string(),
        (_, renamed) if recorders.status => (group as u32 * 3 + renamed).to_string(),
        (_, renamed) => format!("{:x}", (group as u32).wrapping_mul(2_654_435_761).wrapping_add(renamed)),
    }
}

/// Numbers of groups differ between ranks.
fn pg_id(group: usize, rank: u32, renamed: u32) -> usize {
    if renamed == 0 { group } else { group * 31 + rank as usize * 7 + renamed as usize }
}
