//! Rows that everybody has joined: the device, the network, or nobody can tell.

use hangscope_analyzer_core::report::{Cause, Confidence, RankStatus, Report};

use crate::fake::{Fake, check, check_class, check_says, only, op};

/// Three groups of all ranks, in each of which three rows are done.
fn three_groups(timing: bool) -> Fake {
    let all: Vec<u32> = (0..8).collect();
    let job = if timing { Fake::trained_with_timing(8) } else { Fake::trained(8) };
    let mut job = job.group("1", "shard", &all).group("2", "replicate", &all);
    for _ in 0..3 {
        job.all(op("all_reduce").on("1")).all(op("all_reduce").on("2"));
    }
    job
}

fn check_nobody_is_blamed(report: &Report) {
    assert!(report.findings.iter().all(|finding| finding.suspects.is_empty() && !finding.tie));
    assert!(report.ranks.iter().all(|state| state.status == RankStatus::Victim), "{:?}", report.ranks);
}

// A10, Rules 7.9
#[test]
fn everybody_is_in_the_row() {
    let mut job = three_groups(true);
    job.all(op("all_reduce").on("1").started().at("sync", 20));
    let report = job.report();
    check(&report, "all_joined", "", Some(4));
    let finding = only(&report);
    check_class(finding, Cause::NetworkOrHardware, Confidence::Medium);
    check_nobody_is_blamed(&report);
    assert_eq!((finding.group.as_ref().unwrap().desc.as_str(), finding.victims.as_str()), ("shard", "0-7"));
    let order = finding.alternatives.iter().find(|other| other.cause == Cause::LaunchOrder).unwrap();
    assert!(order.why.contains("NCCL_LAUNCH_ORDER_IMPLICIT=1"), "{}", order.why);
    assert!(report.headline.contains("sync"), "{}", report.headline);
}

// A10, the row of each group
#[test]
fn everybody_is_in_the_same_row_of_three_groups() {
    let mut job = three_groups(true);
    for group in ["1", "2", "0"] {
        job.all(op("all_reduce").on(group).started());
    }
    let report = job.report();
    check(&report, "all_joined", "", Some(4));
    assert_eq!(only(&report).cause, Cause::NetworkOrHardware);
    check_nobody_is_blamed(&report);
}

// A10 without timing, Rules 7.10
#[test]
fn everybody_is_in_the_row_and_nobody_says_how_far() {
    let mut job = three_groups(false);
    job.all(op("all_reduce").on("1").scheduled());
    let report = job.report();
    check(&report, "all_joined", "", Some(4));
    let finding = only(&report);
    check_class(finding, Cause::Undetermined, Confidence::Low);
    check_nobody_is_blamed(&report);
    assert!(finding.next_steps.iter().any(|step| step.contains("TORCH_NCCL_ENABLE_TIMING=1")));
    assert!(finding.next_steps.iter().any(|step| step.contains("main-thread stack")));
    let causes: Vec<Cause> = finding.alternatives.iter().map(|other| other.cause).collect();
    assert!(causes.contains(&Cause::GpuStuck) && causes.contains(&Cause::NetworkOrHardware), "{causes:?}");
}

// Rules 7.11
#[test]
fn the_unfinished_half_shares_a_host() {
    let mut job = Fake::trained_with_timing(8);
    job.some(&[0, 1, 2, 3], op("all_reduce")).some(&[4, 5, 6, 7], op("all_reduce").started());
    for rank in 0..8 {
        job.file(rank, &format!("node{:02}_rank_{rank}", 6 + rank / 4));
    }
    let report = job.report();
    check(&report, "rank_behind", "", Some(4));
    let finding = only(&report);
    check_class(finding, Cause::NetworkOrHardware, Confidence::Medium);
    check_says(&report, &["4-7", "node07"]);
    assert_eq!(finding.victims, "4-7");
}

// A19, Rules 7.25
#[test]
fn released_by_an_abort_is_not_healthy() {
    let mut job = Fake::trained(4);
    job.all(op("all_reduce").took_ms(11 * 60 * 1000));
    let report = job.report();
    check(&report, "all_joined", "", Some(4));
    // The row counts as not finished in time: everybody waits there.
    assert_eq!(only(&report).victims, "0-3");
    assert!(report.ranks.iter().all(|state| state.waits_in.as_ref().and_then(|place| place.seq) == Some(4)));

    let mut job = Fake::trained(4);
    job.all(op("all_reduce").took_ms(9 * 60 * 1000));
    assert_eq!(job.report().verdict, "no_fault");
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

/// A row that took longer than the limit, for a checkpoint say, and a job that went on and hung later.
#[test]
fn a_long_wait_that_ended_is_not_what_hung() {
    let mut job = Fake::trained(4);
    job.all(op("all_reduce").took_ms(11 * 60 * 1000));
    job.all(op("all_reduce"));
    job.some(&[0, 1, 3], op("all_reduce").scheduled());
    job.edit_all(|_, entry| {
        if entry["collective_seq_id"].as_i64() > Some(4) {
            for key in ["time_created_ns", "time_discovered_completed_ns"] {
                if let Some(time) = entry[key].as_i64().filter(|time| *time > 0) {
                    entry[key] = (time + 700_000_000_000).into();
                }
            }
        }
    });
    check(&job.report(), "missing_rank", "2", Some(6));
}

#[test]
fn a_rank_that_came_after_the_others_had_given_up() {
    let mut job = Fake::trained(4);
    job.some(&[0, 1, 3], op("all_reduce").took_ms(605_000)).some(&[2], op("all_reduce").scheduled());
    job.edit_all(|rank, entry| {
        if rank == 2 && entry["collective_seq_id"] == 4 {
            entry["time_created_ns"] = (entry["time_created_ns"].as_i64().unwrap() + 640_000_000_000).into();
        }
    });
    let report = job.report();
    // Its clock may as well have been set: nobody is blamed for coming late.
    assert_eq!((only(&report).suspects.as_str(), only(&report).cause), ("", Cause::CpuStuck), "{}", report.headline);
    check_says(&report, &["rank 2 issued it 640 s later than the others"]);
}
