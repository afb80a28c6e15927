//! `hangscope record`: what the program is started with. That it records is tested where real programs hang.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `hangscope record` with a cache of its own and none of this test's own variables.
fn record(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hangscope"));
    for (name, _) in std::env::vars() {
        let set_elsewhere = ["HANGSCOPE_", "TORCH_", "NCCL_", "LD_PRELOAD", "RANK", "PMI_", "OMPI_", "SLURM_"];
        if set_elsewhere.iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command.current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache")).envs(variables.iter().copied());
    command.arg("record").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_program_gets_the_libraries_and_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let show =
        "echo $HANGSCOPE_OUT; echo $HANGSCOPE_TIMEOUT; echo $NCCL_PROFILER_PLUGIN; echo $LD_PRELOAD; echo \"$1\"";
    let output = record(folder.path(), &[], &["--timeout", "90s", "--", "sh", "-c", show, "sh", "an argument"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines: Vec<_> = text(&output.stdout).lines().map(str::to_owned).collect();
    let out = folder.path().join("hangscope-dumps");
    assert_eq!(lines[0], out.to_str().unwrap());
    assert_eq!(lines[1], "90s");
    for (line, name) in [(&lines[2], "libnccl-profiler-hangscope.so"), (&lines[3], "libhangscope-mpi.so")] {
        let path = Path::new(line);
        assert!(path.starts_with(folder.path().join("cache/hangscope")), "{line}");
        assert!(path.ends_with(name) && path.is_file(), "{line}");
    }
    assert_eq!(lines[4], "an argument");
    assert_eq!(
        text(&output.stderr),
        format!("hangscope: recording; if the job hangs, its dumps will be in {}\n", out.display())
    );
    // The trigger file can be put there while the program runs; one that hangs nowhere leaves nothing in it.
    assert_eq!(std::fs::read_dir(out).unwrap().count(), 0);
}

#[test]
fn the_exit_status_is_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(record(folder.path(), &[], &["--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    let absent = record(folder.path(), &[], &["--", "no-such-program"]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(text(&absent.stderr).contains("failed to start no-such-program"), "{}", text(&absent.stderr));
}

#[test]
fn what_makes_no_sense_is_told_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["--timeout", "soon", "--", "true"][..], &[], &["--mode", "gloo", "--", "true"]] {
        let output = record(folder.path(), &[], arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn libraries_that_cannot_be_written_or_trusted_are_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let nowhere = folder.path().join("file").into_os_string().into_string().unwrap();
    let places = [("XDG_CACHE_HOME", nowhere.as_str()), ("TMPDIR", nowhere.as_str())];
    let output = record(folder.path(), &places, &["--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("set XDG_CACHE_HOME to a folder that can be written"),
        "{}",
        text(&output.stderr)
    );

    let output = record(folder.path(), &[("HANGSCOPE_LIBRARIES", ".")], &["--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("there is no libnccl-profiler-hangscope.so"), "{}", text(&output.stderr));
}

#[test]
fn a_folder_that_cannot_be_written_is_told_before_the_job_runs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let output = record(folder.path(), &[], &["--out", "file", "--", "true"]);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("no dump can be written to"), "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains("its dumps will be in"), "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn libraries_that_others_may_change_are_not_loaded() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let show = ["--mode", "mpi", "--", "sh", "-c", "echo $LD_PRELOAD"];
    let first = text(&record(folder.path(), &[], &show).stdout);
    let library = Path::new(first.trim());
    // One that was damaged is put right.
    std::fs::write(library, "damaged").unwrap();
    assert_eq!(text(&record(folder.path(), &[], &show).stdout), first);
    assert!(std::fs::metadata(library).unwrap().len() > 100_000);

    std::fs::set_permissions(library.parent().unwrap(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let temporary = folder.path().join("temporary");
    let other = record(folder.path(), &[("TMPDIR", temporary.to_str().unwrap())], &show);
    assert!(text(&other.stdout).starts_with(temporary.to_str().unwrap()), "{}", text(&other.stdout));
}

#[test]
fn a_check_tells_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), &[], &["--check"]);
    assert!(output.status.success());
    let told = text(&output.stdout);
    let heads: Vec<_> =
        told.lines().filter_map(|line| line.split_whitespace().next().filter(|_| !line.starts_with(' '))).collect();
    assert_eq!(heads, ["recorder", "NCCL", "CUDA", "MPI", "Python", "ptrace", "dumps"], "{told}");
    assert!(told.contains("hangscope-dumps: can be written"), "{told}");
}
