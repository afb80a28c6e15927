//! The command's manners: what it reads, where it writes, how it ends.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{fixtures, hangscope, report};

const HUNG: &str = "b_skip_metrics_4r";
const HEALTHY: &str = "a_healthy_ddp_4r";

fn dumps(scenario: &str) -> std::path::PathBuf {
    fixtures().join("dumps").join(scenario).join("pickle")
}

fn copy_dumps(scenario: &str, to: &Path) {
    for entry in fs::read_dir(dumps(scenario)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn the_exit_status_tells_fault_from_none_from_nothing() {
    let empty = tempfile::tempdir().unwrap();
    let status = |folder: &Path| hangscope(folder, &["analyze", "."]).status.code();
    assert_eq!(status(&dumps(HEALTHY)), Some(0));
    assert_eq!(status(&dumps(HUNG)), Some(1));
    assert_eq!(status(empty.path()), Some(2));
    assert_eq!(hangscope(empty.path(), &["analyze"]).status.code(), Some(2));
    assert_eq!(hangscope(empty.path(), &["analyze", "nowhere"]).status.code(), Some(2));
    assert_eq!(hangscope(empty.path(), &["--help"]).status.code(), Some(0));
}

#[test]
fn errors_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("README.txt"), "hello").unwrap();
    let output = hangscope(folder.path(), &["analyze", "."]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout.is_empty());
    assert!(message.contains("README.txt") && message.contains("one file per rank"), "{message}");
}

#[test]
fn bad_files_are_listed_and_the_rest_is_analysed() {
    let folder = tempfile::tempdir().unwrap();
    copy_dumps(HUNG, folder.path());
    let whole = fs::read(folder.path().join("nccl_trace_rank_3")).unwrap();
    fs::write(folder.path().join("nccl_trace_rank_3"), &whole[..whole.len() - 100]).unwrap();
    fs::write(folder.path().join("nccl_trace_rank_9"), "").unwrap();
    fs::write(folder.path().join("README.txt"), "Dumps of Tuesday's run.\n").unwrap();
    let (report, status) = report(folder.path(), &["."]);
    assert_eq!(status, 1);
    assert_eq!(report["findings"][0]["suspects"], "2");
    let notes: Vec<(String, String)> = report["data_quality"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| (note["kind"].as_str().unwrap().into(), note["file"].as_str().unwrap_or_default().into()))
        .collect();
    for expected in
        [("truncated", "nccl_trace_rank_3"), ("unreadable", "nccl_trace_rank_9"), ("unreadable", "README.txt")]
    {
        assert!(notes.contains(&(expected.0.into(), expected.1.into())), "{expected:?} in {notes:?}");
    }
    let nine = report["ranks"].as_array().unwrap().iter().find(|state| state["rank"] == 9).unwrap();
    assert_eq!(nine["status"], "unreadable");
}

#[test]
fn one_file_from_standard_input() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hangscope"))
        .args(["analyze", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The rank is in the name only, and standard input has none: a bundle says it.
    let json = fixtures().join("dumps/b_skip_clip_8r_hook/json");
    let mut bundle = String::from("{");
    for rank in 0..8 {
        let text = fs::read_to_string(json.join(format!("nccl_trace_rank_{rank}.json"))).unwrap();
        bundle.push_str(&format!("{}\"{rank}\": {text}", if rank > 0 { "," } else { "" }));
    }
    bundle.push('}');
    child.stdin.take().unwrap().write_all(bundle.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((report["findings"][0]["suspects"].as_str(), output.status.code()), (Some("5"), Some(1)));
}

/// Dumps in a tar, a tar.gz and a zip archive, as bytes.
fn archives() -> [(&'static str, Vec<u8>); 3] {
    let mut plain = tar::Builder::new(Vec::new());
    plain.append_dir_all("run", dumps(HUNG)).unwrap();
    let mut packed = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    packed.append_dir_all("run", dumps(HUNG)).unwrap();
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for entry in fs::read_dir(dumps(HUNG)).unwrap() {
        let entry = entry.unwrap();
        zip.start_file(entry.file_name().to_str().unwrap(), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&fs::read(entry.path()).unwrap()).unwrap();
    }
    [
        ("dumps.tar", plain.into_inner().unwrap()),
        ("dumps.tgz", packed.into_inner().unwrap().finish().unwrap()),
        ("dumps.zip", zip.finish().unwrap().into_inner()),
    ]
}

#[test]
fn archives_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    for (archive, bytes) in archives() {
        fs::write(folder.path().join(archive), bytes).unwrap();
        let (report, status) = report(folder.path(), &[archive]);
        assert_eq!((report["findings"][0]["suspects"].as_str(), status), (Some("2"), 1), "{archive}");
    }
}

/// What a full disk or a broken copy leaves of an archive is read, and nobody is blamed for what it lost.
#[test]
fn archives_that_break_off_are_read_as_far_as_they_go() {
    let folder = tempfile::tempdir().unwrap();
    for (archive, bytes) in archives() {
        let mut ranks_of_cuts = Vec::new();
        for tenths in 1..10 {
            fs::write(folder.path().join(archive), &bytes[..bytes.len() * tenths / 10]).unwrap();
            let output = hangscope(folder.path(), &["analyze", archive, "--format", "json"]);
            let Ok(report) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else {
                let told = String::from_utf8_lossy(&output.stderr);
                assert!(told.contains("the archive is damaged or breaks off"), "{archive}, {tenths} tenths: {told}");
                continue;
            };
            let suspects = report["findings"][0]["suspects"].as_str().unwrap_or_default();
            assert!(matches!(suspects, "" | "2"), "{archive}, {tenths} tenths: {}", report["headline"]);
            assert_ne!(output.status.code(), Some(0), "{archive}, {tenths} tenths: {}", report["headline"]);
            let notes = report["data_quality"].as_array().unwrap();
            assert!(notes.iter().any(|note| note["file"] == archive && note["kind"] == "truncated"), "{notes:?}");
            ranks_of_cuts.push(report["job"]["ranks_loaded"].as_u64().unwrap());
        }
        assert!(ranks_of_cuts.is_sorted() && ranks_of_cuts.last() >= Some(&3), "{archive}: {ranks_of_cuts:?}");
    }
}

/// All dumps are there and end well, and only the end of the archive is not: more of them may be lost.
#[test]
fn an_archive_without_its_end_is_not_called_a_dump_that_breaks_off() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_dir_all("run", dumps(HEALTHY)).unwrap();
    let bytes = archive.into_inner().unwrap();
    fs::write(folder.path().join("dumps.tar"), &bytes[..bytes.len() - 1024]).unwrap();
    let (report, status) = report(folder.path(), &["dumps.tar"]);
    let headline = report["headline"].as_str().unwrap();
    assert!(headline.starts_with("Files with dumps break off, and 4 ranks could be read: "), "{headline}");
    assert_eq!(status, 2);
}

#[test]
fn gzipped_dumps_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(dumps(HUNG)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{}.gz", entry.file_name().to_str().unwrap());
        let file = fs::File::create(folder.path().join(name)).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::default());
        gzip.write_all(&fs::read(entry.path()).unwrap()).unwrap();
        gzip.finish().unwrap();
    }
    let (report, _) = report(folder.path(), &["."]);
    assert_eq!(report["findings"][0]["suspects"], "2");
}

#[test]
fn two_dumps_of_a_rank_are_one() {
    let folder = tempfile::tempdir().unwrap();
    copy_dumps(HUNG, folder.path());
    // An older dump of the healthy job under another name of the same rank.
    fs::copy(dumps(HEALTHY).join("nccl_trace_rank_1"), folder.path().join("old_rank_1")).unwrap();
    let (report, _) = report(folder.path(), &["."]);
    assert_eq!(report["job"]["ranks_loaded"], 4);
    let duplicate =
        report["data_quality"].as_array().unwrap().iter().find(|note| note["kind"] == "duplicate_rank").unwrap();
    assert_eq!(duplicate["rank"], 1);
}

#[test]
fn the_report_goes_where_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("report.json");
    let arguments = ["analyze", ".", "--format", "json", "--output", target.to_str().unwrap()];
    let output = hangscope(&dumps(HUNG), &arguments);
    assert!(output.stdout.is_empty() && output.status.code() == Some(1));
    let direct = hangscope(&dumps(HUNG), &arguments[..4]);
    assert_eq!(fs::read(target).unwrap(), direct.stdout);
}

#[test]
fn a_pipe_gets_no_colour_and_no_progress() {
    let output = hangscope(&dumps(HUNG), &["analyze", "."]);
    assert!(!output.stdout.contains(&0x1b), "an escape sequence in a pipe");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_are_listed_and_the_rest_is_analysed() {
    let folder = tempfile::tempdir().unwrap();
    copy_dumps(HUNG, folder.path());
    std::os::unix::fs::symlink(".", folder.path().join("loop")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("nccl_trace_rank_9")).unwrap();
    let (report, status) = report(folder.path(), &["."]);
    assert_eq!((report["findings"][0]["suspects"].as_str(), status), (Some("2"), 1));
    for file in ["loop", "nccl_trace_rank_9"] {
        let listed = report["data_quality"].as_array().unwrap().iter().any(|note| note["file"] == file);
        assert!(listed, "{file} in {}", report["data_quality"]);
    }
}

/// A full disk cuts all dumps before what the job hangs in: that is no health.
#[test]
fn dumps_that_break_off_are_not_called_healthy() {
    let folder = tempfile::tempdir().unwrap();
    copy_dumps(HUNG, folder.path());
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..3000]).unwrap();
    }
    let (report, status) = report(folder.path(), &["."]);
    assert_eq!(status, 2);
    let headline = report["headline"].as_str().unwrap();
    assert!(headline.starts_with("4 of 4 dumps break off: no fault is in what is left"), "{headline}");
}

#[test]
fn an_archive_that_cannot_be_opened_is_listed_and_the_rest_is_analysed() {
    let folder = tempfile::tempdir().unwrap();
    copy_dumps(HUNG, folder.path());
    fs::write(folder.path().join("more.zip"), b"PK\x03\x04 and then nothing of it").unwrap();
    let (report, status) = report(folder.path(), &["."]);
    assert_eq!((status, report["findings"][0]["suspects"].as_str()), (1, Some("2")));
    let notes = report["data_quality"].as_array().unwrap();
    assert!(notes.iter().any(|note| note["file"].as_str().is_some_and(|file| file.ends_with("more.zip"))), "{notes:?}");
}
