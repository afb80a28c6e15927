//! The made-up jobs are read without a fault and say what was put into them.

use std::fs;
use std::path::Path;

use clap::Parser as _;
use hangscope_analyzer_core::{Analysis, analyze, dump};

use super::ScaleArguments;
use super::generate::{Written, generate};

#[derive(Debug, clap::Parser)]
struct Line {
    #[command(flatten)]
    arguments: ScaleArguments,
}

fn write(folder: &Path, options: &[&str]) -> Written {
    let words = ["gen-scale".as_ref(), folder.as_os_str()].into_iter().chain(options.iter().map(AsRef::as_ref));
    generate(&Line::try_parse_from(words).unwrap().arguments).unwrap()
}

fn analysis(folder: &Path) -> Analysis {
    let readings = fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let reading = dump::read(&path.file_name().unwrap().to_string_lossy(), &fs::read(&path).unwrap());
        assert!(reading.faults.is_empty(), "{:?}", reading.faults);
        reading
    });
    analyze(readings.collect())
}

#[test]
fn the_verdict_is_what_was_put_in() {
    for (fault, verdict) in [
        (Some("13:skip"), "skipped_collective"),
        (Some("13:shape"), "size_mismatch"),
        (Some("13:dtype"), "dtype_mismatch"),
        (Some("13:straggler"), "missing_rank"),
        (None, "no_fault"),
    ] {
        for format in ["pickle", "json"] {
            let folder = tempfile::tempdir().unwrap();
            let mut options =
                vec!["--ranks", "16", "--entries", "240", "--tp", "4", "--jitter", "9", "--format", format];
            options.extend(fault.iter().flat_map(|fault| ["--desync", fault]));
            assert_eq!(write(folder.path(), &options).files, 16);
            let analysis = analysis(folder.path());
            let report = analysis.report();
            assert_eq!(report.verdict, verdict, "{fault:?} {format}: {}", report.headline);
            assert_eq!(report.job.ranks_loaded, 16);
            if fault.is_some() {
                assert_eq!(report.findings[0].suspects, "13", "{fault:?} {format}");
            }
        }
    }
}

#[test]
fn a_rank_is_as_large_as_a_real_one() {
    let folder = tempfile::tempdir().unwrap();
    let written = write(folder.path(), &["--ranks", "1", "--entries", "2000"]);
    // What the same program leaves when PyTorch writes it; what a rank of a large job has more are its groups' members.
    assert!((415_000..433_000).contains(&written.bytes), "{} bytes", written.bytes);
    let analysis = analysis(folder.path());
    assert_eq!(analysis.report().job.entries, 2000);
    assert_eq!(analysis.cell_detail(0, 0).unwrap().frames.len(), 30);
}

#[test]
fn the_same_job_is_the_same_bytes() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = ["--ranks", "4", "--entries", "50", "--jitter", "5", "--desync", "2:skip"];
    for folder in [&first, &second] {
        write(folder.path(), &options);
    }
    let read = |folder: &Path, rank: u32| fs::read(folder.join(format!("nccl_trace_rank_{rank}"))).unwrap();
    for rank in 0..4 {
        assert_eq!(read(first.path(), rank), read(second.path(), rank));
    }
    assert_ne!(read(first.path(), 0), read(first.path(), 1));
}
