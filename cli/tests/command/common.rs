//! Runs the command on fixtures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The fixtures of the repository.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures")
}

/// The scenarios with a known truth, by name.
pub fn scenarios() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(fixtures().join("dumps"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 37, "fixtures are missing: {} scenarios", names.len());
    names
}

/// Runs `hangscope` in a folder.
pub fn hangscope(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hangscope")).current_dir(folder).args(arguments).output().unwrap()
}

/// Runs `hangscope analyze … --format json` and reads its report.
pub fn report(folder: &Path, paths: &[&str]) -> (serde_json::Value, i32) {
    let mut arguments = vec!["analyze", "--format", "json"];
    arguments.extend(paths);
    let output = hangscope(folder, &arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    let report = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{error}: {text}\n{}", String::from_utf8_lossy(&output.stderr)));
    (report, output.status.code().unwrap())
}
