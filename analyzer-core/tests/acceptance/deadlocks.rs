//! Two groups that wait for each other.

use hangscope_analyzer_core::report::{Cause, Kind, RankStatus};

use crate::fake::{Fake, check, only, op, sites};

// Rules 7.6, groups that share some of their members
#[test]
fn one_rank_issues_two_groups_the_other_way_round() {
    let mut job = Fake::new(5).group("1", "a", &[0, 1, 2, 3]).group("2", "b", &[1, 2, 3, 4]);
    for _ in 0..2 {
        job.all(op("all_reduce").on("1").at("sync_a", 50)).all(op("all_reduce").on("2").at("sync_b", 51));
    }
    let a = op("all_reduce").on("1").scheduled().at("sync_a", 50);
    let b = op("all_reduce").on("2").scheduled().at("sync_b", 51);
    job.some(&[0, 2, 3], a.clone()).some(&[1], b.clone());
    job.some(&[2, 3, 4], b).some(&[1], a);
    let report = job.report();
    let finding = only(&report);
    assert!(matches!(finding.kind, Kind::OrderMismatch | Kind::CrossGroupDeadlock), "{}", report.headline);
    assert_eq!(finding.suspects, "1", "{}", report.headline);
    assert!(report.headline.contains("sync_a") && report.headline.contains("sync_b"), "{}", report.headline);
    assert_eq!(finding.cycle.len(), 2);
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
