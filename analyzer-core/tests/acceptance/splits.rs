//! All_to_alls whose sizes cannot agree.

use hangscope_analyzer_core::report::{Cause, Confidence};

use crate::fake::{Fake, check, check_class, check_healthy, check_says, only, op};

// A5
#[test]
fn splits_that_are_recorded_are_compared_pair_by_pair() {
    let mut job = Fake::trained(2);
    job.version(0, "2.11").version(1, "2.11");
    let call = op("all_to_all").size(&[4]).scheduled().at("dispatch", 20);
    job.some(&[0], call.clone().splits(&[3, 1], &[3, 1])).some(&[1], call.splits(&[2, 2], &[2, 2]));
    let report = job.report();
    check(&report, "split_mismatch", "", Some(4));
    let finding = only(&report);
    check_class(finding, Cause::BadArguments, Confidence::High);
    check_says(&report, &["rank 0 sends 1 to rank 1, which expects 2"]);
    check_says(&report, &["rank 1 sends 2 to rank 0, which expects 1"]);
    assert_eq!((finding.op.as_str(), finding.victims.as_str()), ("all_to_all", "0-1"));
    assert!(report.headline.contains("dispatch"), "{}", report.headline);
}

// A5, splits that fit
#[test]
fn splits_that_fit_are_no_fault() {
    let mut job = Fake::trained(2);
    job.version(0, "2.11").version(1, "2.11");
    job.some(&[0], op("all_to_all").sizes(&[4], &[5]).splits(&[3, 1], &[3, 2]));
    job.some(&[1], op("all_to_all").sizes(&[4], &[3]).splits(&[2, 2], &[1, 2]));
    check_healthy(&job.report());
}

// A5, totals alone
#[test]
fn totals_that_differ_blame_nobody() {
    let mut job = Fake::trained(2);
    job.all(op("all_to_all").sizes(&[6], &[5]).scheduled().at("dispatch", 20));
    let report = job.report();
    check(&report, "split_mismatch", "", Some(4));
    let finding = only(&report);
    check_class(finding, Cause::BadArguments, Confidence::Medium);
    assert!(!finding.tie);
    check_says(&report, &["12", "10"]);
}

// A5, an uneven exchange
#[test]
fn an_uneven_exchange_is_legal() {
    let mut job = Fake::trained(2);
    job.some(&[0], op("all_to_all").sizes(&[6], &[4])).some(&[1], op("all_to_all").sizes(&[4], &[6]));
    check_healthy(&job.report());

    // Neither is it to blame where it hangs.
    job.some(&[0], op("all_to_all").sizes(&[6], &[4]).scheduled());
    job.some(&[1], op("all_to_all").sizes(&[4], &[6]).scheduled());
    check(&job.report(), "all_joined", "", Some(5));
}

// Rules 7.14
#[test]
fn more_is_sent_than_expected() {
    let mut job = Fake::trained(2);
    job.some(&[0], op("all_to_all_single").sizes(&[4], &[4]).scheduled());
    job.some(&[1], op("all_to_all_single").sizes(&[4], &[3]).scheduled());
    let report = job.report();
    check(&report, "split_mismatch", "", Some(4));
    check_class(only(&report), Cause::BadArguments, Confidence::Medium);
    check_says(&report, &["8", "7"]);
}

// Rules 7.15
#[test]
fn ranks_in_two_consecutive_all_to_alls() {
    let mut job = Fake::trained(4);
    let (first, second) = (op("all_to_all").at("input_dist", 20), op("all_to_all").at("output_dist", 30));
    job.some(&[0, 1], first.clone()).some(&[2, 3], first.scheduled()).some(&[0, 1], second.scheduled());
    let report = job.report();
    check(&report, "split_mismatch", "", Some(4));
    let finding = only(&report);
    assert_eq!(finding.cause, Cause::BadArguments);
    assert_eq!((finding.victims.as_str(), finding.blocked.as_str()), ("2-3", "0-1"));
    assert!(report.headline.contains("input_dist") && report.headline.contains("output_dist"), "{}", report.headline);
}
