//! Dumps of unfinished entries alone, of jobs with several groups.

use hangscope_analyzer_core::report::{Cause, Confidence, Report, SideState};

use crate::fake::{Fake, cell, check, check_class, only, op};

/// Two tensor-parallel pairs that have done three rows each, and three of the world.
fn two_pairs(names: [&str; 2]) -> Fake {
    let mut job = Fake::trained(4).group(names[0], "mesh_tp", &[0, 1]).group(names[1], "mesh_tp", &[2, 3]);
    for _ in 0..3 {
        for name in names {
            job.all(op("all_reduce").on(name));
        }
    }
    job
}

fn also(report: &Report) -> Vec<&str> {
    only(report).also.iter().map(|group| group.label.as_str()).collect()
}

// The incident of two stopped programs, in small
#[test]
fn programs_that_stopped_at_one_place_of_two_groups() {
    let mut job = two_pairs(["1", "2"]);
    for group in ["1", "2"] {
        job.some(if group == "1" { &[0] } else { &[2] }, op("all_reduce").on(group).scheduled());
    }
    let report = job.only_active().report();
    // Ranks 1 and 3 have an empty dump, and their counters say that the row was not issued.
    check(&report, "missing_rank", "1,3", Some(4));
    check_class(only(&report), Cause::CpuStuck, Confidence::Medium);
    assert_eq!((only(&report).victims.as_str(), also(&report)), ("0,2", vec!["tp[2,3]"]));
    assert!(report.headline.ends_with("ranks 1,3 have nothing unfinished"), "{}", report.headline);
    assert!(only(&report).evidence.iter().any(|line| line.contains("stand at 3 issued and 3 finished")));
}

#[test]
fn without_counters_a_rank_that_is_idle_in_several_groups_has_stopped() {
    let mut job = two_pairs(["left", "right"]);
    job.some(&[0], op("all_reduce").on("left").scheduled()).some(&[0, 2, 3], op("all_reduce").scheduled());
    let report = job.only_active().report();
    check(&report, "missing_rank", "1", only(&report).seq);
    check_class(only(&report), Cause::CpuStuck, Confidence::Medium);

    // In one group alone it may as well have finished what the other waits in.
    let mut job = two_pairs(["left", "right"]);
    job.some(&[0], op("all_reduce").on("left").scheduled());
    let report = job.only_active().report();
    assert_eq!(only(&report).suspects, "", "{}", report.headline);
}

// The incident of two stopped devices, in small
#[test]
fn a_device_several_rows_behind_its_peer() {
    let mut job = two_pairs(["1", "2"]);
    for row in 0..3 {
        job.some(&[0], op("all_reduce").on("1")).some(&[1], op("all_reduce").on("1").at("layer", 30 + row).scheduled());
    }
    job.some(&[0], op("all_reduce").on("1").scheduled()).some(&[2, 3], op("all_reduce").scheduled());
    let analysis = job.only_active().analyze();
    let report = analysis.report();
    check(report, "rank_behind", "1", Some(4));
    assert_eq!(only(report).cause, Cause::GpuStuck);
    // The peer's part is finished: that is known without an entry.
    assert_eq!(cell(&analysis, "tp[0,1]", "4", 0), "completed");
    let states: Vec<SideState> = only(report).sides.iter().map(|side| side.state).collect();
    assert_eq!(states, [SideState::Scheduled, SideState::Completed]);

    // One row may be no more than a late look at the same event.
    let mut job = two_pairs(["1", "2"]);
    job.some(&[0], op("all_reduce").on("1")).some(&[1], op("all_reduce").on("1").scheduled());
    let report = job.only_active().report();
    assert_eq!(only(&report).suspects, "", "{}", report.headline);
}

#[test]
fn finished_blocks_of_messages_are_not_unfinished() {
    let mut job = Fake::trained(3);
    for _ in 0..2 {
        for rank in 0..3u32 {
            let (next, last) = ((rank + 1) % 3, (rank + 2) % 3);
            job.batch(rank, &[&format!("send {rank}->{next}"), &format!("recv {rank}<-{last}")], op(""));
        }
    }
    let report = job.only_active().report();
    assert!(report.findings.is_empty(), "{}", report.headline);
}
