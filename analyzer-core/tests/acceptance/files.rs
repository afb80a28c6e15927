//! A folder as people have it: bytes and names.

use hangscope_analyzer_core::Analysis;
use hangscope_analyzer_core::dump::{self, Reading};
use hangscope_analyzer_core::report::{Quality, QualityKind, RankStatus, Report, render_text};
use serde_json::json;

use crate::bytes::{gzipped, pickled};
use crate::fake::{Fake, analyze_both_ways, cell, check, check_healthy, only, op};

type Files = Vec<(String, Vec<u8>)>;

fn read(files: &Files) -> Vec<Reading> {
    files.iter().map(|(name, bytes)| dump::read(name, bytes)).collect()
}

/// Analyses files, from the first to the last and the other way round.
fn analyze(files: &Files) -> Analysis {
    analyze_both_ways(|| read(files))
}

/// A job's dumps as pickles.
fn pickles(job: &Fake) -> Files {
    job.documents().iter().map(|(name, document)| (name.clone(), pickled(document))).collect()
}

/// The folder of a job of eight ranks in which much is odd.
fn odd_folder(job: &Fake) -> Files {
    let mut documents = job.documents();
    // JSON dumps never have frames.
    for entry in documents[3].1["entries"].as_array_mut().unwrap() {
        entry.as_object_mut().unwrap().remove("frames");
    }
    documents[5].1["version"] = json!("2.9");
    documents[6].1["pg_config"]["0"]["desc"] = json!("trainers");
    for entry in documents[6].1["entries"].as_array_mut().unwrap() {
        entry["process_group"][1] = json!("trainers");
    }
    let mut files: Files = documents.iter().map(|(name, document)| (name.clone(), pickled(document))).collect();
    let whole = files[1].1.len();
    files[1].1.truncate(whole * 6 / 10);
    files[2].1.clear();
    files[3].1 = documents[3].1.to_string().into_bytes();
    files[4] = ("nccl_trace_rank_4.gz".into(), gzipped(&files[4].1));
    files.push(("README.txt".into(), b"Dumps of the job that hung on Monday.\n".to_vec()));
    files
}

/// The notes on a file, a rank or the whole job.
fn note(report: &Report, kind: QualityKind, rank: Option<u32>) -> &Quality {
    let found = report.data_quality.iter().find(|note| (note.kind, note.rank) == (kind, rank));
    found.unwrap_or_else(|| panic!("no {kind:?} of {rank:?}: {:#?}", report.data_quality))
}

fn check_odd_folder(report: &Report) {
    let truncated = note(report, QualityKind::Truncated, Some(1));
    assert_eq!(truncated.file.as_deref(), Some("nccl_trace_rank_1"));
    let empty = note(report, QualityKind::Unreadable, Some(2));
    assert_eq!(empty.file.as_deref(), Some("nccl_trace_rank_2"));
    assert!(empty.detail.contains("empty"), "{}", empty.detail);
    let readme = note(report, QualityKind::Unreadable, None);
    assert_eq!(readme.file.as_deref(), Some("README.txt"));
    assert!(!readme.detail.is_empty());
    note(report, QualityKind::NoFrames, Some(3));
    let versions = &note(report, QualityKind::MixedVersions, None).detail;
    assert!(versions.contains("2.9") && versions.contains("2.10"), "{versions}");
    let descriptions = &note(report, QualityKind::MembershipConflict, None).detail;
    assert!(descriptions.contains("default_pg") && descriptions.contains("trainers"), "{descriptions}");
    // What is in the gzip file is as good as any other dump.
    assert!(report.data_quality.iter().all(|note| note.file.as_deref() != Some("nccl_trace_rank_4.gz")));
    assert_eq!((report.job.ranks_loaded, report.job.ranks_missing.as_str()), (7, "2"));
    assert_eq!(report.job.dump_versions, ["2.9", "2.10"]);
}

// A13
#[test]
fn bad_files_are_listed_and_the_rest_is_analysed() {
    let mut job = Fake::trained(8);
    job.all(op("all_reduce")).all(op("all_reduce"));
    let healthy = analyze(&odd_folder(&job));
    check_healthy(healthy.report());
    check_odd_folder(healthy.report());
    assert_eq!(healthy.report().ranks[2].status, RankStatus::Unreadable);
    let states: Vec<_> = (0..8).map(|rank| cell(&healthy, "world", "5", rank)).collect();
    assert_eq!(states[0], "completed");
    assert_eq!((states[1], states[2], states[4]), ("not recorded", "no dump", "completed"));

    // Rank 7 stops. Neither the rank whose file is empty nor the one whose file breaks off has anything to do with it.
    job.some(&[0, 1, 2, 3, 4, 5, 6], op("all_reduce").scheduled().at("backward", 20));
    let hung = analyze(&odd_folder(&job));
    let report = hung.report();
    check(report, "missing_rank", "7", Some(6));
    check_odd_folder(report);
    only(report);
    assert_eq!((report.ranks[2].status, report.ranks[1].status), (RankStatus::Unreadable, RankStatus::Ok));
}

// A14
#[test]
fn ranks_of_file_names() {
    let document = Fake::trained(1).documents().remove(0).1;
    let bytes = pickled(&document);
    let json = document.to_string().into_bytes();
    for (name, rank) in [
        ("nccl_trace_rank_container-node02_5", 5),
        ("host1.pci3_rank_3", 3),
        ("_dump_7", 7),
        ("rank_3.json", 3),
        ("comm_lib_trace_rank_12", 12),
        ("nccl_trace_rank_007", 7),
    ] {
        let reading = dump::read(name, if name.ends_with(".json") { &json } else { &bytes });
        assert_eq!(reading.dumps.iter().map(|dump| dump.rank).collect::<Vec<_>>(), [Some(rank)], "{name}");
        let analysis =
            analyze(&vec![(name.to_owned(), if name.ends_with(".json") { json.clone() } else { bytes.clone() })]);
        assert!(
            analysis.report().ranks.iter().any(|state| state.rank == rank && state.status == RankStatus::Ok),
            "{name}"
        );
    }
}

// A14, two files for one rank
#[test]
fn of_two_files_of_a_rank_the_newer_is_used() {
    let mut job = Fake::trained(2);
    let older = job.documents().remove(1).1;
    job.all(op("all_reduce"));
    let mut files = pickles(&job);
    files.insert(0, ("old_rank_1".into(), pickled(&older)));
    let report = analyze(&files).report().clone();
    check_healthy(&report);
    assert_eq!((report.job.ranks_loaded, report.job.entries), (2, 8));
    let duplicate = note(&report, QualityKind::DuplicateRank, Some(1));
    assert_eq!(duplicate.file.as_deref(), Some("old_rank_1"));
    assert!(duplicate.detail.contains("nccl_trace_rank_1"), "{}", duplicate.detail);
}

#[test]
fn of_a_pickle_and_its_json_the_one_with_call_stacks_is_used() {
    let mut job = Fake::trained(3);
    job.some(&[0, 2], op("all_reduce").scheduled().at("backward", 20));
    let mut files = pickles(&job);
    for (name, mut document) in job.documents() {
        for entry in document["entries"].as_array_mut().unwrap() {
            entry.as_object_mut().unwrap().remove("frames");
        }
        files.push((format!("{name}.json"), document.to_string().into_bytes()));
    }
    let report = analyze(&files).report().clone();
    assert!(report.headline.contains("backward"), "{}", report.headline);
    let left_out: Vec<&str> = report
        .data_quality
        .iter()
        .filter(|note| note.kind == QualityKind::DuplicateRank)
        .filter_map(|note| note.file.as_deref())
        .collect();
    assert_eq!(left_out, ["nccl_trace_rank_0.json", "nccl_trace_rank_1.json", "nccl_trace_rank_2.json"]);
    assert!(!report.headline.contains("another job"), "{}", report.headline);
}

#[test]
fn names_from_dumps_do_nothing_to_a_terminal() {
    let mut job = Fake::trained(3);
    job.some(&[0, 2], op("all_reduce").scheduled().at("back\u{1b}]0;title\u{7}ward\u{202e}", 20));
    job.some(&[0, 2], op("all\u{9b}2J").scheduled().at("next\nline", 21));
    let report = analyze(&pickles(&job)).report().clone();
    let text = render_text(&report);
    assert!(text.contains("back\\u{1b}]0;title\\u{7}ward\\u{202e}"), "{text}");
    assert!(!text.chars().any(|letter| letter != '\n' && (letter.is_control() || letter == '\u{202e}')), "{text:?}");
    assert!(report.headline.contains("back\u{1b}"), "the report has it as it is");
}

// Rules 7.29
#[test]
fn a_truncated_pickle_is_read_as_far_as_it_goes() {
    let mut job = Fake::new(4);
    for _ in 0..20 {
        job.all(op("all_reduce"));
    }
    job.some(&[0, 1, 2], op("all_reduce").scheduled());
    let mut files = pickles(&job);
    let half = files[1].1.len() / 2;
    files[1].1.truncate(half);
    let analysis = analyze(&files);
    let report = analysis.report();
    // Rank 1 issued the row, but its dump ends before it: only rank 3 is known not to have come.
    check(report, "missing_rank", "3", Some(21));
    assert_eq!(only(report).victims, "0,2");
    let truncated = note(report, QualityKind::Truncated, Some(1));
    assert_eq!(truncated.file.as_deref(), Some("nccl_trace_rank_1"));
    assert!(truncated.detail.contains("byte"), "{}", truncated.detail);
    assert!(report.job.entries > 3 * 20 + 5 && report.job.entries < 4 * 20, "{}", report.job.entries);
    let of_rank_1 = |number: &str| cell(&analysis, "world", number, 1);
    assert_eq!((of_rank_1("2"), of_rank_1("20"), of_rank_1("21")), ("completed", "not recorded", "not recorded"));
}
