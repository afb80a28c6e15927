//! The workload where there is no GPU, or where its devices are hidden, and no NCCL.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn workload(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hangscope-nccl-workload"))
        .args(arguments)
        .env("CUDA_VISIBLE_DEVICES", "")
        .env_remove("RANK")
        .output()
        .unwrap()
}

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

#[test]
fn it_says_so_in_one_line_and_has_its_own_status() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let library = folder.join("libnccl.so.2");
    fs::write(&library, "never opened").unwrap();
    let output = workload(&["--nccl", &folder.display().to_string(), "--skip", "1:3"]);
    assert_eq!(output.status.code(), Some(77));
    assert_eq!(lines(&output.stderr), ["no GPU: CUDA's driver finds none on this machine"]);

    let output = workload(&["--nccl", &library.display().to_string(), "--check"]);
    assert_eq!(output.status.code(), Some(77));
    assert_eq!(lines(&output.stdout), [format!("NCCL: {}", library.display()), "GPUs: 0".to_owned()]);
}

#[test]
fn without_nccl_it_says_where_it_looked() {
    let output = workload(&["--nccl", "/nowhere/at/all"]);
    assert_eq!(output.status.code(), Some(77));
    assert!(lines(&output.stderr)[0].starts_with("no NCCL"), "{output:?}");
}

#[test]
fn an_order_that_makes_no_sense_is_refused() {
    let output = workload(&["--skip", "one"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(lines(&output.stderr)[0].contains("expected RANK:OP"), "{output:?}");
}
