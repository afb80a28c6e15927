//! Jobs of any shape: what each rank issued and when, as the dumps that it would leave.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::pickle;

const BEGIN_NS: i64 = 1_767_000_000_000_000_000;
const MS: i64 = 1_000_000;
const LIBRARY: &str = "/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py";

/// A job under construction. Time stands still until something lets it pass.
pub struct Job {
    groups: BTreeMap<String, (String, Vec<u32>)>,
    ranks: BTreeMap<u32, Rank>,
    now: i64,
    timing: bool,
}

#[derive(Default)]
struct Rank {
    entries: Vec<Value>,
    /// Collectives, messages and operations so far, by group.
    counters: BTreeMap<String, [i64; 3]>,
    status: BTreeMap<String, [i64; 3]>,
    records: u32,
    newest: i64,
    skew: i64,
    /// Of the file's bytes, how many of a hundred were written.
    written: Option<usize>,
    unlisted: Option<String>,
}

/// An operation: what is not said is usual.
#[derive(Clone)]
pub struct Op {
    name: String,
    library: String,
    group: String,
    input: Vec<Vec<i64>>,
    output: Vec<Vec<i64>>,
    input_dtype: String,
    output_dtype: String,
    state: &'static str,
    retired: bool,
    site: (String, u32),
    took_ms: i64,
    timeout_ms: i64,
}

/// One tensor of 16 floats on group `0`, completed, from `train_step`.
pub fn op(name: &str) -> Op {
    Op {
        name: name.into(),
        library: "nccl".into(),
        group: "0".into(),
        input: vec![vec![16]],
        output: vec![vec![16]],
        input_dtype: "Float".into(),
        output_dtype: "Float".into(),
        state: "completed",
        retired: true,
        site: ("train_step".into(), 10),
        took_ms: 30,
        timeout_ms: 600_000,
    }
}

impl Op {
    pub fn on(mut self, group: &str) -> Op {
        self.group = group.into();
        self
    }

    pub fn library(mut self, library: &str) -> Op {
        self.library = library.into();
        self
    }

    pub fn size(self, shape: &[i64]) -> Op {
        self.sizes(&[shape], &[shape])
    }

    pub fn sizes(mut self, input: &[&[i64]], output: &[&[i64]]) -> Op {
        let owned = |shapes: &[&[i64]]| shapes.iter().map(|shape| shape.to_vec()).collect();
        (self.input, self.output) = (owned(input), owned(output));
        self
    }

    pub fn dtypes(mut self, input: &str, output: &str) -> Op {
        (self.input_dtype, self.output_dtype) = (input.into(), output.into());
        self
    }

    pub fn at(mut self, function: &str, line: u32) -> Op {
        self.site = (function.into(), line);
        self
    }

    pub fn scheduled(mut self) -> Op {
        (self.state, self.retired) = ("scheduled", false);
        self
    }

    pub fn started(mut self) -> Op {
        (self.state, self.retired) = ("started", false);
        self
    }

    /// Never completed, and no longer watched.
    pub fn given_up(mut self) -> Op {
        (self.state, self.retired) = ("scheduled", true);
        self
    }

    pub fn took_ms(mut self, ms: i64) -> Op {
        self.took_ms = ms;
        self
    }

    pub fn timeout_ms(mut self, ms: i64) -> Op {
        self.timeout_ms = ms;
        self
    }
}

impl Job {
    /// A job of so many ranks in one group, `("0", "default_pg")`.
    pub fn new(world: u32) -> Job {
        let ranks = (0..world).map(|rank| (rank, Rank::default())).collect();
        let mut job = Job { groups: BTreeMap::new(), ranks, now: BEGIN_NS, timing: false };
        job.group("0", "default_pg", &(0..world).collect::<Vec<_>>());
        job
    }

    /// The recorder knows when operations start.
    pub fn with_timing(world: u32) -> Job {
        Job { timing: true, ..Job::new(world) }
    }

    pub fn group(&mut self, name: &str, desc: &str, members: &[u32]) {
        self.groups.insert(name.into(), (desc.into(), members.to_vec()));
    }

    /// The clocks of these ranks' host are off by so much.
    pub fn skew_ms(&mut self, ranks: &[u32], ms: i64) {
        for rank in ranks {
            self.ranks.get_mut(rank).unwrap().skew = ms * MS;
        }
    }

    pub fn wait_ms(&mut self, ms: i64) {
        self.now += ms * MS;
    }

    /// Every member of the group issues it, and time passes.
    pub fn all(&mut self, op: Op) {
        let members = self.groups[&op.group].1.clone();
        self.some(&members, op);
        self.wait_ms(50);
    }

    /// These ranks issue it.
    pub fn some(&mut self, ranks: &[u32], op: Op) {
        for &rank in ranks {
            let [seq, p2p, _] = self.count(rank, &op.group, [1, 0, 1]);
            self.push(rank, &op, seq, p2p, false);
        }
    }

    /// So many steps of training: three finished all_reduces each.
    pub fn train(&mut self, steps: u32) {
        self.train_on("0", steps);
    }

    pub fn train_on(&mut self, group: &str, steps: u32) {
        for _ in 0..steps {
            self.all(op("all_reduce").on(group).at("backward", 60).size(&[1024]));
            self.all(op("all_reduce").on(group).at("backward", 61).size(&[2048]));
            self.all(op("all_reduce").on(group).at("log_loss", 70).size(&[1]));
        }
    }

    /// One end of a message, posted by itself; the name's ranks are those within the group.
    pub fn message(&mut self, rank: u32, name: &str, op: Op) {
        let [seq, p2p, _] = self.count(rank, &op.group, [0, 1, 1]);
        self.push(rank, &Op { name: name.into(), ..op }, seq, p2p, true);
    }

    /// Both ends of a finished message. Ranks are those within the group.
    pub fn delivered(&mut self, group: &str, src: usize, dst: usize, op: Op) {
        let members = self.groups[group].1.clone();
        let op = op.on(group);
        self.message(members[src], &format!("send {src}->{dst}"), op.clone().at("send_forward", 40));
        self.message(members[dst], &format!("recv {dst}<-{src}"), op.at("recv_forward", 30));
        self.wait_ms(10);
    }

    /// A collective in parts: they and their end are one row.
    pub fn block(&mut self, ranks: &[u32], parts: &[Op], end: &Op) {
        for &rank in ranks {
            let [seq, p2p, _] = self.count(rank, &end.group, [1, 0, 0]);
            for part in parts {
                self.count(rank, &end.group, [0, 0, 1]);
                self.push(rank, &part.clone().scheduled(), seq, p2p, false);
            }
            self.push(rank, &end.clone().sizes(&[], &[]), seq, p2p, false);
        }
    }

    /// Messages posted as one block, with the state of its end.
    pub fn exchange(&mut self, rank: u32, names: &[String], end: &Op) {
        let [seq, p2p, _] = self.count(rank, &end.group, [0, 1, 0]);
        for name in names {
            self.count(rank, &end.group, [0, 0, 1]);
            self.push(rank, &Op { name: name.clone(), ..end.clone().scheduled() }, seq, p2p, true);
        }
        self.push(rank, &Op { name: "coalesced".into(), ..end.clone().sizes(&[], &[]) }, seq, p2p, false);
    }

    fn count(&mut self, rank: u32, group: &str, more: [i64; 3]) -> [i64; 3] {
        let counters = self.ranks.get_mut(&rank).unwrap().counters.entry(group.into()).or_default();
        counters.iter_mut().zip(more).for_each(|(counter, more)| *counter += more);
        *counters
    }

    fn push(&mut self, rank: u32, op: &Op, seq: i64, p2p: i64, is_p2p: bool) {
        let desc = self.groups[&op.group].0.clone();
        let pg_id = self.groups_of(rank).position(|(name, _)| *name == op.group).unwrap();
        let own = self.ranks.get_mut(&rank).unwrap();
        let created = (self.now + i64::from(rank) * 40_000).max(own.newest + 100_000);
        own.newest = created;
        let done = op.state == "completed";
        let begun = self.timing && op.state != "scheduled";
        let number = if is_p2p { p2p } else { seq };
        let status = own.status.entry(pg_id.to_string()).or_insert([-1; 3]);
        status[0] = number;
        status[1] = if begun { number } else { status[1] };
        status[2] = if done { number } else { status[2] };
        let stamp =
            |yes: bool, after_ms: i64| if yes { json!(created + own.skew + after_ms * MS) } else { Value::Null };
        own.entries.push(json!({
            "record_id": own.records, "pg_id": pg_id, "process_group": [op.group, desc],
            "collective_seq_id": seq, "p2p_seq_id": p2p, "op_id": own.counters[&op.group][2],
            "profiling_name": format!("{}:{}", op.library, op.name), "time_created_ns": created + own.skew,
            "input_sizes": op.input, "output_sizes": op.output,
            "input_dtypes": vec![&op.input_dtype; op.input.len()], "output_dtypes": vec![&op.output_dtype; op.output.len()],
            "state": op.state, "time_discovered_started_ns": stamp(begun, 1),
            "time_discovered_completed_ns": stamp(done, op.took_ms), "retired": op.retired,
            "timeout_ms": op.timeout_ms, "is_p2p": is_p2p, "thread_name": "pt_main_thread", "thread_id": "4711",
            "frames": [
                {"name": op.name.split(' ').next(), "filename": LIBRARY, "line": 4174},
                {"name": op.site.0, "filename": "/job/train.py", "line": op.site.1},
                {"name": "main", "filename": "/job/train.py", "line": 100},
            ],
        }));
        own.records += 1;
    }

    fn groups_of(&self, rank: u32) -> impl Iterator<Item = (&String, &(String, Vec<u32>))> {
        self.groups.iter().filter(move |(_, (_, members))| members.contains(&rank))
    }

    /// Changes every entry of these ranks.
    pub fn edit(&mut self, ranks: &[u32], change: impl Fn(&mut Value)) {
        for rank in ranks {
            self.ranks.get_mut(rank).unwrap().entries.iter_mut().for_each(&change);
        }
    }

    /// The recorders of these ranks do not learn when operations start.
    pub fn no_start_events(&mut self, ranks: &[u32]) {
        self.edit(ranks, |entry| entry["time_discovered_started_ns"] = Value::Null);
        for rank in ranks {
            self.ranks.get_mut(rank).unwrap().status.values_mut().for_each(|numbers| numbers[1] = -1);
        }
    }

    /// The rank has not used the group, so that its file does not list it.
    pub fn unlisted(&mut self, rank: u32, group: &str) {
        self.ranks.get_mut(&rank).unwrap().unlisted = Some(group.into());
    }

    /// The ring of the rank holds so many entries; the oldest beyond it are overwritten.
    pub fn ring(&mut self, rank: u32, holds: usize) {
        let entries = &mut self.ranks.get_mut(&rank).unwrap().entries;
        let lost = entries.len().checked_sub(holds).unwrap();
        assert!(lost > 0, "the ring did not wrap");
        entries.drain(..lost);
    }

    /// The recorder of the rank was reset so many entries ago: records count from 0 again, rows go on.
    pub fn reset(&mut self, rank: u32, ago: usize) {
        self.ring(rank, ago);
        let entries = &mut self.ranks.get_mut(&rank).unwrap().entries;
        entries.iter_mut().enumerate().for_each(|(at, entry)| entry["record_id"] = json!(at));
    }

    /// Dumps hold unfinished entries only.
    pub fn only_active(&mut self) {
        self.ranks.values_mut().for_each(|own| own.entries.retain(|entry| entry["state"] != "completed"));
    }

    /// The file of the rank breaks off after so many hundredths.
    pub fn cut(&mut self, rank: u32, percent: usize) {
        self.ranks.get_mut(&rank).unwrap().written = Some(percent);
    }

    /// Takes the file of the rank from another run.
    pub fn swap_file(&mut self, rank: u32, other: &mut Job) {
        self.ranks.insert(rank, other.ranks.remove(&rank).unwrap());
    }

    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let file = |(rank, own): (&u32, &Rank)| {
            let config: BTreeMap<_, _> = self
                .groups_of(*rank)
                .filter(|(name, _)| own.unlisted.as_ref() != Some(*name))
                .map(|(name, (desc, members))| {
                    (name, json!({"name": name, "desc": desc, "ranks": format!("{members:?}")}))
                })
                .collect();
            let status: BTreeMap<_, _> = own
                .status
                .iter()
                .map(|(pg, [enqueued, started, completed])| {
                    let numbers = json!({
                        "last_enqueued_collective": enqueued, "last_started_collective": started,
                        "last_completed_collective": completed,
                    });
                    (pg, numbers)
                })
                .collect();
            let mut bytes = pickle::document(&[
                ("version", &json!("2.10")),
                ("pg_config", &json!(config)),
                ("pg_status", &json!(status)),
                ("entries", &json!(own.entries)),
            ]);
            if let Some(percent) = own.written {
                bytes.truncate(bytes.len() * percent / 100);
            }
            (format!("comm_lib_trace_rank_{rank}"), bytes)
        };
        self.ranks.iter().map(file).collect()
    }

    pub fn answer(&self) -> Answer {
        Answer::to(&self.files())
    }
}
