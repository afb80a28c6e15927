//! Real incidents of a large job, read where they are: dumps of unfinished entries alone, from 16 ranks in 65 groups.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test may fail and may say why it skips"
)]

mod dump;

use std::fs;

use hangscope_analyzer_core::dump::read;
use hangscope_analyzer_core::report::{Cause, Confidence, Kind, Report};
use hangscope_analyzer_core::{Analysis, analyze};

/// The incident's analysis; `None`, with a message, on a machine that has no such dumps.
fn incident(name: &str) -> Option<Analysis> {
    let Some(folder) = dump::shared("dumps-megatron") else {
        println!("skipped: there are no recorded incidents beside the repository");
        return None;
    };
    let files = fs::read_dir(folder.join(name).join("pickle")).unwrap();
    let readings = files.map(|file| {
        let path = file.unwrap().path();
        read(path.file_name().unwrap().to_str().unwrap(), &fs::read(&path).unwrap())
    });
    Some(analyze(readings.collect()))
}

/// One finding that blames these ranks.
fn check(report: &Report, kind: Kind, cause: Cause, suspects: &str, blocked: &str) {
    assert_eq!(report.findings.len(), 1, "{}", report.headline);
    let finding = &report.findings[0];
    assert_eq!(
        (finding.kind, finding.cause, finding.confidence),
        (kind, cause, Confidence::Medium),
        "{}",
        report.headline
    );
    assert_eq!((finding.suspects.as_str(), finding.blocked.as_str()), (suspects, blocked), "{}", report.headline);
}

#[test]
fn two_devices_stopped() {
    let Some(analysis) = incident("gpu_error_1st") else { return };
    let report = analysis.report();
    check(report, Kind::RankBehind, Cause::GpuStuck, "12,14", "0-11,13,15");
    let evidence = &report.findings[0].evidence;
    for rank in [12, 14] {
        let line = format!("rank {rank} is behind its peers in 5 of 5 groups with unfinished rows");
        assert!(evidence.contains(&line), "{evidence:?}");
    }
}

#[test]
fn two_programs_stopped() {
    let Some(analysis) = incident("lock_gil_2nd") else { return };
    let report = analysis.report();
    check(report, Kind::MissingRank, Cause::CpuStuck, "10,15", "0-7");
    assert_eq!(report.findings[0].victims, "8-9,11-14");
    assert_eq!(report.findings[0].also.iter().map(|group| group.ranks.as_str()).collect::<Vec<_>>(), ["12-15"]);
    assert!(report.headline.ends_with("ranks 10,15 have nothing unfinished"), "{}", report.headline);
}
