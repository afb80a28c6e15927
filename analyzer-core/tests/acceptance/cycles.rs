//! Waits that go round, as the report says them step by step.

use hangscope_analyzer_core::report::Finding;

use crate::fake::{Fake, check, op};

/// The steps of a cycle, one a line: who waits, where, for whom.
fn steps(finding: &Finding) -> Vec<String> {
    let step = |step: &hangscope_analyzer_core::report::CycleStep| {
        let at = match (step.p2p, step.place.seq) {
            (Some(p2p), _) => format!("{}→{} #{}", p2p.src, p2p.dst, p2p.nth),
            (None, seq) => format!("{} row {}", step.place.group, seq.unwrap_or_default()),
        };
        format!("{} in {} {at} for {}", step.ranks, step.place.op, step.waits_for)
    };
    finding.cycle.iter().map(step).collect()
}

#[test]
fn a_ring_of_sends() {
    let mut fake = Fake::trained(4);
    for rank in 0..4 {
        fake.message(rank, &format!("send {rank}->{}", (rank + 1) % 4), op("").scheduled());
    }
    let report = fake.report();
    check(&report, "cross_group_deadlock", "", None);
    assert_eq!((report.findings[0].victims.as_str(), report.findings[0].blocked.as_str()), ("0-3", ""));
    assert_eq!(report.headline.matches("train.py").count(), 1, "one place, said once: {}", report.headline);
    assert_eq!(
        steps(&report.findings[0]),
        ["0 in send 0→1 #1 for 1", "1 in send 1→2 #1 for 2", "2 in send 2→3 #1 for 3", "3 in send 3→0 #1 for 0"]
    );
}

#[test]
fn two_groups_of_the_same_members() {
    let all: Vec<u32> = (0..8).collect();
    let mut fake = Fake::new(8).group("1", "shard", &all).group("2", "replicate", &all);
    for _ in 0..10 {
        fake.all(op("all_to_all").on("1").at("input_dist", 20));
    }
    for _ in 0..5 {
        fake.all(op("allreduce_coalesced").on("2").at("sync_embeddings", 40));
    }
    fake.some(&all[..6], op("all_to_all").on("1").at("input_dist", 20).scheduled());
    fake.some(&all[6..], op("allreduce_coalesced").on("2").at("sync_embeddings", 40).scheduled());
    let report = fake.report();
    let first = &report.findings[0];
    let (shard, replicate) = ("0-5 in all_to_all shard", "6-7 in allreduce_coalesced replicate");
    let mut found = steps(first);
    found.sort();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with(shard) && found[0].ends_with("row 11 for 6-7"), "{found:?}");
    assert!(found[1].starts_with(replicate) && found[1].ends_with("row 6 for 0-5"), "{found:?}");
}

#[test]
fn a_swapped_order() {
    let mut fake = Fake::new(2).group("1", "a", &[0, 1]).group("2", "b", &[0, 1]);
    fake.all(op("all_reduce"));
    let (a, b) =
        (op("all_reduce").on("1").at("sync_a", 5).scheduled(), op("all_reduce").on("2").at("sync_b", 9).scheduled());
    fake.some(&[0], a.clone()).some(&[0], b.clone());
    fake.some(&[1], b).some(&[1], a);
    let report = fake.report();
    check(&report, "order_mismatch", "", Some(1));
    let mut found = steps(&report.findings[0]);
    found.sort();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("0 in all_reduce a") && found[0].ends_with("for 1"), "{found:?}");
    assert!(found[1].starts_with("1 in all_reduce b") && found[1].ends_with("for 0"), "{found:?}");
}

#[test]
fn no_cycle_where_a_rank_stopped() {
    let mut fake = Fake::trained(4);
    fake.some(&[0, 1, 3], op("all_reduce").scheduled());
    let report = fake.report();
    check(&report, "missing_rank", "2", Some(4));
    assert!(report.findings[0].cycle.is_empty());
    let json = hangscope_analyzer_core::report::render_json(&report);
    assert!(!json.contains("\"cycle\""), "an absent cycle is not written");
}
