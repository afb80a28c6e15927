//! Cases that are to come out so, and do not yet.

use hangscope_analyzer_core::report::{Cause, RankStatus};

use crate::fake::{Fake, analyze_documents, check, check_healthy, check_says, only, op, sites};
use crate::messages::pipeline;
use crate::recorders::torchcomms;

// A11, in words
#[test]
fn of_two_call_sites_one_is_a_call_ahead() {
    let mut job = Fake::trained(2);
    let call = op("all_to_all").sizes(&[4], &[4]).scheduled();
    job.some(&[0], call.clone().at("input_dist", 20)).some(&[1], call.at("output_dist", 30));
    let report = job.report();
    check(&report, "call_site_mismatch", "", Some(4));
    check_says(&report, &["one call ahead"]);
}

// A19 and Rules 7.25, in words
#[test]
fn what_an_abort_released_is_called_so() {
    let mut job = Fake::trained(4);
    job.all(op("all_reduce").took_ms(11 * 60 * 1000));
    let report = job.report();
    check(&report, "all_joined", "", Some(4));
    check_says(&report, &["released", "abort"]);
}

// Rules 7.6, both stacks
#[test]
fn the_rank_that_swapped_shows_where_it_waits() {
    let mut job = Fake::new(4).group("1", "a", &[0, 1, 2, 3]).group("2", "b", &[0, 1, 2, 3]);
    job.all(op("all_reduce").on("1")).all(op("all_reduce").on("2"));
    let a = op("all_reduce").on("1").scheduled().at("sync_a", 50);
    let b = op("all_reduce").on("2").scheduled().at("sync_b", 51);
    job.some(&[0, 2, 3], a.clone()).some(&[0, 2, 3], b.clone()).some(&[1], b).some(&[1], a);
    let report = job.report();
    check(&report, "order_mismatch", "1", Some(2));
    let shown = sites(only(&report));
    assert!(shown.contains(&"sync_a") && shown.contains(&"sync_b"), "{shown:?}");
}

// Rules 7.7
#[test]
fn devices_that_run_two_groups_in_different_orders() {
    let mut job = Fake::trained_with_timing(4).group("1", "a", &[0, 1, 2, 3]).group("2", "b", &[0, 1, 2, 3]);
    for _ in 0..2 {
        job.all(op("all_reduce").on("1").at("sync_a", 50)).all(op("all_reduce").on("2").at("sync_b", 51));
    }
    let a = op("all_reduce").on("1").at("sync_a", 50);
    let b = op("all_reduce").on("2").at("sync_b", 51);
    // Everybody issues a before b; the devices of 2 and 3 begin with b.
    job.some(&[0, 1], a.clone().started()).some(&[0, 1], b.clone().scheduled());
    job.some(&[2, 3], a.scheduled()).some(&[2, 3], b.started());
    let report = job.report();
    check(&report, "cross_group_deadlock", "", Some(3));
    let finding = only(&report);
    assert_eq!(finding.cause, Cause::LaunchOrder);
    let advice = finding.next_steps.iter().any(|step| step.contains("NCCL_LAUNCH_ORDER_IMPLICIT=1"));
    assert!(advice, "{:?}", finding.next_steps);
    assert!(report.ranks.iter().all(|state| state.status != RankStatus::Suspect));
}

// Rules 7.23, ranks that are in one communicator alone
#[test]
fn a_rank_in_one_communicator_counts_from_the_same_number() {
    const DONE: &str = "completed";
    let members: [(&str, &[u32]); 2] = [("main", &[0, 1, 2, 3]), ("left", &[0, 1])];
    // Ranks 0 and 1 have one more operation between any two of the main communicator: their counters run ahead.
    let both: [(&str, &str); 6] =
        [("main", DONE), ("left", DONE), ("main", DONE), ("left", DONE), ("main", DONE), ("left", DONE)];
    let one: [(&str, &str); 3] = [("main", DONE); 3];
    let analysis = analyze_documents(&torchcomms(&[&both, &both, &one, &one], &members));
    check_healthy(analysis.report());
    let index = analysis.table_index();
    assert_eq!(index.bands.iter().map(|band| band.row_count).sum::<u32>(), 6);
    assert!(index.rows.iter().all(|row| row.agrees), "{:?}", index.rows);

    // Rank 3 does not come to the third operation of the main communicator.
    let mut waits = both;
    waits[4].1 = "scheduled";
    let mut waits_too = one;
    waits_too[2].1 = "scheduled";
    let hung = torchcomms(&[&waits[..5], &waits[..5], &waits_too, &one[..2]], &members);
    let hung = analyze_documents(&hung);
    check(hung.report(), "missing_rank", "3", Some(3));
    let finding = only(hung.report());
    assert_eq!((finding.group.as_ref().unwrap().name.as_str(), finding.victims.as_str()), ("main", "0-2"));
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
