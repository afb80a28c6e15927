//! What the data can and cannot tell.

use hangscope_analyzer_core::report::QualityKind;
use serde_json::json;

use crate::fake::{Fake, check, check_healthy, op};

#[test]
fn rings_that_wrapped_differently() {
    let mut job = Fake::trained(4).group("1", "side", &[0, 1]);
    for _ in 0..3 {
        job.all(op("all_reduce").on("1"));
    }
    job.all(op("all_reduce")).all(op("all_reduce")).all(op("all_reduce"));
    job.some(&[0, 1, 2], op("all_reduce").scheduled().at("backward", 20));
    job.some(&[3], op("broadcast").scheduled().at("recover", 15));
    job.wrap(0, 5, 900).wrap(2, 2, 100);
    let report = job.report();
    check(&report, "op_mismatch", "3", Some(7));
    assert!(report.data_quality.iter().any(|note| note.kind == QualityKind::Wrapped));
}

#[test]
fn a_healthy_job_whose_rings_wrapped_differently() {
    let mut job = Fake::trained(4);
    for _ in 0..9 {
        job.all(op("all_reduce"));
    }
    job.wrap(0, 5, 900).wrap(1, 11, 100).wrap(3, 2, 7);
    check_healthy(&job.report());
}

#[test]
fn record_ids_of_ranks_have_nothing_to_do_with_each_other() {
    let mut job = Fake::trained(2).group("1", "side", &[1]);
    let mut shifted = job.clone();
    shifted.edit_all(|rank, entry| {
        if rank == 1 {
            entry["record_id"] = json!(entry["record_id"].as_u64().unwrap() + 10);
        }
    });
    check_healthy(&shifted.report());
    job.all(op("all_reduce").on("1"));
    check_healthy(&job.report());
}

#[test]
fn one_name_for_two_groups() {
    let mut job = Fake::new(4).group("1", "pair", &[0, 1]).group("1#", "pair", &[2, 3]);
    job.all(op("all_reduce").on("1")).all(op("all_reduce").on("1#").size(&[99]));
    job.some(&[2], op("all_reduce").on("1#").scheduled());
    let report = job.report();
    check(&report, "missing_rank", "3", Some(2));
    assert_eq!(report.findings[0].group.as_ref().map(|group| group.ranks.as_str()), Some("2-3"));
}

#[test]
fn absent_from_a_dump_of_unfinished_entries_is_not_missing() {
    let mut job = Fake::trained(4);
    job.all(op("all_reduce").scheduled()).only_active();
    let report = job.report();
    check(&report, "all_joined", "", Some(4));
    assert!(report.data_quality.iter().any(|note| note.kind == QualityKind::OnlyActive));

    // Rank 3 finished row 4; its absence is no reason to blame it.
    let mut job = Fake::trained(4);
    job.some(&[0, 1, 2], op("broadcast").scheduled()).some(&[3], op("broadcast")).all(op("all_reduce").scheduled());
    job.only_active();
    let report = job.report();
    assert_eq!(report.findings[0].suspects, "", "{}", report.headline);
    assert!(report.headline.starts_with("Rank 3 finished broadcast"), "{}", report.headline);
}

#[test]
fn a_recorder_that_never_completes() {
    let mut job = Fake::trained(4);
    job.edit_all(|_, entry| {
        entry["profiling_name"] = json!(entry["profiling_name"].as_str().unwrap().replace("nccl:", "gloo:"));
        entry["state"] = json!("scheduled");
        entry["retired"] = json!(true);
    });
    let healthy = job.report();
    check_healthy(&healthy);
    assert!(healthy.data_quality.iter().any(|note| note.kind == QualityKind::WeakStates));
}

#[test]
fn mixed_versions_and_a_rank_without_frames() {
    let mut job = Fake::trained(4);
    job.some(&[0, 1, 3], op("all_reduce").scheduled());
    job.edit_all(|rank, entry| {
        if rank == 1 {
            entry.as_object_mut().unwrap().remove("frames");
        }
    });
    let report = job.report();
    check(&report, "missing_rank", "2", Some(4));
    let note = report.data_quality.iter().find(|note| note.kind == QualityKind::NoFrames).unwrap();
    assert_eq!(note.rank, Some(1));
}

#[test]
fn a_backend_of_another_name_on_one_rank() {
    let mut job = Fake::trained(4);
    job.edit_all(|rank, entry| {
        if rank == 2 {
            entry["profiling_name"] = json!(entry["profiling_name"].as_str().unwrap().replace("nccl:", "nccl2:"));
        }
    });
    check_healthy(&job.report());
}

#[test]
fn nothing_recorded_is_nothing_pending() {
    let report = Fake::new(2).report();
    assert_eq!(report.verdict, "nothing_pending");
    assert_eq!(report.job.ranks_loaded, 2);
}

#[test]
fn no_reading_at_all() {
    let analysis = hangscope_analyzer_core::analyze(Vec::new());
    assert_eq!(analysis.report().job.ranks_loaded, 0);
    assert!(analysis.report().findings.is_empty() && analysis.cells().is_empty());
}
