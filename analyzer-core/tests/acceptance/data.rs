//! What the data can and cannot tell.

use hangscope_analyzer_core::report::{Cause, QualityKind};
use serde_json::json;

use crate::fake::{Fake, analyze_documents, cell, check, check_healthy, only, op};

// A15
#[test]
fn rings_that_wrapped_differently() {
    let mut job = Fake::new(4).group("1", "side", &[0, 1]);
    for _ in 0..5 {
        job.all(op("all_reduce").on("1"));
    }
    for _ in 0..6 {
        job.all(op("all_reduce"));
    }
    job.some(&[0, 1, 2], op("all_reduce").scheduled().at("backward", 20));
    job.some(&[3], op("broadcast").scheduled().at("recover", 15));
    job.wrap(0, 7, 900).wrap(2, 4, 100);
    let analysis = job.analyze();
    let report = analysis.report();
    check(report, "op_mismatch", "3", Some(7));
    let finding = only(report);
    assert_eq!((finding.cause, finding.victims.as_str()), (Cause::CpuDivergence, "0-2"));
    let note = report.data_quality.iter().find(|note| note.kind == QualityKind::Wrapped).unwrap();
    assert!(note.detail.starts_with("ranks 0,2:"), "{}", note.detail);
    // Rank 0 kept its world rows from 3 on, rank 2 from 5 on.
    let states = |number: &str| [0, 1, 2, 3].map(|rank| cell(&analysis, "world", number, rank));
    assert_eq!(states("2"), ["not recorded", "completed", "not recorded", "completed"]);
    assert_eq!(states("3"), ["completed", "completed", "not recorded", "completed"]);
    assert_eq!(states("5"), ["completed"; 4]);
}

// Rules 7.20
#[test]
fn a_healthy_job_whose_rings_wrapped_differently() {
    let mut job = Fake::trained(4);
    for _ in 0..9 {
        job.all(op("all_reduce"));
    }
    job.wrap(0, 5, 900).wrap(1, 11, 100).wrap(3, 2, 7);
    let analysis = job.analyze();
    check_healthy(analysis.report());
    let row = |number: &str| [0, 1, 2, 3].map(|rank| cell(&analysis, "world", number, rank));
    assert_eq!(row("2"), ["not recorded", "not recorded", "completed", "not recorded"]);
    assert_eq!(row("12"), ["completed"; 4]);
}

// Rules 7.19
#[test]
fn record_ids_of_ranks_have_nothing_to_do_with_each_other() {
    // Ten operations of a group of its own before the others: its records are ten ahead.
    let mut job = Fake::new(2).group("1", "side", &[1]);
    for _ in 0..10 {
        job.all(op("all_reduce").on("1"));
    }
    for _ in 0..5 {
        job.all(op("all_reduce")).all(op("broadcast"));
    }
    check_healthy(&job.report());

    let mut shifted = Fake::trained(2);
    shifted.edit_all(|rank, entry| {
        if rank == 1 {
            entry["record_id"] = json!(entry["record_id"].as_u64().unwrap() + 10);
        }
    });
    check_healthy(&shifted.report());
}

// A16, Rules 7.28
#[test]
fn one_name_for_two_groups() {
    let mut job = Fake::new(4).group("1", "pair", &[0, 1]).group("1#", "pair", &[2, 3]);
    job.all(op("all_reduce").on("1")).all(op("all_reduce").on("1#").size(&[99]));
    let healthy = job.report();
    check_healthy(&healthy);
    assert_eq!(healthy.job.groups, 3);
    job.some(&[2], op("all_reduce").on("1#").scheduled());
    let analysis = job.analyze();
    let report = analysis.report();
    check(report, "missing_rank", "3", Some(2));
    let group = only(report).group.clone().unwrap();
    assert_eq!((group.name.as_str(), group.ranks.as_str(), group.label.as_str()), ("1", "2-3", "pair[2,3]"));
    assert!(analysis.table_index().bands.iter().any(|band| band.label == "pair[0,1]"));
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

#[test]
fn what_a_dump_leaves_out_is_no_difference() {
    for field in ["input_dtypes", "output_dtypes", "input_sizes", "profiling_name"] {
        let mut job = Fake::trained(4);
        job.some(&[0, 1, 2], op("all_reduce").scheduled());
        job.edit_all(|rank, entry| {
            if rank == 1 {
                entry.as_object_mut().unwrap().remove(field);
            }
        });
        check(&job.report(), "missing_rank", "3", Some(4));
    }
}

#[test]
fn an_empty_dump_whose_counters_deny_it_has_not_finished() {
    let mut job = Fake::trained(4);
    job.all(op("all_reduce").scheduled()).only_active();
    let mut documents = job.documents();
    // The recorder counts an operation of rank 2 that is neither finished nor among its entries.
    documents[2].1["entries"] = json!([]);
    let report = analyze_documents(&documents).report().clone();
    assert_eq!(
        (only(&report).suspects.as_str(), only(&report).cause),
        ("", Cause::Undetermined),
        "{}",
        report.headline
    );
    assert!(report.headline.ends_with("what rank 2 did is not recorded"), "{}", report.headline);
    assert!(only(&report).next_steps.iter().any(|step| step.contains("whole dump of rank 2")));
}

#[test]
fn a_file_with_the_name_of_another_rank_sends_no_messages_for_it() {
    let mut job = Fake::new(3);
    job.all(op("all_reduce"));
    for _ in 0..3 {
        job.message(0, "send 0->1", op("")).message(1, "recv 1<-0", op(""));
    }
    job.message(0, "send 0->1", op("").scheduled()).message(1, "recv 1<-0", op("").size(&[3]).scheduled());
    job.file(0, "rank_1").file(1, "rank_2").file(2, "rank_0");
    let report = job.report();
    assert!(report.findings.iter().all(|finding| finding.suspects.is_empty()), "{}", report.headline);
}
