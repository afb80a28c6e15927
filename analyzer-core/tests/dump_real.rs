//! Real dumps: the pickle form, the JSON form and the values in the file must agree.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a test may fail and may say why it skips")]

mod dump;

use std::fs;
use std::path::{Path, PathBuf};

use hangscope_analyzer_core::dump::{Dump, Reading, read};
use serde_json::Value;

use dump::{fields, shared};

/// Every scenario folder of the recorded dumps; none on a machine that has no such folder.
fn scenarios() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = [shared("dumps"), shared("dumps-megatron")]
        .into_iter()
        .flatten()
        .flat_map(|folder| fs::read_dir(folder).expect("folder of dumps"))
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.is_dir())
        .collect();
    all.sort();
    if all.is_empty() {
        println!("skipped: there are no recorded dumps beside the repository");
    }
    all
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    files
}

fn read_file(path: &Path) -> (Reading, Vec<u8>) {
    let bytes = fs::read(path).expect("dump");
    (read(&path.to_string_lossy(), &bytes), bytes)
}

fn only_dump(path: &Path, reading: &Reading) -> Dump {
    assert_eq!(reading.faults, [], "{}", path.display());
    assert_eq!(reading.dumps.len(), 1, "{}", path.display());
    let dump = reading.dumps[0].clone();
    assert!(
        !dump.truncated && dump.rank.is_some() && dump.unknown_keys.is_empty(),
        "{}: {:?}",
        path.display(),
        dump.unknown_keys
    );
    dump
}

#[test]
fn json_dumps_say_what_is_in_them() {
    for scenario in scenarios() {
        for kind in ["json", "active_json"] {
            for path in files(&scenario.join(kind)) {
                let (reading, bytes) = read_file(&path);
                let dump = only_dump(&path, &reading);
                let tree: Value = serde_json::from_slice(&bytes).expect("JSON");
                fields::compare_with_tree(&dump, &tree, false, &path.to_string_lossy());
            }
        }
    }
}

#[test]
fn pickle_and_json_of_one_rank_agree() {
    for scenario in scenarios() {
        for (pickle, json) in [("pickle", "json"), ("active", "active_json"), ("nostack", "json")] {
            for path in files(&scenario.join(json)) {
                let name = path.file_stem().expect("name");
                let twin = scenario.join(pickle).join(name);
                if !twin.exists() {
                    continue;
                }
                let (reading, bytes) = read_file(&twin);
                let dump = only_dump(&twin, &reading);
                let tree: Value = serde_json::from_slice(&fs::read(&path).expect("JSON dump")).expect("JSON");
                fields::compare_with_tree(&dump, &tree, true, &twin.to_string_lossy());
                assert_eq!(reading.size_bytes, bytes.len() as u64);
            }
        }
    }
}

#[test]
fn every_recorded_pickle_is_read_whole() {
    for scenario in scenarios() {
        for kind in ["pickle", "active", "nostack"] {
            for path in files(&scenario.join(kind)) {
                let (reading, bytes) = read_file(&path);
                let dump = only_dump(&path, &reading);
                let has_frames =
                    dump.entries.iter().any(|(_, entry)| dump.symbols.stacks.frames(entry.stack).count() > 0);
                assert_eq!(has_frames, bytes.windows(8).any(|window| window == b"filename"), "{}", path.display());
                assert!(!dump.group_configs.is_empty(), "{}", path.display());
            }
        }
    }
}

/// Wherever the file of one rank of a healthy job breaks off, nobody is to blame, and it is said that no fault may be found so.
#[test]
fn a_healthy_ring_of_which_one_file_breaks_off() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/dumps/i_ring_healthy_4r/pickle");
    if !folder.is_dir() {
        eprintln!("{} is not there: skipped", folder.display());
        return;
    }
    let file = |rank: u32| fs::read(folder.join(format!("nccl_trace_rank_{rank}"))).expect("a dump");
    let files = [0, 1, 2, 3].map(file);
    for cut in (400..files[1].len()).step_by(7) {
        let readings = (0..).zip(&files).map(|(rank, bytes)| {
            let bytes = if rank == 1 { &bytes[..cut] } else { bytes.as_slice() };
            read(&format!("nccl_trace_rank_{rank}"), bytes)
        });
        let analysis = hangscope_analyzer_core::analyze(readings.collect());
        let report = analysis.report();
        let suspects: Vec<&str> = report.findings.iter().map(|finding| finding.suspects.as_str()).collect();
        assert!(suspects.iter().all(|suspects| suspects.is_empty()), "{cut}: {}", report.headline);
        assert_ne!(report.verdict, "cross_group_deadlock", "{cut}: {}", report.headline);
        if report.findings.is_empty() {
            assert!(report.headline.contains("off: no fault is in what is left"), "{cut}: {}", report.headline);
        }
    }
}
