//! Jobs made to order: what each rank issued, as the dumps that it would leave.

use std::collections::BTreeMap;

use hangscope_analyzer_core::dump::{self, Reading};
use hangscope_analyzer_core::report::{Cause, CellCode, Confidence, Finding, Report};
use hangscope_analyzer_core::{Analysis, analyze};
use serde_json::{Value, json};

/// A job under construction.
#[derive(Clone)]
pub struct Fake {
    groups: BTreeMap<String, (String, Vec<u32>)>,
    ranks: BTreeMap<u32, Rank>,
    timing: bool,
}

#[derive(Clone, Default)]
struct Rank {
    entries: Vec<Value>,
    /// Collectives and messages so far, by group.
    counters: BTreeMap<String, (u32, u32)>,
    record_base: u32,
    status: BTreeMap<String, Value>,
    only_active: bool,
    version: Option<String>,
    file: Option<String>,
}

/// An operation to issue: what is not said is usual.
#[derive(Clone)]
pub struct Op {
    name: String,
    group: String,
    input: Vec<Vec<i64>>,
    output: Vec<Vec<i64>>,
    dtype: String,
    state: String,
    site: (String, u32),
    took_ms: i64,
    splits: Option<(Vec<i64>, Vec<i64>)>,
}

/// `op("all_reduce")` on group `0`, one tensor of 16 floats, completed, from `train.py`.
pub fn op(name: &str) -> Op {
    Op {
        name: name.into(),
        group: "0".into(),
        input: vec![vec![16]],
        output: vec![vec![16]],
        dtype: "Float".into(),
        state: "completed".into(),
        site: ("train_step".into(), 10),
        took_ms: 1,
        splits: None,
    }
}

impl Op {
    pub fn on(mut self, group: &str) -> Op {
        self.group = group.into();
        self
    }

    pub fn size(mut self, shape: &[i64]) -> Op {
        self.input = vec![shape.to_vec()];
        self.output = self.input.clone();
        self
    }

    pub fn sizes(mut self, input: &[i64], output: &[i64]) -> Op {
        self.input = vec![input.to_vec()];
        self.output = vec![output.to_vec()];
        self
    }

    /// What it sends to each member and expects from each, as dumps of version 2.11 say.
    pub fn splits(mut self, sends: &[i64], receives: &[i64]) -> Op {
        self.splits = Some((sends.to_vec(), receives.to_vec()));
        self
    }

    pub fn no_tensors(mut self) -> Op {
        (self.input, self.output) = (Vec::new(), Vec::new());
        self
    }

    pub fn dtype(mut self, dtype: &str) -> Op {
        self.dtype = dtype.into();
        self
    }

    pub fn scheduled(mut self) -> Op {
        self.state = "scheduled".into();
        self
    }

    pub fn started(mut self) -> Op {
        self.state = "started".into();
        self
    }

    pub fn at(mut self, function: &str, line: u32) -> Op {
        self.site = (function.into(), line);
        self
    }

    pub fn took_ms(mut self, ms: i64) -> Op {
        self.took_ms = ms;
        self
    }
}

impl Fake {
    /// A job of so many ranks in one group, `("0", "default_pg")`.
    pub fn new(world: u32) -> Fake {
        let mut fake = Fake { groups: BTreeMap::new(), ranks: BTreeMap::new(), timing: false };
        fake.ranks.extend((0..world).map(|rank| (rank, Rank::default())));
        fake.group("0", "default_pg", &(0..world).collect::<Vec<_>>())
    }

    /// The usual beginning: three finished all_reduces of 16 floats.
    pub fn trained(world: u32) -> Fake {
        Fake::new(world).train()
    }

    fn train(self) -> Fake {
        let mut fake = self;
        for row in 0..3 {
            fake.all(op("all_reduce").at("train_step", 10 + row));
        }
        fake
    }

    /// The usual beginning with start events.
    pub fn trained_with_timing(world: u32) -> Fake {
        let mut fake = Fake::new(world);
        fake.timing = true;
        fake.train()
    }

    pub fn group(mut self, name: &str, desc: &str, members: &[u32]) -> Fake {
        self.groups.insert(name.into(), (desc.into(), members.to_vec()));
        self
    }

    /// Every member of the op's group issues it.
    pub fn all(&mut self, op: Op) -> &mut Fake {
        let members = self.groups[&op.group].1.clone();
        self.some(&members, op)
    }

    /// These ranks issue it.
    pub fn some(&mut self, ranks: &[u32], op: Op) -> &mut Fake {
        for &rank in ranks {
            self.issue(rank, &op, None);
        }
        self
    }

    /// One end of a message, posted by itself; ranks are those within the group.
    pub fn message(&mut self, rank: u32, name: &str, op: Op) -> &mut Fake {
        self.issue(rank, &Op { name: name.into(), ..op }, Some(true));
        self
    }

    /// Messages posted as one block, with the state of its end.
    pub fn batch(&mut self, rank: u32, names: &[&str], end: Op) -> &mut Fake {
        let group = end.group.clone();
        for (at, name) in names.iter().enumerate() {
            let inner = Op { name: (*name).into(), ..end.clone().scheduled() };
            self.issue(rank, &inner, Some(at == 0));
        }
        let counters = self.ranks[&rank].counters[&group];
        let end = Op { name: "coalesced".into(), ..end.no_tensors() };
        self.push(rank, &end, counters, false);
        self
    }

    fn issue(&mut self, rank: u32, op: &Op, message: Option<bool>) {
        let counters = self.ranks.get_mut(&rank).unwrap().counters.entry(op.group.clone()).or_default();
        match message {
            None => counters.0 += 1,
            Some(true) => counters.1 += 1,
            Some(false) => {}
        }
        let counters = *counters;
        self.push(rank, op, counters, message.is_some());
    }

    fn push(&mut self, rank: u32, op: &Op, (seq, p2p): (u32, u32), is_p2p: bool) {
        let desc = &self.groups[&op.group].0;
        let timing = self.timing;
        let own = self.ranks.get_mut(&rank).unwrap();
        let record = own.record_base + own.entries.len() as u32;
        let created = 1_700_000_000_000_000_000 + i64::from(record) * 1_000_000_000;
        let done = op.state == "completed";
        let end = created + op.took_ms * 1_000_000;
        let begun = timing && op.state != "scheduled";
        let mut entry = json!({
            "record_id": record, "pg_id": op.group.parse::<i64>().unwrap_or(0), "process_group": [op.group, desc],
            "collective_seq_id": seq, "p2p_seq_id": p2p, "op_id": record, "profiling_name": format!("nccl:{}", op.name),
            "time_created_ns": created, "input_sizes": op.input, "output_sizes": op.output,
            "input_dtypes": vec![&op.dtype; op.input.len()], "output_dtypes": vec![&op.dtype; op.output.len()],
            "state": op.state, "time_discovered_started_ns": if begun { created + 1 } else { 0 },
            "time_discovered_completed_ns": if done { end } else { 0 }, "retired": done, "timeout_ms": 600_000,
            "is_p2p": is_p2p,
            "frames": [
                {"name": op.name, "filename": "/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", "line": 4174},
                {"name": op.site.0, "filename": "/job/train.py", "line": op.site.1},
                {"name": "main", "filename": "/job/train.py", "line": 100},
            ],
        });
        if let Some((sends, receives)) = &op.splits {
            entry["input_split_sizes"] = json!(sends);
            entry["output_split_sizes"] = json!(receives);
        }
        own.entries.push(entry);
    }

    /// Changes every entry of every rank.
    pub fn edit_all(&mut self, change: impl Fn(u32, &mut Value)) -> &mut Fake {
        for (&rank, own) in &mut self.ranks {
            own.entries.iter_mut().for_each(|entry| change(rank, entry));
        }
        self
    }

    /// A rank's dump is of another version than 2.10.
    pub fn version(&mut self, rank: u32, version: &str) -> &mut Fake {
        self.ranks.get_mut(&rank).unwrap().version = Some(version.into());
        self
    }

    /// A rank's dump has another file name than the usual one.
    pub fn file(&mut self, rank: u32, name: &str) -> &mut Fake {
        self.ranks.get_mut(&rank).unwrap().file = Some(name.into());
        self
    }

    /// The rank leaves no dump.
    pub fn lose(&mut self, rank: u32) -> &mut Fake {
        self.ranks.remove(&rank);
        self
    }

    /// The ring of a rank lost its oldest entries, and began at a higher record.
    pub fn wrap(&mut self, rank: u32, lost: usize, base: u32) -> &mut Fake {
        let own = self.ranks.get_mut(&rank).unwrap();
        own.entries.drain(..lost);
        for (at, entry) in own.entries.iter_mut().enumerate() {
            entry["record_id"] = json!(base + at as u32);
        }
        self
    }

    /// Only unfinished entries are dumped, and the counters say what was done. Groups whose name is no number have a counter that no
    /// entry leads to.
    pub fn only_active(&mut self) -> &mut Fake {
        for (rank, own) in &mut self.ranks {
            own.only_active = true;
            for (name, _) in self.groups.iter().filter(|(_, (_, members))| members.contains(rank)) {
                let last = |done: bool| {
                    let of_group = own.entries.iter().filter(|entry| entry["process_group"][0] == name.as_str());
                    let counted = of_group.filter(|entry| !done || entry["state"] == "completed");
                    counted.filter_map(|entry| entry["collective_seq_id"].as_i64()).max().unwrap_or(-1)
                };
                let status = json!({
                    "last_enqueued_collective": last(false), "last_started_collective": -1,
                    "last_completed_collective": last(true)
                });
                own.status.insert(name.parse::<u32>().map_or("99".into(), |id| id.to_string()), status);
            }
            own.entries.retain(|entry| entry["state"] != "completed");
        }
        self
    }

    /// File names and documents of the dumps, in rank order.
    pub fn documents(&self) -> Vec<(String, Value)> {
        self.ranks
            .iter()
            .map(|(rank, own)| {
                let config: BTreeMap<_, _> = self
                    .groups
                    .iter()
                    .filter(|(_, (_, members))| members.contains(rank))
                    .map(|(name, (desc, members))| {
                        let key = name.split('#').next().unwrap();
                        (key, json!({"name": key, "desc": desc, "ranks": format!("{members:?}")}))
                    })
                    .collect();
                let mut entries = own.entries.clone();
                for entry in &mut entries {
                    let name = entry["process_group"][0].as_str().unwrap().split('#').next().unwrap().to_owned();
                    entry["process_group"][0] = json!(name);
                }
                let version = own.version.as_deref().unwrap_or("2.10");
                let document = json!({
                    "version": version, "pg_config": config, "pg_status": own.status, "entries": entries
                });
                (own.file.clone().unwrap_or_else(|| format!("nccl_trace_rank_{rank}")), document)
            })
            .collect()
    }

    /// The dumps, in rank order.
    pub fn readings(&self) -> Vec<Reading> {
        let documents = self.documents();
        documents.iter().map(|(file, document)| dump::read(file, document.to_string().as_bytes())).collect()
    }

    /// Analyses the job, and again with the files the other way round: the report must be the same.
    pub fn analyze(&self) -> Analysis {
        analyze_both_ways(|| self.readings())
    }

    pub fn report(&self) -> Report {
        self.analyze().report().clone()
    }
}

/// Analyses documents under their file names.
pub fn analyze_documents(documents: &[(String, Value)]) -> Analysis {
    let read = || documents.iter().map(|(file, document)| dump::read(file, document.to_string().as_bytes())).collect();
    analyze_both_ways(read)
}

/// Analyses readings, and again the other way round: the report must be the same.
pub fn analyze_both_ways(read: impl Fn() -> Vec<Reading>) -> Analysis {
    let analysis = analyze(read());
    let mut readings = read();
    readings.reverse();
    assert_eq!(*analyze(readings).report(), *analysis.report(), "the order of the files matters");
    analysis
}

/// The finding of a report that has one and no more.
#[track_caller]
pub fn only(report: &Report) -> &Finding {
    assert_eq!(report.findings.len(), 1, "{:#?}", report.findings);
    &report.findings[0]
}

/// Cause and confidence of a finding.
#[track_caller]
pub fn check_class(finding: &Finding, cause: Cause, confidence: Confidence) {
    assert_eq!((finding.cause, finding.confidence), (cause, confidence), "{:#?}", finding.evidence);
}

/// That the headline or one line of the evidence has all these words.
#[track_caller]
pub fn check_says(report: &Report, words: &[&str]) {
    let lines = || report.findings.iter().flat_map(|finding| &finding.evidence).chain([&report.headline]);
    assert!(
        lines().any(|line| words.iter().all(|word| line.contains(word))),
        "nothing says {words:?}: {:#?}",
        lines().collect::<Vec<_>>()
    );
}

/// Functions of the call sites that the sides of a finding show, also of those where absent sides were last.
pub fn sites(finding: &Finding) -> Vec<&str> {
    let last = finding.sides.iter().filter_map(|side| side.last_op.as_ref()).filter_map(|last| last.call_site.as_ref());
    let issued = finding.sides.iter().filter_map(|side| side.call_site.as_ref());
    issued.chain(last).map(|site| site.function.as_str()).collect()
}

/// State of a rank's cell in a row of a group's band, by name and number of the row.
#[track_caller]
pub fn cell(analysis: &Analysis, group: &str, number: &str, rank: u32) -> &'static str {
    let index = analysis.table_index();
    let column = index.ranks.iter().position(|column| column.rank == rank).unwrap() as u32;
    let is_row = |at: u32| index.rows.get(at).unwrap().number.to_string() == number;
    let (band, row) = index
        .bands
        .iter()
        .filter(|band| band.label == group)
        .find_map(|band| Some((band, (band.first_row..band.first_row + band.row_count).find(|&at| is_row(at))?)))
        .unwrap_or_else(|| panic!("no row {number} of {group}: {:?}", index.bands));
    index.cell_at(band, row, column).map_or(CellCode::NONE, |at| CellCode(analysis.cells()[at])).name()
}

/// What a test says of the first finding.
#[track_caller]
pub fn check(report: &Report, verdict: &str, suspects: &str, seq: Option<u32>) {
    assert_eq!(report.verdict, verdict, "{}", report.headline);
    let first = report.findings.first().expect("no finding");
    assert_eq!((first.suspects.as_str(), first.seq), (suspects, seq), "{}", report.headline);
}

/// That nothing is wrong.
#[track_caller]
pub fn check_healthy(report: &Report) {
    assert_eq!(report.verdict, "no_fault", "{}", report.headline);
    assert!(report.findings.is_empty());
}
