//! Call stacks that differ between ranks, and rightly so.

use serde_json::json;

use crate::job::{Job, Op, op};

/// The usual "first rank goes first": the others wait in a barrier on the way in, the first rank calls it on the way
/// out.
fn first_rank_goes_first(job: &mut Job, waiting: impl Fn(Op) -> Op) {
    let barrier = op("all_reduce_barrier").size(&[1]);
    job.some(&[0], waiting(barrier.clone().at("first_rank_first", 54)));
    job.some(&[1, 2, 3], waiting(barrier.at("first_rank_first", 50)));
    job.wait_ms(50);
}

/// All barriers finished. Different lines of one function met there, as they should.
#[test]
fn a_barrier_that_rank_0_calls_elsewhere_is_healthy() {
    let mut job = Job::new(4);
    for _ in 0..3 {
        first_rank_goes_first(&mut job, |barrier| barrier);
    }
    job.train(3);
    job.answer().healthy();
}

/// Three such barriers finished; in a fourth all ranks are on the device and nothing moves: the network. The first
/// rank's other line is no divergence: the same lines have met three times before, and finished.
#[test]
fn lines_that_have_met_before_are_no_divergence() {
    let mut job = Job::with_timing(4);
    for _ in 0..3 {
        first_rank_goes_first(&mut job, |barrier| barrier);
    }
    job.train(3);
    first_rank_goes_first(&mut job, Op::started);
    job.answer().hung().blames_nobody();
}

/// Rank 3 has run out of data and shadows the others' collectives from the join hook, as `Join` lets it.
fn steps_with_join(job: &mut Job, active: &[u32], steps: u32, state: impl Fn(Op) -> Op) {
    let (notify, gradients) = (op("all_reduce").size(&[1]), op("all_reduce").size(&[1024]));
    for _ in 0..steps {
        job.some(active, state(notify.clone().at("forward", 55)));
        job.some(&[3], state(notify.clone().at("join_exit", 82)));
        job.wait_ms(50);
        job.some(active, state(gradients.clone().at("backward", 60)));
        job.some(&[3], state(gradients.clone().at("join_exit", 82)));
        job.wait_ms(50);
    }
}

/// Every row has finished. For several steps rank 3 called each of them from elsewhere; that is what the hook is for.
#[test]
fn a_joined_rank_that_shadows_the_others_is_healthy() {
    let mut job = Job::new(4);
    job.train(2);
    steps_with_join(&mut job, &[0, 1, 2], 6, |op| op);
    job.answer().healthy();
}

/// As above, then rank 1 gets stuck in its data loader. The others wait in the next row, rank 3 from the hook, as in
/// all the finished rows before: rank 1 waits for nothing and is the one they wait for.
#[test]
fn a_joined_rank_is_not_blamed_for_a_stuck_one() {
    let mut job = Job::new(4);
    job.train(2);
    steps_with_join(&mut job, &[0, 1, 2], 6, |op| op);
    job.some(&[0, 2], op("all_reduce").size(&[1]).at("forward", 55).scheduled());
    job.some(&[3], op("all_reduce").size(&[1]).at("join_exit", 82).scheduled());
    job.answer().hung().blames(&["1"]).in_row("0", 19);
}

/// Eight ranks wait for rank 2, which is stuck.
fn rank_2_is_stuck() -> Job {
    let mut job = Job::new(8);
    job.train(5);
    job.some(&[0, 1, 3, 4, 5, 6, 7], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job
}

/// On the second host the same code is mounted under another path. Function and line agree, and fifteen rows finished
/// in spite of the path.
#[test]
fn the_same_code_under_another_path_is_no_divergence() {
    let mut job = rank_2_is_stuck();
    job.edit(&[6, 7], |entry| {
        for frame in entry["frames"].as_array_mut().unwrap() {
            if frame["filename"] == "/job/train.py" {
                frame["filename"] = json!("/mnt/shared/checkout/train.py");
            }
        }
    });
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]);
}

/// Rank 1's host has another build of PyTorch, whose own lines differ. The user's code is the same.
#[test]
fn another_build_of_the_library_is_no_divergence() {
    let mut job = rank_2_is_stuck();
    job.edit(&[1], |entry| {
        entry["frames"][0]["filename"] =
            json!("/opt/conda/lib/python3.10/site-packages/torch/distributed/distributed_c10d.py");
        entry["frames"][0]["line"] = json!(2806);
    });
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]);
}

/// Rank 5's recorder fell back to a dump without stacks. No stack is not another stack.
#[test]
fn a_rank_without_stacks_has_not_diverged() {
    let mut job = rank_2_is_stuck();
    job.edit(&[5], |entry| {
        entry.as_object_mut().unwrap().remove("frames");
    });
    job.answer().notes("no_frames").verdict_in(&["missing_rank"]).blames(&["2"]);
}

/// All eight are in the row, on their devices, and nothing moves; the second host's path and rank 1's library differ,
/// rank 5 has no stacks. All of that was so in the rows that finished: nobody has diverged.
#[test]
fn differences_that_were_always_there_do_not_explain_a_row_that_all_joined() {
    let mut job = Job::with_timing(8);
    job.train(5);
    job.all(op("all_reduce").at("backward", 60).size(&[1024]).started());
    job.edit(&[6, 7], |entry| entry["frames"][1]["filename"] = json!("/mnt/shared/checkout/train.py"));
    job.edit(&[1], |entry| entry["frames"][0]["line"] = json!(2806));
    job.edit(&[5], |entry| {
        entry.as_object_mut().unwrap().remove("frames");
    });
    job.answer().hung().blames_nobody();
}
