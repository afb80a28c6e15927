//! Who waits for whom: idle ranks, chains over groups, victims that look odd.

use crate::job::{Job, Op, op};

/// Two replicas of a server. The second had no requests for a while: it is idle, waits for nothing, and has done
/// fewer rows. In the first, rank 2 is stuck.
#[test]
fn an_idle_replica_is_not_missing() {
    let mut job = Job::new(8);
    job.group("1", "tp", &[0, 1, 2, 3]);
    job.group("2", "tp", &[4, 5, 6, 7]);
    job.all(op("all_reduce").at("warm_up", 5));
    let layer = op("all_reduce").at("attention", 50).size(&[8, 64]);
    for _ in 0..5 {
        job.all(layer.clone().on("1"));
        job.all(layer.clone().on("2"));
    }
    for _ in 0..4 {
        job.all(layer.clone().on("1"));
    }
    job.wait_ms(120_000);
    job.some(&[0, 1, 3], layer.on("1").scheduled());
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]).in_row("1", 10);
}

/// Rank 7 is the evaluator and finished its program an hour ago. The trainers hang because rank 3 has the wrong size.
/// Silence is not guilt.
#[test]
fn a_rank_that_has_finished_is_not_the_silent_one() {
    let mut job = Job::new(8);
    let trainers: Vec<u32> = (0..7).collect();
    job.group("1", "trainers", &trainers);
    job.all(op("all_reduce").at("warm_up", 5));
    job.train_on("1", 2);
    job.wait_ms(3_600_000);
    job.train_on("1", 2);
    job.some(&[0, 1, 2, 4, 5, 6], op("all_reduce").on("1").at("backward", 60).size(&[1024]).scheduled());
    job.some(&[3], op("all_reduce").on("1").at("backward", 60).size(&[1000]).scheduled());
    job.answer().verdict_in(&["size_mismatch"]).blames(&["3"]).in_row("1", 13);
}

/// The first rank of each node logs in a group of the two. Rank 6 is stuck; rank 4 waits for it with its node; rank 0
/// waits for rank 4 in the log group, and the rest of its node for rank 0. Logging is what only ranks 0 and 4 do, and
/// it is not what is wrong.
#[test]
fn logging_leaders_are_victims() {
    let mut job = Job::new(8);
    job.group("1", "tp", &[0, 1, 2, 3]);
    job.group("2", "tp", &[4, 5, 6, 7]);
    job.group("3", "log", &[0, 4]);
    let layer = op("all_reduce").at("attention", 50);
    for _ in 0..4 {
        job.all(layer.clone().on("1"));
        job.all(layer.clone().on("2"));
        job.all(op("all_reduce").on("3").at("log_metrics", 75).size(&[1]));
    }
    job.all(layer.clone().on("1"));
    job.some(&[4, 5, 7], layer.clone().on("2").scheduled());
    job.some(&[0], op("all_reduce").on("3").at("log_metrics", 75).size(&[1]).scheduled());
    job.some(&[1, 2, 3], layer.on("1").scheduled());
    job.answer().verdict_in(&["missing_rank"]).blames(&["6"]).in_row("2", 5);
}

/// A mesh of tensor-parallel pairs and data-parallel fours. Rank 0 is stuck before row 5 of its pair; rank 1 waits
/// there and is therefore absent from where ranks 3, 5 and 7 wait, as rank 0 is from where 2, 4 and 6 wait. As many
/// wait for rank 1 as for rank 0, but rank 1 itself waits.
#[test]
fn a_victim_for_whom_many_wait_is_innocent() {
    let mut job = Job::new(8);
    let pairs = [("1", [0, 1]), ("2", [2, 3]), ("3", [4, 5]), ("4", [6, 7])];
    for (name, members) in &pairs {
        job.group(name, "tp", members);
    }
    job.group("5", "dp", &[0, 2, 4, 6]);
    job.group("6", "dp", &[1, 3, 5, 7]);
    let (layer, gradients) = (op("all_reduce").at("attention", 50), op("all_reduce").at("backward", 60).size(&[1024]));
    for _ in 0..4 {
        pairs.iter().for_each(|(name, _)| job.all(layer.clone().on(name)));
        job.all(gradients.clone().on("5"));
        job.all(gradients.clone().on("6"));
    }
    job.some(&[1], layer.clone().on("1").scheduled());
    pairs[1..].iter().for_each(|(name, _)| job.all(layer.clone().on(name)));
    job.some(&[2, 4, 6], gradients.clone().on("5").scheduled());
    job.some(&[3, 5, 7], gradients.on("6").scheduled());
    job.answer().verdict_in(&["missing_rank"]).blames(&["0"]).in_row("1", 5);
}

/// Ranks 0 and 1 issue ahead without waiting and are two rows deeper; rank 2 reads the loss and waits in the first.
/// Rank 3 is stuck before it. Rank 2 is "missing" from the later rows only because it waits.
#[test]
fn a_rank_that_does_not_issue_ahead_is_a_victim() {
    let mut job = Job::new(4);
    job.train(5);
    job.some(&[0, 1, 2], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.some(&[0, 1], op("all_reduce").at("backward", 61).size(&[2048]).scheduled());
    job.some(&[0, 1], op("all_reduce").at("log_loss", 70).size(&[1]).scheduled());
    job.answer().verdict_in(&["missing_rank"]).blames(&["3"]).in_row("0", 16);
}

/// All four are on their devices in one row and the network is down; ranks 0 and 1 have issued two rows more. Nobody
/// is missing where they wait.
#[test]
fn issuing_ahead_of_a_network_fault_makes_nobody_missing() {
    let mut job = Job::with_timing(4);
    job.train(5);
    job.all(op("all_reduce").at("backward", 60).size(&[1024]).started());
    job.some(&[0, 1], op("all_reduce").at("backward", 61).size(&[2048]).scheduled());
    job.some(&[0, 1], op("all_reduce").at("log_loss", 70).size(&[1]).scheduled());
    job.answer().verdict_in(&["all_joined"]).blames(&[""]).in_row("0", 16).blames_nobody();
}

/// Two nodes that share no pending row, with a fault each: rank 1 is stuck, rank 6 has another dtype. Two faults, two
/// findings, and nobody else's.
#[test]
fn two_faults_at_once_are_two_findings() {
    let mut job = Job::new(8);
    job.group("1", "tp", &[0, 1, 2, 3]);
    job.group("2", "tp", &[4, 5, 6, 7]);
    let layer = op("all_reduce").at("attention", 50);
    for _ in 0..4 {
        job.all(layer.clone().on("1"));
        job.all(layer.clone().on("2"));
    }
    job.some(&[0, 2, 3], layer.clone().on("1").scheduled());
    job.some(&[4, 5, 7], layer.clone().on("2").scheduled());
    job.some(&[6], layer.on("2").dtypes("Half", "Half").scheduled());
    let answer = job.answer();
    answer.never_blames(&[0, 2, 3, 4, 5, 7]);
    assert_eq!(answer.faults(), [("dtype_mismatch", "6"), ("missing_rank", "1")]);
}

/// Checkpoints go through a second group of all ranks, from a thread of its own: how its rows and the training's
/// interleave differs by rank and by step, and all steps finished. Then rank 2 gets stuck before both. That ranks 1
/// and 3 issued the pending two the other way round has no meaning.
#[test]
fn a_background_thread_makes_no_order_mismatch() {
    let mut job = Job::new(4);
    job.group("1", "train", &[0, 1, 2, 3]);
    job.group("2", "checkpoint_async", &[0, 1, 2, 3]);
    let both = |job: &mut Job, rank: u32, swapped: bool, state: fn(Op) -> Op| {
        let gradients = state(op("all_reduce").on("1").at("backward", 60).size(&[1024]));
        let shards = state(op("all_reduce").on("2").at("save_shards", 88).size(&[2]));
        let order = if swapped { [shards, gradients] } else { [gradients, shards] };
        order.into_iter().for_each(|call| job.some(&[rank], call));
    };
    for step in 0..6 {
        (0..4).for_each(|rank| both(&mut job, rank, (rank + step) % 2 == 1, |op| op));
        job.wait_ms(50);
    }
    for rank in [0, 1, 3] {
        both(&mut job, rank, rank != 0, Op::scheduled);
    }
    job.edit(&[0, 1, 2, 3], |entry| {
        if entry["process_group"][0] == "2" {
            entry["thread_name"] = "checkpoint".into();
            entry["thread_id"] = "4712".into();
        }
    });
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]);
}

/// A replica was lost once; the group was aborted, with one row given up on all ranks, and rebuilt under another
/// name, where training went on. Now rank 2 is stuck. The old row never completed, but nobody waits for it any more.
#[test]
fn a_row_given_up_with_its_group_is_not_todays_hang() {
    let mut job = Job::new(4);
    job.group("1", "replicas", &[0, 1, 2, 3]);
    job.group("2", "replicas", &[0, 1, 2, 3]);
    job.train_on("1", 2);
    job.all(op("all_reduce").on("1").at("backward", 60).size(&[1024]).given_up());
    job.wait_ms(700_000);
    job.train_on("2", 4);
    job.some(&[0, 1, 3], op("all_reduce").on("2").at("backward", 60).size(&[1024]).scheduled());
    let answer = job.answer();
    answer.never_blames(&[0, 1, 3]);
    assert!(answer.faults().contains(&("missing_rank", "2")), "{:?}", answer.faults());
}

/// Tensor-parallel pairs, and a row of all after each of theirs.
fn pairs_then_all() -> Job {
    let mut job = Job::with_timing(4);
    job.group("1", "tp", &[0, 1]);
    job.group("2", "tp", &[2, 3]);
    for _ in 0..4 {
        job.all(op("all_reduce").on("1").at("attention", 50));
        job.all(op("all_reduce").on("2").at("attention", 50));
        job.all(op("all_reduce").at("backward", 60).size(&[1024]));
    }
    job.all(op("all_reduce").on("2").at("attention", 50));
    job.some(&[1], op("all_reduce").on("1").at("attention", 50).started());
    job.some(&[1], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.some(&[2, 3], op("all_reduce").at("backward", 60).size(&[1024]).started());
    job
}

/// Rank 1's device waits for rank 0 in their pair's row, so it has not reached the row of all, which ranks 2 and 3
/// have. It looks as if an earlier kernel of rank 1 hung; but what it waits in is recorded, and rank 0, stuck, is in
/// neither row.
#[test]
fn a_device_that_waits_in_another_group_does_not_hang() {
    pairs_then_all().answer().verdict_in(&["missing_rank"]).blames(&["0"]).never_blames(&[1, 2, 3]);
}

/// The same, but rank 0 left its pair's row out and is on the device in the row of all, as 2 and 3 are. Rank 1 alone
/// has not begun that row, and it did what all pairs did in all steps.
#[test]
fn a_device_behind_a_row_that_its_peer_left_out_does_not_hang() {
    let mut job = pairs_then_all();
    job.some(&[0], op("all_reduce").at("backward", 60).size(&[1024]).started());
    job.answer().hung().blames(&["0", ""]).never_blames(&[1, 2, 3]);
}

/// Rank 0, the root of a broadcast, has finished its part, and so have ranks 1 and 2; they wait in the next row. Rank
/// 3 is stuck before the broadcast.
#[test]
fn a_root_that_went_on_is_not_ahead_by_fault() {
    let mut job = Job::new(4);
    job.train(3);
    job.some(&[0, 1, 2], op("broadcast").at("sync_weights", 90).size(&[512]));
    job.wait_ms(50);
    job.some(&[0, 1, 2], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.answer().verdict_in(&["missing_rank"]).blames(&["3"]).in_row("0", 10);
}

/// Every step has a row of each node and then one of all. Rank 6 is stuck before its node's row: that is the place at
/// which it did not arrive. Its node waits there; the other node, which has done its own, waits in the row of all,
/// where rank 6 is absent too, but to which it would have come later.
#[test]
fn the_first_place_not_arrived_at_is_the_origin() {
    let mut job = Job::new(8);
    job.group("1", "tp", &[0, 1, 2, 3]);
    job.group("2", "tp", &[4, 5, 6, 7]);
    let (layer, gradients) = (op("all_reduce").at("attention", 30), op("all_reduce").at("backward", 60).size(&[1024]));
    for _ in 0..4 {
        job.all(layer.clone().on("1"));
        job.all(layer.clone().on("2"));
        job.all(gradients.clone());
    }
    job.all(layer.clone().on("1"));
    job.some(&[4, 5, 7], layer.on("2").scheduled());
    job.some(&[0, 1, 2, 3], gradients.scheduled());
    job.answer().verdict_in(&["missing_rank"]).blames(&["6"]).in_row("2", 5);
}
