//! A job that runs: every rank issues its program, every device works through it in order, until nothing moves any more.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// What a rank is told to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Collective {
        group: usize,
        name: &'static str,
        size: i64,
        dtype: &'static str,
        site: (&'static str, u32),
    },
    Send {
        group: usize,
        to: u32,
        size: i64,
        site: (&'static str, u32),
    },
    Recv {
        group: usize,
        from: u32,
        size: i64,
        site: (&'static str, u32),
    },
    /// Sends and receives that end together.
    Batch {
        group: usize,
        messages: Vec<(bool, u32)>,
        size: i64,
        site: (&'static str, u32),
    },
}

/// Name, description, members.
pub struct Group {
    pub name: String,
    pub desc: &'static str,
    pub members: Vec<u32>,
}

pub struct Job {
    pub groups: Vec<Group>,
    /// The program of each rank.
    pub programs: Vec<Vec<Op>>,
    /// How many operations a rank issues ahead of its device.
    pub ahead: usize,
    pub timing: bool,
    pub frames: bool,
}

/// How far a rank came.
#[derive(Clone, Copy, Default)]
pub struct Reached {
    /// Operations that its CPU issued.
    pub issued: usize,
    /// Operations that its device finished.
    pub done: usize,
}

impl Job {
    /// Runs until nothing moves. `stops` says before which operation a rank's CPU stops for good.
    pub fn run(&self, stops: &BTreeMap<u32, usize>) -> Vec<Reached> {
        let mut reached = vec![Reached::default(); self.programs.len()];
        loop {
            let mut moved = false;
            for ((rank, program), own) in (0..).zip(&self.programs).zip(&mut reached) {
                let limit = stops.get(&rank).copied().unwrap_or(usize::MAX).min(program.len());
                let want = limit.min(own.done + self.ahead);
                if own.issued < want {
                    own.issued = want;
                    moved = true;
                }
            }
            for rank in 0..self.programs.len() {
                while self.can_finish(rank as u32, &reached) {
                    for party in self.parties(rank as u32, reached[rank].done) {
                        reached[party as usize].done += 1;
                    }
                    moved = true;
                }
            }
            if !moved {
                return reached;
            }
        }
    }

    fn head(&self, rank: u32, reached: &[Reached]) -> Option<&Op> {
        let own = reached[rank as usize];
        (own.done < own.issued).then(|| &self.programs[rank as usize][own.done])
    }

    /// Who finishes together with the operation at the head of a rank.
    fn parties(&self, rank: u32, at: usize) -> Vec<u32> {
        match &self.programs[rank as usize][at] {
            Op::Collective { group, .. } => self.groups[*group].members.clone(),
            Op::Send { to, .. } => vec![rank, *to],
            Op::Recv { from, .. } => vec![rank, *from],
            Op::Batch { messages, .. } => {
                let mut parties: Vec<u32> = messages.iter().map(|item| item.1).chain([rank]).collect();
                parties.sort_unstable();
                parties.dedup();
                parties
            }
        }
    }

    fn can_finish(&self, rank: u32, reached: &[Reached]) -> bool {
        let Some(op) = self.head(rank, reached) else { return false };
        match op {
            Op::Collective { group, name, size, dtype, .. } => {
                let number = self.number(rank, reached[rank as usize].done, *group);
                self.groups[*group].members.iter().all(|&peer| {
                    let fits = matches!(self.head(peer, reached),
                        Some(Op::Collective { group: g, name: n, size: s, dtype: d, .. })
                            if (g, n, s, d) == (group, name, size, dtype));
                    fits && self.number(peer, reached[peer as usize].done, *group) == number
                })
            }
            Op::Send { to, size, .. } => {
                matches!(self.head(*to, reached), Some(Op::Recv { from, size: s, .. }) if *from == rank && s == size)
            }
            Op::Recv { from, size, .. } => {
                matches!(self.head(*from, reached), Some(Op::Send { to, size: s, .. }) if *to == rank && s == size)
            }
            Op::Batch { messages, size, .. } => {
                // The whole set of peers must be in matching batches.
                messages.iter().all(|&(send, peer)| {
                    matches!(self.head(peer, reached), Some(Op::Batch { messages: theirs, size: s, .. })
                        if s == size && theirs.contains(&(!send, rank)) && theirs.len() == messages.len())
                }) && self.parties(rank, reached[rank as usize].done).iter().all(|&peer| {
                    peer == rank
                        || matches!(self.head(peer, reached), Some(Op::Batch { messages: theirs, .. })
                        if theirs.iter().all(|&(_, other)| other == rank || messages.iter().any(|m| m.1 == other)))
                })
            }
        }
    }

    /// Which collective of its group an operation is.
    fn number(&self, rank: u32, at: usize, group: usize) -> usize {
        self.programs[rank as usize][..at]
            .iter()
            .filter(|op| matches!(op, Op::Collective { group: g, .. } if *g == group))
            .count()
    }

    /// The dump of a rank; `keep` is how many of the newest entries its ring holds.
    pub fn dump(&self, rank: u32, reached: &[Reached], keep: usize) -> Value {
        let own = reached[rank as usize];
        let mut counters: BTreeMap<usize, (u32, u32)> = BTreeMap::new();
        let mut entries: Vec<Value> = Vec::new();
        let clock = 1_700_000_000_000_000_000i64 + i64::from(rank) * 1000;
        for (at, op) in self.programs[rank as usize][..own.issued].iter().enumerate() {
            let state = match at {
                _ if at < own.done => "completed",
                _ if at == own.done && self.timing => "started",
                _ => "scheduled",
            };
            let created = clock + at as i64 * 1_000_000;
            let group = match op {
                Op::Collective { group, .. }
                | Op::Send { group, .. }
                | Op::Recv { group, .. }
                | Op::Batch { group, .. } => *group,
            };
            let local = |rank: u32| self.groups[group].members.iter().position(|&member| member == rank).unwrap();
            let counter = counters.entry(group).or_default();
            let mut push = |name: String,
                            sizes: Value,
                            dtype: &str,
                            p2p: bool,
                            state: &str,
                            site: (&str, u32),
                            counter: (u32, u32)| {
                let record = entries.len();
                let mut entry = json!({
                    "record_id": record, "pg_id": group, "process_group": [self.groups[group].name, self.groups[group].desc],
                    "collective_seq_id": counter.0, "p2p_seq_id": counter.1, "op_id": record,
                    "profiling_name": format!("nccl:{name}"), "time_created_ns": created,
                    "input_sizes": sizes, "output_sizes": sizes, "input_dtypes": [dtype], "output_dtypes": [dtype],
                    "state": state, "time_discovered_started_ns": if self.timing && state != "scheduled" { created + 1 } else { 0 },
                    "time_discovered_completed_ns": if state == "completed" { created + 500_000 } else { 0 },
                    "retired": state == "completed", "timeout_ms": 600_000, "is_p2p": p2p,
                });
                if self.frames {
                    entry["frames"] = json!([
                        {"name": "c10d", "filename": "/v/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", "line": 1},
                        {"name": site.0, "filename": "/job/train.py", "line": site.1},
                        {"name": "main", "filename": "/job/train.py", "line": 500},
                    ]);
                }
                entries.push(entry);
            };
            match op {
                Op::Collective { name, size, dtype, site, .. } => {
                    counter.0 += 1;
                    push((*name).into(), json!([[size]]), dtype, false, state, *site, *counter);
                }
                Op::Send { to, size, site, .. } => {
                    counter.1 += 1;
                    push(
                        format!("send {}->{}", local(rank), local(*to)),
                        json!([[size]]),
                        "Float",
                        true,
                        state,
                        *site,
                        *counter,
                    );
                }
                Op::Recv { from, size, site, .. } => {
                    counter.1 += 1;
                    push(
                        format!("recv {}<-{}", local(rank), local(*from)),
                        json!([[size]]),
                        "Float",
                        true,
                        state,
                        *site,
                        *counter,
                    );
                }
                Op::Batch { messages, size, site, .. } => {
                    counter.1 += 1;
                    for &(send, peer) in messages {
                        let name = if send {
                            format!("send {}->{}", local(rank), local(peer))
                        } else {
                            format!("recv {}<-{}", local(rank), local(peer))
                        };
                        push(name, json!([[size]]), "Float", true, "scheduled", *site, *counter);
                    }
                    push("coalesced".into(), json!([]), "Float", false, state, *site, *counter);
                }
            }
        }
        let lost = entries.len().saturating_sub(keep);
        let config: BTreeMap<&str, Value> = self
            .groups
            .iter()
            .filter(|group| group.members.contains(&rank))
            .map(|group| {
                (
                    group.name.as_str(),
                    json!({"name": group.name, "desc": group.desc, "ranks": format!("{:?}", group.members)}),
                )
            })
            .collect();
        json!({"version": "2.10", "pg_config": config, "entries": entries.split_off(lost)})
    }
}
