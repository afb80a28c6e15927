//! The script that tries the recorder on GPUs, with the stand-in in NCCL's place: its table, and what it ends with.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hangscope_analyzer_core::{analyze, dump};
use tempfile::TempDir;

/// Names the folder that this test's own process is to analyse.
const ANALYSE: &str = "HANGSCOPE_TEST_ANALYSE";

fn library(name: &str) -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().join(name)
}

fn script(folder: &TempDir, name: &str, body: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Runs the script; `program` is the body of a program in the workload's place.
fn check(program: &str) -> (Output, Vec<[String; 3]>) {
    let folder = TempDir::new().unwrap();
    let own = env::current_exe().unwrap();
    let analyse = format!("{ANALYSE}=$4 exec {} --exact says_the_verdict --nocapture", own.display());
    let output = Command::new("bash")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu-check.sh"))
        .env("GPU_CHECK_PROGRAM", script(&folder, "program", program))
        .env("GPU_CHECK_HANGSCOPE", script(&folder, "hangscope", &analyse))
        .env("GPU_CHECK_PLUGIN", library("libnccl_profiler_hangscope.so"))
        .env("GPU_CHECK_COUNT", "256")
        .env("GPU_CHECK_LIMIT", "9")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows = said.lines().filter_map(|line| {
        let mut cells = line.splitn(3, " | ").map(|cell| cell.trim().to_owned());
        Some([cells.next()?, cells.next()?, cells.next()?])
    });
    let rows = rows.collect();
    (output, rows)
}

/// In the place of the command: as a process of its own it prints the report of a folder.
#[test]
fn says_the_verdict() {
    let Some(folder) = env::var_os(ANALYSE) else {
        let empty = TempDir::new().unwrap();
        let own = env::current_exe().unwrap();
        let arguments = ["--exact", "says_the_verdict", "--nocapture"];
        let output = Command::new(own).args(arguments).env(ANALYSE, empty.path()).output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("\"verdict\": \"nothing_pending\""), "{output:?}");
        return;
    };
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_string_lossy().contains("_rank_"));
    files.sort();
    let readings = files.iter().map(|path| dump::read(&path.to_string_lossy(), &fs::read(path).unwrap()));
    let analysis = analyze(readings.collect());
    println!("\n{}", serde_json::to_string_pretty(analysis.report()).unwrap());
}

#[test]
fn every_check_passes_over_the_stand_in() {
    let cuda = library("libcuda_stand_in.so");
    let program = format!(
        "if [ \"$1\" = --check ]; then echo 'NCCL: the stand-in'; exit 0; fi\n\
         export HANGSCOPE_STAND_IN_CUDA={0} HANGSCOPE_CUDA_LIBRARY={0}\nexec {1} \"$@\"",
        cuda.display(),
        env!("CARGO_BIN_EXE_hangscope-nccl-stand-in"),
    );
    let (output, rows) = check(&program);
    let results: Vec<_> = rows.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
    let expected = [
        ("check", "result"),
        ("NCCL", "ok"),
        ("plugin, one rank", "ok"),
        ("two ranks, 20 all_reduces", "ok"),
        ("messages in groups", "ok"),
        ("a skipped collective", "ok"),
        ("a rank that sleeps", "ok"),
        ("a receive left out", "ok"),
        ("graph capture", "ok"),
        ("cost of 1,000 small all_reduces", "ok"),
    ];
    assert_eq!(results, expected, "{rows:?}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_program_that_fails_makes_every_check_fail() {
    let (output, rows) = check("echo 'no such device'; exit 1");
    assert_eq!(output.status.code(), Some(1));
    let failed: Vec<_> = rows.iter().filter(|row| row[1] == "FAILED").map(|row| row[0].as_str()).collect();
    assert_eq!(failed.len(), 9, "{rows:?}");
    assert!(rows.iter().any(|row| row[2].contains("no such device")), "{rows:?}");
}

#[test]
fn without_a_gpu_every_line_says_so() {
    let (output, rows) = check("echo 'no GPU: none here' >&2; exit 77");
    assert_eq!(output.status.code(), Some(77));
    assert_eq!(rows.len(), 10);
    assert!(rows.iter().skip(1).all(|row| row[1] == "no GPU"), "{rows:?}");
}
