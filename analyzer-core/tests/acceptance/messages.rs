//! Sends and receives.

use crate::fake::{Fake, check, check_healthy, op};

#[test]
fn a_pipeline_of_single_messages_is_silent() {
    let mut job = Fake::new(4);
    for _ in 0..5 {
        for rank in 0..3u32 {
            job.message(rank, &format!("send {rank}->{}", rank + 1), op("").at("forward", 10));
            job.message(rank + 1, &format!("recv {}<-{rank}", rank + 1), op("").at("forward", 11));
        }
    }
    job.all(op("all_reduce"));
    check_healthy(&job.report());
}

#[test]
fn a_batched_ring_is_silent() {
    let mut job = Fake::new(3);
    for rank in 0..3u32 {
        let (next, last) = ((rank + 1) % 3, (rank + 2) % 3);
        job.batch(rank, &[&format!("send {rank}->{next}"), &format!("recv {rank}<-{last}")], op(""));
    }
    job.all(op("all_reduce"));
    let analysis = job.analyze();
    check_healthy(analysis.report());
    // The block's cells show how its end is.
    assert!(analysis.table_index().rows.iter().all(|row| row.agrees), "{:?}", analysis.table_index().rows);
}

#[test]
fn a_symmetric_exchange_is_silent() {
    let mut job = Fake::new(2);
    for rank in 0..2u32 {
        let peer = 1 - rank;
        job.batch(rank, &[&format!("send {rank}->{peer}"), &format!("recv {rank}<-{peer}")], op(""));
    }
    check_healthy(&job.report());
}

#[test]
fn a_receive_that_was_never_posted() {
    let mut job = Fake::new(4);
    job.all(op("all_reduce"));
    job.message(0, "send 0->1", op("").scheduled().at("forward", 10));
    job.some(&[1, 2, 3], op("all_reduce").scheduled().at("step", 20));
    let report = job.report();
    check(&report, "p2p_unmatched", "1", None);
    let finding = &report.findings[0];
    assert_eq!(finding.p2p.map(|place| (place.src, place.dst, place.nth)), Some((0, 1, 1)));
    assert_eq!((finding.victims.as_str(), finding.blocked.as_str()), ("0", "2-3"));
}

#[test]
fn a_ring_of_sends_blames_nobody() {
    let mut job = Fake::new(4);
    job.all(op("all_reduce"));
    for rank in 0..4u32 {
        job.message(rank, &format!("send {rank}->{}", (rank + 1) % 4), op("").scheduled());
    }
    check(&job.report(), "cross_group_deadlock", "", None);
}

#[test]
fn a_message_of_another_size() {
    let mut job = Fake::new(2);
    for _ in 0..3 {
        job.message(0, "send 0->1", op("").size(&[4, 8])).message(1, "recv 1<-0", op("").size(&[4, 8]));
    }
    job.message(0, "send 0->1", op("").size(&[4, 8]).scheduled());
    job.message(1, "recv 1<-0", op("").size(&[2, 8]).scheduled());
    check(&job.report(), "p2p_size_mismatch", "1", None);
}

#[test]
fn messages_of_rings_that_wrapped_differently_still_meet() {
    let mut job = Fake::new(2);
    for _ in 0..10 {
        job.message(0, "send 0->1", op("")).message(1, "recv 1<-0", op(""));
    }
    job.wrap(0, 4, 504).wrap(1, 7, 507);
    check_healthy(&job.report());
}
