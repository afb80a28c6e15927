//! What the end of a job leaves behind: rows released by the abort, calls from exception handlers, ranks that arrive
//! too late.

use crate::job::{Job, Op, op};

fn gradients() -> Op {
    op("all_reduce").at("backward", 60).size(&[1024])
}

/// Rank 2 is stuck. Rank 1's wait raised an exception after ten minutes, and its handler reports to the others
/// through a barrier: rank 1 alone has a call there, from a function that no other rank's stack shows. That is the
/// hang's consequence; it happened ten minutes later.
#[test]
fn an_exception_handler_of_a_victim_is_not_the_cause() {
    let mut job = Job::new(4);
    job.train(5);
    job.some(&[0, 3], gradients().scheduled());
    job.some(&[1], gradients().given_up());
    job.wait_ms(601_000);
    job.some(&[1], op("all_reduce_barrier").size(&[1]).at("on_exception", 97).scheduled());
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]).in_row("0", 16);
}

/// The same, but the abort marked rank 1's row complete, late. Rank 1 seems to be a row ahead of all others, in an
/// operation of its own.
#[test]
fn a_victim_released_into_its_exception_handler_is_not_ahead() {
    let mut job = Job::new(4);
    job.train(5);
    job.some(&[0, 3], gradients().scheduled());
    job.some(&[1], gradients().took_ms(601_000));
    job.wait_ms(602_000);
    job.some(&[1], op("all_reduce_barrier").size(&[1]).at("on_exception", 97).scheduled());
    job.answer().hung().blames(&["2"]).never_blames(&[0, 1, 3]);
}

/// The abort released all that waited: their row is complete, eleven minutes after issue, and nothing is pending
/// anywhere. Rank 2, stuck, never issued it.
#[test]
fn ranks_released_by_the_abort_had_waited_for_the_one_that_did_not_come() {
    let mut job = Job::new(4);
    job.train(5);
    job.some(&[0, 1, 3], gradients().took_ms(660_000));
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]).in_row("0", 16);
}

/// Rank 2 came after the abort: its row is pending, the others' are complete, late. They have not run ahead of it;
/// they gave up.
#[test]
fn ranks_that_gave_up_before_the_latecomer_are_innocent() {
    let mut job = Job::new(4);
    job.train(5);
    job.some(&[0, 1, 3], gradients().took_ms(605_000));
    job.wait_ms(640_000);
    job.some(&[2], gradients().scheduled());
    job.answer().hung().blames(&["2", ""]).never_blames(&[0, 1, 3]);
}
