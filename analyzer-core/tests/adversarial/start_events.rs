//! Start events that only some ranks record: elsewhere "scheduled" may mean running.

use crate::job::{Job, op};

/// Four ranks on their devices in a row that does not move; these record no start events.
fn all_on_the_device(without: &[u32]) -> Job {
    let mut job = Job::with_timing(4);
    job.train(5);
    let pending = op("all_reduce").at("backward", 60).size(&[1024]);
    let with: Vec<u32> = (0..4).filter(|rank| !without.contains(rank)).collect();
    job.some(&with, pending.clone().started());
    job.some(without, pending.scheduled());
    job.no_start_events(without);
    job
}

/// The variable is set on one host of two. The ranks of the other cannot say that they have started; the network is
/// down for all.
#[test]
fn ranks_without_start_events_have_not_failed_to_start() {
    for without in [&[2, 3][..], &[1, 2, 3], &[3]] {
        all_on_the_device(without).answer().hung().blames_nobody();
    }
}

/// Here rank 1 does record start events, and has not started, while ranks 0 and 2 have: an earlier kernel of rank 1
/// hangs. Rank 3, which records none, is in the same state by name only.
#[test]
fn a_rank_without_start_events_does_not_share_the_blame() {
    let mut job = Job::with_timing(4);
    job.train(5);
    let pending = op("all_reduce").at("backward", 60).size(&[1024]);
    job.some(&[0, 2], pending.clone().started());
    job.some(&[1, 3], pending.scheduled());
    job.no_start_events(&[3]);
    job.answer().verdict_in(&["rank_behind"]).blames(&["1"]);
}
