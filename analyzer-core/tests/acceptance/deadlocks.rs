//! Two groups that wait for each other.

use hangscope_analyzer_core::report::Kind;

use crate::fake::{Fake, only, op};

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
