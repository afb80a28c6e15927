//! Sends and receives: pipelines, small buffered sends, receives posted ahead or from anybody.

use crate::job::{Job, Op, op};

/// Two pipelines of four stages over eight ranks; first and last stages share an embedding, the last stages a loss.
fn pipelines() -> Job {
    let mut job = Job::new(8);
    job.group("1", "pp", &[0, 2, 4, 6]);
    job.group("2", "pp", &[1, 3, 5, 7]);
    job.group("3", "embd", &[0, 6]);
    job.group("4", "embd", &[1, 7]);
    job.group("5", "last_stage", &[6, 7]);
    job
}

fn activations() -> Op {
    op("").size(&[4, 64])
}

/// One step of one pipeline.
fn step(job: &mut Job, pipeline: &str) {
    for _ in 0..2 {
        (0..3).for_each(|stage| job.delivered(pipeline, stage, stage + 1, activations()));
    }
    for _ in 0..2 {
        (0..3).rev().for_each(|stage| job.delivered(pipeline, stage + 1, stage, activations()));
    }
}

fn ends(job: &mut Job) {
    job.all(op("all_reduce").on("5").at("mean_loss", 72).size(&[1]));
    job.all(op("all_reduce").on("3").at("tie_embeddings", 85).size(&[256]));
    job.all(op("all_reduce").on("4").at("tie_embeddings", 85).size(&[256]));
    job.all(op("all_reduce").at("grad_norm", 90).size(&[1]));
}

/// Every stage runs another program: other messages, other groups, other counts. All finished.
#[test]
fn stages_with_programs_of_their_own_are_healthy() {
    let mut job = pipelines();
    for _ in 0..3 {
        step(&mut job, "1");
        step(&mut job, "2");
        ends(&mut job);
    }
    job.answer().healthy();
}

/// Rank 5, stage 2 of the second pipeline, is stuck in its forward pass before it posts its receive. The names of
/// messages count within the group: "2" is rank 5 there. Ranks 1, 3 and 7 wait in messages, rank 6 for 7 in the loss,
/// rank 0 for 6 in the embedding, 2 and 4 in the step's last row.
#[test]
fn a_stuck_stage_is_named_by_its_global_rank() {
    let mut job = pipelines();
    for _ in 0..2 {
        step(&mut job, "1");
        step(&mut job, "2");
        ends(&mut job);
    }
    step(&mut job, "1");
    job.delivered("2", 0, 1, activations());
    job.message(3, "send 1->2", activations().on("2").at("send_forward", 40).scheduled());
    job.message(7, "recv 3<-2", activations().on("2").at("recv_forward", 30).scheduled());
    job.message(1, "recv 0<-1", activations().on("2").at("recv_backward", 45).scheduled());
    job.some(&[6], op("all_reduce").on("5").at("mean_loss", 72).size(&[1]).scheduled());
    job.some(&[0], op("all_reduce").on("3").at("tie_embeddings", 85).size(&[256]).scheduled());
    job.some(&[2, 4], op("all_reduce").at("grad_norm", 90).size(&[1]).scheduled());
    job.answer().verdict_in(&["missing_rank", "p2p_unmatched"]).blames(&["5"]).never_blames(&[0, 1, 2, 3, 4, 6, 7]);
}

/// Rank 0's small send was buffered and finished; rank 1 has not got to its receive, because it waits for rank 2 in
/// their own group. A finished send without its receive is no fault; rank 2, which waits for nothing, is stuck.
#[test]
fn a_buffered_send_is_not_what_is_wrong() {
    let mut job = Job::new(4);
    job.group("1", "pp", &[0, 1]);
    job.group("2", "tp", &[1, 2, 3]);
    for _ in 0..3 {
        job.delivered("1", 0, 1, activations());
        job.all(op("all_reduce").on("2").at("attention", 50));
        job.delivered("1", 1, 0, activations());
    }
    job.delivered("1", 0, 1, activations());
    job.message(0, "send 0->1", activations().on("1").at("send_forward", 40));
    job.message(0, "recv 0<-1", activations().on("1").at("recv_backward", 45).scheduled());
    job.some(&[1, 3], op("all_reduce").on("2").at("attention", 50).scheduled());
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]).in_row("2", 4);
}

/// Rank 3 posts the receive of the next batch ahead, without waiting for it; then all do the gradients; then rank 0
/// sends. Four steps went so. In the fifth rank 3 posted its receive and got stuck before the gradients, in which the
/// others wait. Rank 0 has not sent: it never does before the gradients. If anybody is to blame it is rank 3.
#[test]
fn a_receive_posted_ahead_does_not_accuse_its_sender() {
    let mut job = Job::new(4);
    job.group("1", "feed", &[0, 3]);
    let gradients = op("all_reduce").at("backward", 60).size(&[1024]);
    for _ in 0..4 {
        job.message(3, "recv 1<-0", activations().on("1").at("prefetch", 20).took_ms(90));
        job.wait_ms(20);
        job.all(gradients.clone());
        job.message(0, "send 0->1", activations().on("1").at("feed", 22));
        job.wait_ms(50);
    }
    job.message(3, "recv 1<-0", activations().on("1").at("prefetch", 20).scheduled());
    job.wait_ms(20);
    job.some(&[0, 1, 2], gradients.scheduled());
    job.answer().hung().blames(&["3", ""]).never_blames(&[0, 1, 2]);
}

/// Ranks 1 and 2 report to rank 0, which takes what comes first: its receives name no sender. All delivered.
fn reports_from_anybody(job: &mut Job) {
    job.message(1, "send 1->0", op("").library("nccl2").at("report", 33));
    job.message(2, "send 2->0", op("").library("nccl2").at("report", 33));
    for _ in 0..2 {
        job.message(0, "recv 0<-?", op("").library("nccl2").at("collect", 31));
    }
    job.wait_ms(50);
}

#[test]
fn receives_from_anybody_are_healthy() {
    let mut job = Job::new(3);
    for _ in 0..3 {
        reports_from_anybody(&mut job);
        job.all(op("barrier").library("nccl2").sizes(&[], &[]).at("end_of_round", 35));
    }
    job.answer().healthy();
}

/// Rank 0 expects three reports. Ranks 1 and 2 sent theirs and wait at the end of the round; rank 3 is stuck and has
/// sent none, as it did in the rounds before. The receive that still waits names nobody, but only rank 3 waits for
/// nothing.
#[test]
fn a_receive_from_anybody_does_not_accuse_those_who_sent() {
    let mut job = Job::new(4);
    let barrier = op("barrier").library("nccl2").sizes(&[], &[]).at("end_of_round", 35);
    let report = |job: &mut Job, senders: &[u32]| {
        for rank in senders {
            job.message(*rank, &format!("send {rank}->0"), op("").library("nccl2").at("report", 33));
        }
        for _ in senders {
            job.message(0, "recv 0<-?", op("").library("nccl2").at("collect", 31));
        }
        job.wait_ms(50);
    };
    for _ in 0..3 {
        report(&mut job, &[1, 2, 3]);
        job.all(barrier.clone());
    }
    report(&mut job, &[1, 2]);
    job.message(0, "recv 0<-?", op("").library("nccl2").at("collect", 31).scheduled());
    job.some(&[1, 2], barrier.scheduled());
    job.answer().hung().blames(&["3"]);
}

/// What a rank of a ring of four exchanges with its neighbours.
fn ring_names(rank: u32) -> [String; 2] {
    [format!("send {rank}->{}", (rank + 1) % 4), format!("recv {rank}<-{}", (rank + 3) % 4)]
}

/// Ring attention: in each round every rank sends to the next and receives from the one before. Rank 2 is stuck; its
/// neighbours 1 and 3 wait in the round. Rank 0 has got all that it needs from 1 and 3 and waits in the next round:
/// it is ahead of everybody, and as innocent.
#[test]
fn a_rank_a_round_ahead_in_a_ring_is_innocent() {
    let mut job = Job::new(4);
    let end = op("").at("ring_attention", 47).size(&[8, 64]);
    for _ in 0..3 {
        for _ in 0..2 {
            (0..4).for_each(|rank| job.exchange(rank, &ring_names(rank), &end));
            job.wait_ms(50);
        }
        job.all(op("all_reduce").at("backward", 60).size(&[1024]));
    }
    job.exchange(1, &ring_names(1), &end.clone().scheduled());
    job.exchange(3, &ring_names(3), &end.clone().scheduled());
    job.exchange(0, &ring_names(0), &end);
    job.wait_ms(50);
    job.exchange(0, &ring_names(0), &end.clone().scheduled());
    job.answer().verdict_in(&["missing_rank", "p2p_unmatched"]).blames(&["2"]);
}

/// Messages of changing sizes both ways; rank 1 does more besides, and its ring has lost the first of them.
fn long_conversation() -> Job {
    let mut job = Job::new(3);
    job.group("1", "pp", &[0, 1]);
    job.group("2", "tp", &[1, 2]);
    for round in 0..20 {
        job.delivered("1", 0, 1, op("").size(&[4 + round % 3, 64]));
        job.all(op("all_reduce").on("2").at("attention", 50));
        job.delivered("1", 1, 0, op("").size(&[9 + round % 4, 64]));
    }
    job
}

/// All delivered. The first message that rank 1 still shows is not the first that rank 0 sent; counted from there,
/// all sizes would be wrong.
#[test]
fn messages_before_a_wrapped_window_are_healthy() {
    let mut job = long_conversation();
    job.ring(1, 31);
    job.answer().healthy();
}

/// The same, then rank 1 waits for the next message, which rank 0, stuck, has not sent, and rank 2 waits for rank 1.
#[test]
fn messages_before_a_wrapped_window_do_not_hide_who_is_stuck() {
    let mut job = long_conversation();
    job.message(1, "recv 1<-0", op("").on("1").at("recv_forward", 30).size(&[6, 64]).scheduled());
    job.some(&[2], op("all_reduce").on("2").at("attention", 50).scheduled());
    job.ring(1, 32);
    job.answer().verdict_in(&["missing_rank", "p2p_unmatched"]).blames(&["0"]);
}

/// A last small message was sent and buffered; its receiver has not asked for it and never needs to. Nothing waits.
#[test]
fn a_buffered_send_that_nobody_received_is_healthy() {
    let mut job = Job::new(4);
    job.train(3);
    job.message(0, "send 0->1", op("").at("send_hint", 41).size(&[1]));
    job.wait_ms(50);
    job.train(3);
    job.answer().healthy();
}
