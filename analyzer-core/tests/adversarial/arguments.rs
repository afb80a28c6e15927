//! Sizes that rightly differ between ranks.

use crate::job::{Job, Op, op};

/// Tokens that each rank of an expert-parallel group sends and receives; the totals agree. Rank 1 has none to send,
/// rank 3 none to receive.
const TOKENS: [(i64, i64); 4] = [(5, 4), (0, 4), (9, 8), (2, 0)];

fn exchange(job: &mut Job, ranks: &[u32], back: bool, state: impl Fn(u32, Op) -> Op) {
    for &rank in ranks {
        let (there, here) = TOKENS[rank as usize];
        let (sent, received) = if back { (here, there) } else { (there, here) };
        let call = op("all_to_all").at(if back { "combine" } else { "dispatch" }, if back { 44 } else { 40 });
        job.some(&[rank], state(rank, call.sizes(&[&[sent, 8]], &[&[received, 8]])));
    }
    job.wait_ms(50);
}

/// Uneven exchanges, some with nothing to send or to receive, all finished.
#[test]
fn experts_without_tokens_are_healthy() {
    let mut job = Job::new(4);
    for _ in 0..4 {
        exchange(&mut job, &[0, 1, 2, 3], false, |_, op| op);
        exchange(&mut job, &[0, 1, 2, 3], true, |_, op| op);
    }
    job.answer().healthy();
}

/// Rank 1 is stuck before the next exchange. Without its share the totals cannot agree; that is no fault of the three
/// that wait.
#[test]
fn totals_of_an_exchange_do_not_count_while_a_member_is_missing() {
    let mut job = Job::new(4);
    for _ in 0..4 {
        exchange(&mut job, &[0, 1, 2, 3], false, |_, op| op);
        exchange(&mut job, &[0, 1, 2, 3], true, |_, op| op);
    }
    exchange(&mut job, &[0, 2, 3], false, |_, op| op.scheduled());
    job.answer().verdict_in(&["missing_rank"]).blames(&["1"]).in_row("0", 9);
}

/// All are in the exchange; rank 1, which has little to do there, finished, and the link between the others is down.
/// The totals agree. Three of four that have not finished are not the slow ones, and rank 1 has done its part.
#[test]
fn a_rank_that_had_nothing_to_send_may_finish_first() {
    let mut job = Job::with_timing(4);
    for _ in 0..4 {
        exchange(&mut job, &[0, 1, 2, 3], true, |_, op| op);
    }
    exchange(&mut job, &[0, 1, 2, 3], false, |rank, op| if rank == 1 { op } else { op.started() });
    job.answer().hung().blames_nobody();
}

/// A gather to rank 0: only the root has the list, the others an undefined tensor.
fn gather(job: &mut Job, ranks: &[u32], state: impl Fn(Op) -> Op) {
    for &rank in ranks {
        let call = op("gather").at("collect_metrics", 75);
        let own: &[i64] = &[4];
        let call = match rank {
            0 => call.sizes(&[own], &[own; 4]),
            _ => call.sizes(&[own], &[&[0]]).dtypes("Float", "Undefined"),
        };
        job.some(&[rank], state(call));
    }
    job.wait_ms(50);
}

/// A scatter from rank 0 in stock NCCL, which records it the wrong way round: the received tensor as input, the
/// root's list as output.
fn scatter(job: &mut Job, ranks: &[u32], state: impl Fn(Op) -> Op) {
    for &rank in ranks {
        let call = op("scatter").at("share_batch", 25);
        let own: &[i64] = &[4];
        let call = match rank {
            0 => call.sizes(&[own], &[own; 4]),
            _ => call.sizes(&[own], &[&[0]]).dtypes("Float", "Undefined"),
        };
        job.some(&[rank], state(call));
    }
    job.wait_ms(50);
}

/// All finished; the root differs from the others, as it must.
#[test]
fn roots_of_gather_and_scatter_are_healthy() {
    let mut job = Job::new(4);
    for _ in 0..3 {
        scatter(&mut job, &[0, 1, 2, 3], |op| op);
        gather(&mut job, &[0, 1, 2, 3], |op| op);
    }
    job.answer().healthy();
}

/// Rank 3 is stuck before a gather, or before a scatter. The root waits with the others, with other sizes and another
/// dtype, as in all rows before.
#[test]
fn the_root_of_a_pending_gather_or_scatter_is_innocent() {
    for pending in [gather, scatter] as [fn(&mut Job, &[u32], fn(Op) -> Op); 2] {
        let mut job = Job::new(4);
        scatter(&mut job, &[0, 1, 2, 3], |op| op);
        gather(&mut job, &[0, 1, 2, 3], |op| op);
        pending(&mut job, &[0, 1, 2], Op::scheduled);
        job.answer().verdict_in(&["missing_rank"]).blames(&["3"]).in_row("0", 3);
    }
}

/// All members are in a gather and on their devices, and nothing moves: the network. The root's list is what makes it
/// the root.
#[test]
fn the_root_of_a_gather_that_all_joined_is_innocent() {
    let mut job = Job::with_timing(4);
    gather(&mut job, &[0, 1, 2, 3], |op| op);
    gather(&mut job, &[0, 1, 2, 3], Op::started);
    job.answer().verdict_in(&["all_joined"]).blames_nobody();
}

/// An all_gather of uneven shards, which is a block of broadcasts of different sizes.
fn uneven_all_gather(job: &mut Job, ranks: &[u32], state: impl Fn(Op) -> Op) {
    let parts = [3, 5, 4, 4].map(|length| op("_broadcast_oop").at("gather_shards", 35).size(&[length]));
    job.block(ranks, &parts, &state(op("ALLGATHER_coalesced").at("gather_shards", 35)));
    job.wait_ms(50);
}

/// All blocks finished. Their parts stay scheduled for ever and carry one number; that is how they are recorded.
#[test]
fn uneven_shards_are_healthy() {
    let mut job = Job::new(4);
    for _ in 0..3 {
        uneven_all_gather(&mut job, &[0, 1, 2, 3], |op| op);
        job.train(1);
    }
    job.answer().healthy();
}

/// Rank 2 is stuck before the next block.
#[test]
fn uneven_shards_do_not_hide_who_is_stuck() {
    let mut job = Job::new(4);
    for _ in 0..3 {
        uneven_all_gather(&mut job, &[0, 1, 2, 3], |op| op);
        job.train(1);
    }
    uneven_all_gather(&mut job, &[0, 1, 3], Op::scheduled);
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]).in_row("0", 13);
}

/// One rank passes its tensor as a matrix, the others flat: as many numbers, in the same order.
fn views(job: &mut Job, ranks: &[u32], state: impl Fn(Op) -> Op) {
    for &rank in ranks {
        let shape: &[i64] = if rank == 1 { &[32, 32] } else { &[1024] };
        job.some(&[rank], state(op("all_reduce").at("backward", 60).size(shape)));
    }
    job.wait_ms(50);
}

/// Equal counts in another shape finished, as they should.
#[test]
fn another_view_of_as_many_numbers_is_healthy() {
    let mut job = Job::new(4);
    (0..5).for_each(|_| views(&mut job, &[0, 1, 2, 3], |op| op));
    job.answer().healthy();
}

/// Rank 3 is stuck; rank 1's shape, which is not the others', did not matter in the rows before and does not now.
#[test]
fn another_view_of_as_many_numbers_is_not_what_is_wrong() {
    let mut job = Job::new(4);
    (0..5).for_each(|_| views(&mut job, &[0, 1, 2, 3], |op| op));
    views(&mut job, &[0, 1, 2], Op::scheduled);
    job.answer().verdict_in(&["missing_rank"]).blames(&["3"]).in_row("0", 6);
}
