//! Other recorders beside stock NCCL.

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::job::{Job, Op, op};

/// Training over NCCL with a gloo group for the host's side. In gloo a finished entry stays scheduled for ever and is
/// merely retired.
fn with_gloo() -> Job {
    let mut job = Job::new(4);
    job.group("1", "cpu", &[0, 1, 2, 3]);
    for _ in 0..3 {
        job.train(1);
        job.all(gloo_barrier().given_up());
    }
    job
}

fn gloo_barrier() -> Op {
    op("barrier").library("gloo").on("1").sizes(&[], &[]).at("host_barrier", 77)
}

/// All finished, as far as each library can tell.
#[test]
fn gloo_beside_nccl_is_healthy() {
    with_gloo().answer().healthy();
}

/// Rank 2 is stuck before the next step. The oldest entries that never completed are gloo's, on all ranks; they have
/// finished.
#[test]
fn finished_gloo_entries_do_not_hide_who_is_stuck() {
    let mut job = with_gloo();
    job.some(&[0, 1, 3], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]).in_row("0", 10);
}

/// Rank 2 is stuck before the host's barrier, in which the others wait. All of NCCL has finished.
#[test]
fn a_pending_gloo_barrier_is_told_from_finished_ones() {
    let mut job = with_gloo();
    job.train(1);
    job.some(&[0, 1, 3], gloo_barrier().scheduled());
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]).in_row("1", 4);
}

/// A job over torchcomms: one counter for a rank's whole recorder, which drifts apart, since the first pair does five
/// rows a step and the second two.
struct Comms {
    ranks: [Vec<Value>; 4],
    now: i64,
}

impl Comms {
    fn trained() -> Comms {
        let mut job = Comms { ranks: [const { Vec::new() }; 4], now: 1_767_000_000_000_000_000 };
        for _ in 0..4 {
            (0..5).for_each(|_| job.issue(&[0, 1], "pair_a", "completed"));
            (0..2).for_each(|_| job.issue(&[2, 3], "pair_b", "completed"));
            job.issue(&[0, 1, 2, 3], "world", "completed");
        }
        job
    }

    fn issue(&mut self, ranks: &[usize], comm: &str, state: &str) {
        self.call(ranks, comm, "all_reduce", state);
    }

    fn call(&mut self, ranks: &[usize], comm: &str, name: &str, state: &str) {
        self.now += 20_000_000;
        for &rank in ranks {
            let (number, done) = (self.ranks[rank].len(), state == "completed");
            let stamp = |after: i64| if done { self.now + after } else { 0 };
            let tensor = |there: bool| if there { json!([[64]]) } else { json!([]) };
            let dtype = |there: bool| if there { json!(["Float"]) } else { json!([]) };
            let (input, output) = (name != "recv", name != "send");
            self.ranks[rank].push(json!({
                "record_id": number, "pg_id": if comm == "world" { 0 } else { 1 }, "process_group": [comm, "ncclx"],
                "collective_seq_id": number, "p2p_seq_id": 0, "op_id": number, "profiling_name": format!("ncclx:{name}"),
                "time_created_ns": self.now, "input_sizes": tensor(input), "output_sizes": tensor(output), "input_dtypes": dtype(input),
                "output_dtypes": dtype(output), "state": state, "time_discovered_started_ns": stamp(1_000_000),
                "time_discovered_completed_ns": stamp(5_000_000), "retired": done, "timeout_ms": 600_000, "is_p2p": false,
            }));
        }
    }

    fn answer(&self) -> Answer {
        let file = |(rank, entries): (usize, &Vec<Value>)| {
            let (pair, members) = if rank < 2 { ("pair_a", "[0,1]") } else { ("pair_b", "[2,3]") };
            let document = json!({
                "version": "2.10", "pg_status": {}, "entries": entries,
                "pg_config": {
                    "world": {"name": "world", "desc": "ncclx", "ranks": "[0,1,2,3]"},
                    pair: {"name": pair, "desc": "ncclx", "ranks": members},
                },
            });
            (format!("rank_{rank}"), document.to_string().into_bytes())
        };
        Answer::to(&self.ranks.iter().enumerate().map(file).collect::<Vec<_>>())
    }
}

/// All finished. By number the ranks of the two pairs are never in the same row; by order within the communicator
/// they always are.
#[test]
fn counters_that_drift_apart_are_healthy() {
    Comms::trained().answer().healthy();
}

/// Rank 2 is stuck before its fifth row of all, where the others wait.
#[test]
fn counters_that_drift_apart_do_not_hide_who_is_stuck() {
    let mut job = Comms::trained();
    job.issue(&[0, 1, 3], "world", "scheduled");
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]);
}

/// Rank 0 sends to another rank in each step, in the communicator of the two or in that of all. The recorder names no
/// peers.
fn with_messages(comm: &str, receiver: usize) -> Comms {
    let mut job = Comms { ranks: [const { Vec::new() }; 4], now: 1_767_000_000_000_000_000 };
    for _ in 0..4 {
        job.call(&[0], comm, "send", "completed");
        job.call(&[receiver], comm, "recv", "completed");
        job.issue(&[0, 1], "pair_a", "completed");
        job.issue(&[0, 1, 2, 3], "world", "completed");
    }
    job
}

/// All finished. A send beside a receive is no mismatch, even where nothing but the order says that they belong
/// together.
#[test]
fn messages_without_peers_in_a_pair_are_healthy() {
    with_messages("pair_a", 1).answer().healthy();
}

/// All finished. In the communicator of all, two ranks have two operations a step and two have one: the n-th
/// operation of one is not the n-th of another.
#[test]
fn messages_without_peers_among_many_are_healthy() {
    with_messages("world", 3).answer().healthy();
}

/// Rank 2 is stuck before its fifth all_reduce, in which the others wait. Where messages count among the rows, ranks
/// 1 and 2 have fewer than 0 and 3, of which only rank 2's lack is real.
#[test]
fn messages_without_peers_do_not_hide_who_is_stuck() {
    for (comm, receiver) in [("pair_a", 1), ("world", 3)] {
        let mut job = with_messages(comm, receiver);
        job.issue(&[0, 1, 3], "world", "scheduled");
        job.answer().hung().blames(&["2"]);
    }
}
