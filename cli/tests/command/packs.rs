//! `hangscope pack`, and packs where folders go.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::common::{fixtures, hangscope};

const JOB: &str = "h_mesh_pp2_dp2_tp2_skip_tp_8r";

/// A folder of its own with the dumps of a job in `dumps`.
fn job() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let dumps = folder.path().join("dumps");
    fs::create_dir(&dumps).unwrap();
    for file in dump_files() {
        fs::copy(&file, dumps.join(file.file_name().unwrap())).unwrap();
    }
    folder
}

fn dump_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(fixtures().join("dumps").join(JOB).join("pickle"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert_eq!(files.len(), 8);
    files
}

fn report(folder: &Path, paths: &[&str]) -> String {
    let mut arguments = vec!["analyze", "--format", "json"];
    arguments.extend(paths);
    let output = hangscope(folder, &arguments);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn pack(folder: &Path, arguments: &[&str]) -> String {
    let output = hangscope(folder, &[&["pack"], arguments].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(output.stdout.is_empty());
    said
}

#[test]
fn a_pack_gives_the_report_of_the_folder() {
    let folder = job();
    let said = pack(folder.path(), &["dumps", "-o", "job.hangscope"]);
    assert!(said.starts_with("job.hangscope: 8 dumps with "), "{said}");
    assert_eq!(report(folder.path(), &["job.hangscope"]), report(folder.path(), &["dumps"]));
}

#[cfg(unix)]
#[test]
fn a_pack_may_be_read_by_whoever_may_read_other_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = job();
    pack(folder.path(), &["dumps", "-o", "job.hangscope"]);
    fs::write(folder.path().join("other"), "").unwrap();
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("job.hangscope"), mode("other"));
}

#[test]
fn packs_of_parts_and_single_files_go_together() {
    let folder = job();
    let (one, other) = (folder.path().join("one/dumps"), folder.path().join("other/dumps"));
    fs::create_dir_all(&one).unwrap();
    fs::create_dir_all(&other).unwrap();
    for (at, file) in dump_files().iter().enumerate() {
        let place = if at % 2 == 0 { &one } else { &other };
        fs::copy(file, place.join(file.file_name().unwrap())).unwrap();
    }
    pack(folder.path(), &["one/dumps", "-o", "one.hangscope"]);
    pack(folder.path(), &["other/dumps", "-o", "other.hangscope"]);
    let whole = report(folder.path(), &["dumps"]);
    assert_eq!(report(folder.path(), &["other.hangscope", "one.hangscope"]), whole);
    // A pack of packs is the pack of all.
    pack(folder.path(), &["one.hangscope", "other.hangscope", "-o", "both.hangscope"]);
    pack(folder.path(), &["dumps", "-o", "all.hangscope"]);
    let bytes = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("both.hangscope"), bytes("all.hangscope"));
}

#[test]
fn a_damaged_pack_is_told_and_the_rest_is_used() {
    let folder = job();
    pack(folder.path(), &["dumps", "-o", "job.hangscope"]);
    let path = folder.path().join("job.hangscope");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let told = report(folder.path(), &["job.hangscope"]);
    assert!(told.contains("the pack is damaged: a section does not have its checksum"), "{told}");
    assert!(told.contains("skipped"), "all dumps are there: {told}");
    fs::write(&path, &bytes[..40]).unwrap();
    let output = hangscope(folder.path(), &["analyze", "job.hangscope"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("the pack breaks off here"));
}

#[test]
fn nothing_is_written_where_there_is_nothing_to_pack() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "no dump").unwrap();
    fs::write(folder.path().join("job.hangscope"), "what was there").unwrap();
    let output = hangscope(folder.path(), &["pack", "notes.txt", "-o", "job.hangscope"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("none of 1 files is a readable dump"));
    assert_eq!(fs::read(folder.path().join("job.hangscope")).unwrap(), b"what was there");
    let folder = job();
    let output = hangscope(folder.path(), &["pack", "dumps", "-o", "absent/job.hangscope"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("failed to write absent/job.hangscope"));
}

/// Ranks whose pack is damaged left dumps: they are not blamed for having left none.
#[test]
fn nobody_is_blamed_for_what_a_damaged_pack_lost() {
    let folder = job();
    let files: Vec<String> =
        dump_files().iter().map(|file| format!("dumps/{}", file.file_name().unwrap().to_str().unwrap())).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    // Rank 2, for which the culprit, rank 3, waits, is alone in its pack.
    let rest: Vec<&str> = files.iter().copied().filter(|file| !file.ends_with('2')).collect();
    pack(folder.path(), &[&rest[..], &["-o", "rest.hangscope"]].concat());
    pack(folder.path(), &["dumps/nccl_trace_rank_2", "-o", "node.hangscope"]);
    let node = folder.path().join("node.hangscope");
    let whole = fs::read(&node).unwrap();
    let mut damages = vec![whole[..whole.len() / 2].to_vec(), whole.clone(), whole.clone()];
    damages[1][whole.len() / 2] ^= 1;
    // The version that is written behind the mark.
    damages[2][8] = 99;
    for damaged in damages {
        fs::write(&node, damaged).unwrap();
        let report: serde_json::Value =
            serde_json::from_str(&report(folder.path(), &["rest.hangscope", "node.hangscope"])).unwrap();
        let finding = &report["findings"][0];
        assert_eq!(
            (&finding["suspects"], &finding["confidence"]),
            (&"".into(), &"low".into()),
            "{}",
            report["headline"]
        );
        let evidence = finding["evidence"].to_string();
        assert!(evidence.contains("dumps of any rank may be lost in a damaged file"), "{evidence}");
    }
}
