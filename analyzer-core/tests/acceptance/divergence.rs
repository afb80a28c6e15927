//! Ranks that took another way through the program.

use hangscope_analyzer_core::report::{Cause, CellCode, Confidence, Kind};

use crate::fake::{Fake, check, check_class, check_says, only, op, sites};

// A11
#[test]
fn two_call_sites_and_nothing_to_tell_them_apart() {
    let mut job = Fake::trained(2);
    let call = op("all_to_all").sizes(&[4], &[4]).scheduled();
    job.some(&[0], call.clone().at("input_dist", 20)).some(&[1], call.at("output_dist", 30));
    let report = job.report();
    check(&report, "call_site_mismatch", "", Some(4));
    let finding = only(&report);
    assert_eq!((finding.tie, finding.cause), (true, Cause::CpuDivergence));
    assert_eq!(sites(finding), ["input_dist", "output_dist"]);
    assert!(report.headline.contains("input_dist") && report.headline.contains("output_dist"), "{}", report.headline);
}

// Rules 7.1
#[test]
fn one_op_more_on_one_of_two_ranks() {
    let mut job = Fake::new(2);
    job.all(op("all_reduce").at("step", 10)).all(op("all_reduce").at("step", 11));
    job.some(&[0], op("all_reduce").size(&[1]).scheduled().at("extra", 20));
    job.all(op("all_reduce").scheduled().at("step", 12)).all(op("all_reduce").scheduled().at("step", 13));
    let analysis = job.analyze();
    let report = analysis.report();
    assert!(matches!(report.findings[0].kind, Kind::ExtraCollective | Kind::SkippedCollective), "{}", report.headline);
    let finding = only(report);
    assert_eq!((finding.suspects.as_str(), finding.tie, finding.seq), ("", true, Some(3)));
    assert_eq!(finding.cause, Cause::CpuDivergence);
    assert_eq!(sites(finding), ["extra", "step"]);
    // Either one left it out or the other put it in.
    check_says(report, &["either", "other"]);
    // Rows 4 and 5 follow from it: nothing in them is marked.
    let later = &analysis.cells()[3 * 2..];
    assert_eq!(later.len(), 4);
    assert!(later.iter().all(|&code| !CellCode(code).has(CellCode::DIFFERS) && !CellCode(code).has(CellCode::ORIGIN)));
}

/// Eight ranks train one step, and rank 3 skips the metric of the second; how far the others issue ahead is told.
fn skipped_metric(ahead: usize) -> Fake {
    let steps = [
        op("all_reduce").size(&[1024]).at("sync_grads", 20),
        op("all_reduce").size(&[1]).at("log_metrics", 30),
        op("all_reduce").size(&[4]).at("clip", 40),
        op("broadcast").size(&[2]).at("schedule", 50),
    ];
    let mut job = Fake::new(8);
    for step in &steps {
        job.all(step.clone());
    }
    job.all(steps[0].clone());
    for rank in 0..8 {
        for step in steps.iter().skip(if rank == 3 { 2 } else { 1 }).take(ahead) {
            job.some(&[rank], step.clone().scheduled());
        }
    }
    job
}

// Rules 7.3
#[test]
fn a_metric_that_one_rank_skips() {
    for ahead in [2, 3] {
        let report = skipped_metric(ahead).report();
        check(&report, "skipped_collective", "3", Some(6));
        let finding = only(&report);
        check_class(finding, Cause::CpuDivergence, Confidence::High);
        assert_eq!((finding.op.as_str(), finding.victims.as_str()), ("all_reduce", "0-2,4-7"));
        assert_eq!(finding.sides[0].input_sizes, [[1]]);
        assert!(report.headline.contains("log_metrics"), "{}", report.headline);
    }
}

// Rules 7.3, nobody issues ahead
#[test]
fn other_sizes_from_another_place_are_another_way_through_the_program() {
    let report = skipped_metric(1).report();
    assert_eq!((report.findings[0].suspects.as_str(), report.findings[0].seq), ("3", Some(6)), "{}", report.headline);
    let finding = only(&report);
    assert_eq!(finding.cause, Cause::CpuDivergence);
    assert_ne!(finding.kind, Kind::SizeMismatch);
    assert!(report.headline.contains("log_metrics"), "{}", report.headline);
}

// Rules 7.4
#[test]
fn a_rank_that_leaves_the_loop_one_step_early() {
    let mut job = Fake::new(4);
    for _ in 0..3 {
        job.all(op("all_reduce").size(&[1024]).at("sync_grads", 20)).all(op("all_reduce").size(&[4]).at("clip", 40));
    }
    job.some(&[0, 1, 3], op("all_reduce").size(&[1024]).scheduled().at("sync_grads", 20));
    job.some(&[2], op("all_reduce_barrier").size(&[1]).scheduled().at("finish", 99));
    let report = job.report();
    let finding = only(&report);
    assert!(matches!(finding.kind, Kind::OpMismatch | Kind::SkippedCollective), "{}", report.headline);
    assert_eq!((finding.suspects.as_str(), finding.seq), ("2", Some(7)), "{}", report.headline);
    check_class(finding, Cause::CpuDivergence, Confidence::High);
    assert_eq!((sites(finding), finding.victims.as_str()), (vec!["sync_grads", "finish"], "0-1,3"));
    assert!(report.headline.contains("finish"), "{}", report.headline);
}

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
