//! Sends and receives.

use hangscope_analyzer_core::report::{Cause, Confidence, Kind, RankStatus};

use crate::fake::{Fake, cell, check, check_class, check_healthy, check_says, only, op, sites};

// Rules 7.16
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

// A6
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
    // The members of the block are scheduled; their cells show how its end is.
    let index = analysis.table_index();
    assert!(index.rows.iter().all(|row| row.agrees), "{:?}", index.rows);
    assert_eq!(index.rows.len(), 4);
    for rank in 0..3u32 {
        let number = format!("{rank}→{} #1", (rank + 1) % 3);
        assert_eq!(cell(&analysis, "world", &number, rank), "completed");
        assert_eq!(cell(&analysis, "world", &number, (rank + 1) % 3), "completed");
        assert!(analysis.report().ranks[rank as usize].waits_in.is_none());
    }
}

// Rules 7.17
#[test]
fn a_symmetric_exchange_is_silent() {
    let mut job = Fake::new(2);
    for rank in 0..2u32 {
        let peer = 1 - rank;
        job.batch(rank, &[&format!("send {rank}->{peer}"), &format!("recv {rank}<-{peer}")], op(""));
    }
    check_healthy(&job.report());
}

// A7
#[test]
fn a_receive_that_was_never_posted() {
    let mut job = Fake::new(4);
    job.all(op("all_reduce"));
    job.message(0, "send 0->1", op("").scheduled().at("forward", 10));
    job.some(&[1, 2, 3], op("all_reduce").scheduled().at("step", 20));
    let report = job.report();
    check(&report, "p2p_unmatched", "1", None);
    let finding = only(&report);
    check_class(finding, Cause::CpuDivergence, Confidence::High);
    assert_eq!(finding.p2p.map(|place| (place.src, place.dst, place.nth)), Some((0, 1, 1)));
    assert_eq!((finding.victims.as_str(), finding.blocked.as_str()), ("0", "2-3"));
    // It reached the all_reduce without posting the receive.
    assert!(report.headline.contains("step") && report.headline.contains("recv"), "{}", report.headline);
    assert_eq!(sites(finding), ["forward", "step"]);
    let waits_for: Vec<String> = report.ranks.iter().map(|state| state.waits_for.to_string()).collect();
    assert_eq!(waits_for, ["1", "0", "0", "0"]);
    let seq = |rank: usize| report.ranks[rank].waits_in.as_ref().and_then(|place| place.seq);
    assert_eq!([seq(0), seq(1), seq(3)], [None, Some(2), Some(2)]);
}

// A8
#[test]
fn a_ring_of_sends_blames_nobody() {
    let mut job = Fake::new(4);
    job.all(op("all_reduce"));
    for rank in 0..4u32 {
        job.message(rank, &format!("send {rank}->{}", (rank + 1) % 4), op("").scheduled().at("exchange", 10 + rank));
    }
    let report = job.report();
    check(&report, "cross_group_deadlock", "", None);
    let finding = only(&report);
    assert!(report.headline.contains("0-3"), "{}", report.headline);
    let mut ring: Vec<&str> = finding.sides.iter().map(|side| side.ranks.as_str()).collect();
    ring.sort_unstable();
    assert_eq!(ring, ["0", "1", "2", "3"]);
    assert_eq!(finding.cycle.len(), 4);
    let waits_for: Vec<String> = report.ranks.iter().map(|state| state.waits_for.to_string()).collect();
    assert_eq!(waits_for, ["1", "2", "3", "0"]);
    assert!(report.ranks.iter().all(|state| state.status != RankStatus::Suspect));
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

/// A step of a pipeline of four stages, as far as each rank gets: three microbatches forward, then everybody meets.
pub fn pipeline(job: &mut Fake, microbatches: std::ops::Range<u32>, skip: impl Fn(&str) -> bool) {
    for _ in microbatches {
        for rank in 0..3u32 {
            let (send, recv) = (format!("send {rank}->{}", rank + 1), format!("recv {}<-{rank}", rank + 1));
            if !skip(&send) {
                job.message(rank, &send, op("").at("forward", 10));
            }
            if !skip(&recv) {
                job.message(rank + 1, &recv, op("").at("forward", 11));
            }
        }
    }
}

// Rules 7.18
#[test]
fn a_pipeline_stage_that_skips_one_receive() {
    let mut job = Fake::new(4);
    pipeline(&mut job, 0..3, |_| false);
    job.all(op("all_reduce").at("step", 20));
    // Rank 2 leaves out its third receive and goes on: its send, then the all_reduce, where all but rank 1 wait.
    pipeline(&mut job, 0..2, |_| false);
    pipeline(&mut job, 2..3, |name| name == "recv 2<-1" || name == "send 1->2");
    job.message(1, "send 1->2", op("").scheduled().at("forward", 10));
    job.some(&[0, 2, 3], op("all_reduce").scheduled().at("step", 20));
    let report = job.report();
    check(&report, "p2p_unmatched", "2", None);
    let finding = only(&report);
    assert_eq!(finding.cause, Cause::CpuDivergence);
    assert_eq!(finding.p2p.map(|place| (place.src, place.dst, place.nth)), Some((1, 2, 6)));
    assert_eq!((finding.victims.as_str(), finding.blocked.as_str()), ("1", "0,3"));
}

// Rules 7.18, a stage in the middle stopped: both its neighbours wait for it
#[test]
fn a_pipeline_stage_that_stops_between_two_others() {
    let mut job = Fake::new(4);
    pipeline(&mut job, 0..3, |_| false);
    job.all(op("all_reduce").at("step", 20));
    pipeline(&mut job, 0..2, |_| false);
    job.message(0, "send 0->1", op("").at("forward", 10)).message(1, "recv 1<-0", op("").at("forward", 11));
    job.message(1, "send 1->2", op("").scheduled().at("forward", 10));
    job.message(3, "recv 3<-2", op("").scheduled().at("forward", 11));
    job.some(&[0], op("all_reduce").scheduled().at("step", 20));
    let report = job.report();
    check(&report, "p2p_unmatched", "2", None);
    let finding = only(&report);
    assert_eq!(finding.cause, Cause::CpuStuck);
    let pair = finding.p2p.map(|place| (place.src, place.dst, place.nth));
    assert_eq!(pair, Some((1, 2, 6)));
}

// Rules 7.18, the last stage stopped
#[test]
fn a_pipeline_stage_that_stops_before_a_receive() {
    let mut job = Fake::new(4);
    pipeline(&mut job, 0..3, |_| false);
    job.all(op("all_reduce").at("step", 20));
    pipeline(&mut job, 0..2, |_| false);
    pipeline(&mut job, 2..3, |name| name == "recv 3<-2" || name == "send 2->3");
    job.message(2, "send 2->3", op("").scheduled().at("forward", 10));
    job.some(&[0, 1], op("all_reduce").scheduled().at("step", 20));
    let report = job.report();
    check(&report, "p2p_unmatched", "3", None);
    let finding = only(&report);
    assert_eq!(finding.cause, Cause::CpuStuck);
    assert_eq!(finding.p2p.map(|place| (place.src, place.dst, place.nth)), Some((2, 3, 6)));
    assert_eq!((finding.victims.as_str(), finding.blocked.as_str()), ("2", "0-1"));
}

/// Rank 2 leaves its send out of a block that all ranks post alike; each other message has both ends.
#[test]
fn a_message_left_out_of_a_block() {
    let ring = |lacking: &str, world: u32| {
        let mut job = Fake::new(world);
        for rank in 0..world {
            let (next, last) = ((rank + 1) % world, (rank + world - 1) % world);
            let names = [format!("send {rank}->{next}"), format!("recv {rank}<-{last}")];
            let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| *name != lacking).collect();
            job.batch(rank, &names, op("").scheduled().at("exchange", 40));
        }
        job.report()
    };
    let report = ring("send 2->3", 6);
    check(&report, "p2p_unmatched", "2", None);
    check_class(only(&report), Cause::CpuDivergence, Confidence::Medium);
    check_says(&report, &["Rank 2 never posted the send", "a block of 1 where most ranks posted 2", "rank 3 waits"]);
    check(&ring("recv 4<-3", 6), "p2p_unmatched", "4", None);
    // Of two ranks none is the usual one.
    check(&ring("send 0->1", 2), "cross_group_deadlock", "", None);
}

/// The two ends of a message use different groups: nothing tells which of them is wrong, so that the other half is named.
#[test]
fn the_other_half_in_another_group_is_named() {
    let mut job = Fake::new(4).group("5", "tag 5", &[0, 1, 2, 3]).group("6", "tag 6", &[0, 1, 2, 3]);
    job.all(op("all_reduce"));
    job.message(2, "send 2->3", op("").on("6").at("exchange", 40));
    job.message(3, "recv 3<-2", op("").on("5").scheduled().at("exchange", 41));
    job.some(&[0, 1, 2], op("all_reduce").scheduled());
    let report = job.report();
    check(&report, "p2p_unmatched", "2", None);
    let alternatives = &only(&report).alternatives;
    assert_eq!(alternatives.len(), 1);
    let why = &alternatives[0].why;
    assert!(why.contains("rank 2 posted a send for message 1 from rank 2 to rank 3 in tag 6"), "{why}");
    assert!(why.contains("rank 3 has nothing for it") && why.contains("group or tag"), "{why}");
}

/// A dtype that a recorder leaves out at one end is none that differs.
#[test]
fn an_end_without_a_dtype_is_no_mismatch() {
    let mut job = Fake::new(2);
    job.message(0, "send 0->1", op("").scheduled()).message(1, "recv 1<-0", op("").scheduled());
    job.edit_all(|rank, entry| {
        if rank == 0 {
            entry["input_dtypes"] = serde_json::json!([]);
            entry["output_dtypes"] = serde_json::json!([]);
        }
    });
    let report = job.report();
    assert!(report.findings.iter().all(|finding| finding.kind != Kind::P2pSizeMismatch), "{}", report.headline);
}
