//! Majorities that are wrong, and siblings that must not vote.

use crate::job::{Job, op};

/// Four stages of two tensor-parallel ranks. The first stage embeds before each layer; the others do not. Rank 1 left
/// out the embedding's row and went on, so that its row 7 is what the other stages' row 7 is, and the row before is
/// the same call everywhere. But these siblings run another program: by their vote rank 0 would be wrong, which did
/// what its own stage has done twice before.
#[test]
fn stages_of_another_program_do_not_vote_on_calls() {
    let mut job = Job::new(8);
    let stages = [("1", [0, 1]), ("2", [2, 3]), ("3", [4, 5]), ("4", [6, 7])];
    for (name, members) in &stages {
        job.group(name, "tp", members);
    }
    job.all(op("all_reduce").at("warm_up", 5));
    let (embed, attention, mlp) =
        (op("all_reduce").at("embed", 30), op("all_reduce").at("attention", 50), op("all_reduce").at("mlp", 60));
    for _ in 0..2 {
        for layer in [&embed, &attention, &mlp] {
            job.all(layer.clone().on("1"));
        }
    }
    for (name, _) in &stages[1..] {
        for _ in 0..4 {
            job.all(attention.clone().on(name));
            job.all(mlp.clone().on(name));
        }
    }
    job.some(&[0], embed.on("1").scheduled());
    job.some(&[1], attention.on("1").scheduled());
    job.some(&[2, 3, 4, 5, 6, 7], op("all_reduce").at("grad_norm", 90).scheduled());
    job.answer().hung().blames(&["1", ""]).in_row("1", 7).never_blames(&[0]);
}

/// Data-parallel groups of four pipeline stages, each with its own bucket sizes: the first stage's odd rows are [8],
/// the other stages' [16]; even rows are [24] everywhere. In row 7 rank 2 took the wrong bucket, [16]. The other
/// stages have [16] there, as they always had; rank 0 has [8], as its stage always had.
#[test]
fn stages_with_other_buckets_do_not_vote_on_sizes() {
    let mut job = Job::new(8);
    let stages = [("1", [0, 2], 8), ("2", [1, 3], 16), ("3", [4, 6], 16), ("4", [5, 7], 16)];
    for (name, members, _) in &stages {
        job.group(name, "dp", members);
    }
    let bucket = op("all_reduce").at("reduce_bucket", 60);
    for _ in 0..3 {
        for (name, _, odd) in &stages {
            job.all(bucket.clone().on(name).size(&[*odd]));
            job.all(bucket.clone().on(name).size(&[24]));
        }
    }
    for (name, _, odd) in &stages[1..] {
        job.all(bucket.clone().on(name).size(&[*odd]));
    }
    job.some(&[0], bucket.clone().on("1").size(&[8]).scheduled());
    job.some(&[2], bucket.on("1").size(&[16]).scheduled());
    job.some(&[1, 3, 4, 5, 6, 7], op("all_reduce").at("grad_norm", 90).scheduled());
    job.answer().verdict_in(&["size_mismatch"]).blames(&["2", ""]).in_row("1", 7).never_blames(&[0]);
}

/// All of the second host are stuck on its file system, half of the job. The half that issued the row waits; it has
/// issued nothing extra.
#[test]
fn half_of_the_job_that_waits_is_innocent() {
    let mut job = Job::new(8);
    job.train(5);
    job.some(&[0, 1, 2, 3], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.answer().hung().blames(&["4-7", ""]).never_blames(&[0, 1, 2, 3]);
}

/// Six of eight ranks are stuck in a slow data service; two had their batch cached and wait. The six are the
/// majority, and they agree in having issued nothing; the two that went on as in every step before are not the odd
/// ones.
#[test]
fn the_two_that_arrived_first_are_innocent() {
    let mut job = Job::new(8);
    job.train(5);
    job.some(&[0, 1], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.answer().hung().blames(&["2-7", ""]).never_blames(&[0, 1]);
}

/// Experts on ranks 5 to 7; each step has a row of theirs and then one of all. Rank 7 left theirs out and waits in
/// the row of all with the other six of eight, ranks 5 and 6 wait in theirs. The waits go round, and the larger crowd
/// is in the later row; yet it is rank 7 that left the order of all steps before.
#[test]
fn the_smaller_group_is_not_behind_because_most_wait_elsewhere() {
    let mut job = Job::new(8);
    job.group("1", "experts", &[5, 6, 7]);
    let (experts, gradients) =
        (op("all_reduce").on("1").at("route", 40), op("all_reduce").at("backward", 60).size(&[1024]));
    for _ in 0..5 {
        job.all(experts.clone());
        job.all(gradients.clone());
    }
    job.some(&[5, 6], experts.scheduled());
    job.some(&[0, 1, 2, 3, 4, 7], gradients.scheduled());
    job.answer().hung().blames(&["7", ""]).never_blames(&[0, 1, 2, 3, 4, 5, 6]);
}
