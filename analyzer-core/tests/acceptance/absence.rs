//! Ranks that are not there: they stopped, or left nothing.

use hangscope_analyzer_core::report::{Cause, Confidence, RankStatus};

use crate::fake::{Fake, check, check_class, only, op, sites};

// Rules 7.2
#[test]
fn a_rank_that_sleeps() {
    let mut job = Fake::new(8);
    for _ in 0..40 {
        job.all(op("all_reduce").at("train_step", 10));
    }
    job.some(&[0, 1, 2, 3, 4, 6, 7], op("all_reduce").scheduled().at("backward", 20));
    let report = job.report();
    check(&report, "missing_rank", "5", Some(41));
    let finding = only(&report);
    check_class(finding, Cause::CpuStuck, Confidence::High);
    assert_eq!((finding.victims.as_str(), finding.blocked.as_str()), ("0-4,6-7", ""));
    // Never arrived here, left there.
    assert_eq!(sites(finding), ["backward", "train_step"]);
    let last = finding.sides.iter().find_map(|side| side.last_op.as_ref()).unwrap();
    assert_eq!(last.seq, Some(40));
    let causes: Vec<Cause> = finding.alternatives.iter().map(|other| other.cause).collect();
    assert!(causes.contains(&Cause::CpuDivergence) && causes.contains(&Cause::GpuStuck), "{causes:?}");
    assert!(finding.next_steps.iter().any(|step| step.contains("main-thread stack of rank 5")));
}

// Rules 7.21
#[test]
fn a_rank_whose_file_is_missing() {
    let mut job = Fake::new(8);
    for _ in 0..8 {
        job.all(op("all_reduce"));
    }
    job.all(op("all_reduce").scheduled().at("backward", 20)).lose(7);
    let report = job.report();
    check(&report, "no_dump", "7", Some(9));
    let finding = only(&report);
    check_class(finding, Cause::ProcessLost, Confidence::Medium);
    assert_eq!((finding.victims.as_str(), report.job.ranks_missing.as_str()), ("0-6", "7"));
    assert_eq!(report.ranks[7].status, RankStatus::Suspect);
    // What it did is not known, and no row of it is called missing.
    assert!(!report.headline.contains("never issued"), "{}", report.headline);
}
