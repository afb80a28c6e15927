//! A program gets from MPI what it gets without the recorder.

use std::path::Path;
use std::process::Command;

use crate::installation::{Library, preload};

/// What two ranks print, sorted: a launcher may mix their lines.
fn told(mpi: Library, program: &Path, preload: Option<&Path>) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("timeout");
    command.arg("60").args(mpi.launcher(2)).arg("env");
    if let Some(preload) = preload {
        command.arg(format!("LD_PRELOAD={}", preload.display()));
    }
    let output = command.arg(program).env("HANGSCOPE_OUT", folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut lines: Vec<_> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn are_kept(mpi: Library) {
    let program = mpi.build("manners");
    let (without, with) = (told(mpi, &program, None), told(mpi, &program, Some(&preload())));
    assert_eq!(without, with);
    assert!(without.len() > 80, "{without:?}");
    for line in ["bad of many 0", "bad exchanges 0"] {
        assert!(without.iter().any(|other| other.ends_with(line)), "no {line}: {without:?}");
    }
}

#[test]
fn are_kept_on_mpich() {
    are_kept(Library::Mpich);
}

#[test]
fn are_kept_on_open_mpi() {
    are_kept(Library::OpenMpi);
}

#[test]
fn are_kept_by_the_standards_interface() {
    are_kept(Library::Standard);
}
