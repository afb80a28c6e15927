//! Healthy jobs, caught in the middle of a step.

use crate::job::{Job, op};

/// A trace asked for through the pipe. Every rank issues ahead of its device, one more than another; all have issued
/// the row that the devices are about to do. Nobody is missing from it, and nobody is slow: to issue less far ahead
/// is no fault. At most one may say that a row has not finished.
#[test]
fn ranks_that_issue_ahead_unevenly_are_healthy() {
    let mut job = Job::new(4);
    job.train(10);
    for depth in 0..5 {
        let issued: Vec<u32> = (0..4).filter(|rank| depth < [3, 1, 5, 2][*rank as usize]).collect();
        job.some(&issued, op("all_reduce").at("backward", 60 + depth).size(&[1024]).scheduled());
        job.wait_ms(2);
    }
    job.answer().verdict_in(&["no_fault", "all_joined"]).blames_nobody();
}

/// The root of small broadcasts has finished four that the others are still about to receive. A root may run ahead;
/// all have issued the next one to be received.
#[test]
fn a_root_ahead_of_its_receivers_is_healthy() {
    let mut job = Job::with_timing(4);
    job.train(5);
    for tensor in 0..4 {
        let call = op("broadcast").at("sync_buffers", 90).size(&[tensor + 1]).took_ms(1);
        job.some(&[0], call.clone());
        job.some(&[1, 2, 3], if tensor == 0 { call.started() } else { call.scheduled() });
        job.wait_ms(2);
    }
    job.answer().blames_nobody();
}

/// A row in which all are on the device, a moment after it began; two ranks of eight have already finished it.
#[test]
fn a_row_that_some_have_just_finished_blames_nobody() {
    let mut job = Job::with_timing(8);
    job.train(5);
    let call = op("all_reduce").at("backward", 60).size(&[1024]);
    job.some(&[2, 5], call.clone().took_ms(2));
    job.some(&[0, 1, 3, 4, 6, 7], call.started());
    job.answer().blames_nobody();
}
