//! `hangscope record --check`: what would work on this machine.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{libraries, search};
use crate::args;

/// Tells line by line what there is. The exit status is 0: that something is absent is an answer.
pub(crate) fn check(options: &args::Record) -> Result<u8> {
    let lines = [
        ("recorder", recorder()),
        ("NCCL", nccl()),
        ("CUDA", cuda()),
        ("MPI", mpi()),
        ("Python", python()),
        ("ptrace", ptrace()),
        ("dumps", dumps(options)),
    ];
    let mut out = io::stdout().lock();
    for (name, answers) in lines {
        for (index, answer) in answers.iter().enumerate() {
            writeln!(out, "{:<9} {answer}", if index == 0 { name } else { "" })?;
        }
    }
    Ok(0)
}

fn recorder() -> Vec<String> {
    match libraries::install() {
        Ok(libraries) => vec![
            format!("for NCCL: {}", libraries.nccl_plugin.display()),
            format!("for MPI:  {}", libraries.mpi_preload.display()),
        ],
        Err(error) => vec![format!("cannot be used: {error:#}")],
    }
}

fn nccl() -> Vec<String> {
    let own = search::libraries("libnccl.so.2").into_iter().filter_map(|path| nccl_in(&path, false));
    // Some frameworks have NCCL inside of a library of their own; others only name the version that they need.
    let inside = search::libraries("libtorch_cuda.so").into_iter().filter_map(|path| nccl_in(&path, true));
    let found: Vec<_> = own.chain(inside).collect();
    if found.is_empty() {
        return vec![
            "not found in the loader's path or in Python's packages; programs that bring their own are recorded all \
             the same"
                .to_owned(),
        ];
    }
    found
}

/// What a library that may hold NCCL says of itself: its version, and the names of the profiler interfaces that it
/// looks for.
fn nccl_in(path: &Path, with_profiler: bool) -> Option<String> {
    let marks = [
        "NCCL version ",
        "ncclProfiler_v1",
        "ncclProfiler_v2",
        "ncclProfiler_v3",
        "ncclProfiler_v4",
        "ncclProfiler_v5",
        "ncclProfiler_v6",
    ];
    let is_version = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('.');
    let texts =
        search::texts_after(path, marks, |mark, text| if mark == 0 { is_version(text) } else { text.is_empty() })?;
    let [version, profilers @ ..] = texts;
    let version: String = version?.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let what = match profilers.iter().rposition(Option::is_some).map(|index| index + 1) {
        Some(4) => "profiler v4: kernels are recorded as they are enqueued".to_owned(),
        Some(newest @ 5..) => format!("profiler v{newest}: every call is recorded"),
        Some(old) => format!("profiler v{old} at most: nothing is recorded (NCCL 2.27 and later have v4)"),
        None if with_profiler => return None,
        None => "no profiler interface: nothing is recorded (NCCL 2.27 and later have it)".to_owned(),
    };
    Some(format!("{version} in {}: {what}", path.display()))
}

fn cuda() -> Vec<String> {
    let driver = search::libraries("libcuda.so.1");
    let version = fs::read_to_string("/proc/driver/nvidia/version").ok();
    let version = version.as_deref().and_then(|text| {
        text.split_whitespace().find(|word| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.'))
    });
    let devices = fs::read_dir("/proc/driver/nvidia/gpus").map_or(0, Iterator::count);
    match driver.first() {
        Some(path) => vec![format!(
            "driver {} in {}, {devices} devices: the ends of NCCL's operations are seen",
            version.unwrap_or("of unknown version"),
            path.display()
        )],
        None => vec!["no driver: NCCL does not run here".to_owned()],
    }
}

fn mpi() -> Vec<String> {
    let names = ["libmpi.so.12", "libmpi.so.40", "libmpi.so", "libmpich.so.12", "libmpi_abi.so.1"];
    let mut answers: Vec<String> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in names.iter().flat_map(|name| search::libraries(name)) {
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if seen.contains(&real) {
            continue;
        }
        seen.push(real);
        let marks = ["ompi_mpi_comm_world", "MPICH Version", "MPIR_"];
        let kind = match search::texts_after(&path, marks, |_, _| true) {
            Some([Some(_), ..]) => "Open MPI: recorded",
            Some([None, None, None]) | None => "of an unknown kind: not recorded",
            Some(_) => "MPICH or one of its kin: recorded",
        };
        answers.push(format!("{}: {kind}", path.display()));
    }
    let launchers: Vec<_> = ["mpirun", "mpiexec", "srun"]
        .into_iter()
        .filter_map(search::program)
        .map(|path| path.display().to_string())
        .collect();
    if !launchers.is_empty() {
        answers.push(format!("launchers: {}", launchers.join(", ")));
    }
    if answers.is_empty() {
        answers.push("not found in the loader's path or in Python's packages".to_owned());
    }
    answers
}

fn python() -> Vec<String> {
    let script = "import sys; print('%d.%d.%d' % sys.version_info[:3], sys.executable)";
    let output = Command::new("python3").args(["-c", script]).output().ok().filter(|output| output.status.success());
    let Some(output) = output else { return vec!["no python3".to_owned()] };
    let text = String::from_utf8_lossy(&output.stdout);
    let (version, path) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let minor = version.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok()).unwrap_or(0);
    let stacks = match minor {
        11..=13 => "its stacks are recorded",
        9.. => "its stacks are recorded where the caller holds the interpreter's lock",
        _ => "too old for its stacks, which need 3.9",
    };
    vec![format!("{version} in {path}: {stacks}")]
}

fn ptrace() -> Vec<String> {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    let answer = match scope.as_deref().map(str::trim) {
        Ok("0") | Err(_) => "allowed for processes of the same user: py-spy and gdb can show a stuck process",
        Ok("1") => "allowed for children, and for root: py-spy and gdb need root to show a stuck process",
        Ok("2") => "allowed for root alone",
        Ok(_) => "allowed for nobody",
    };
    vec![format!("{answer} (the recorder itself does not need it)")]
}

fn dumps(options: &args::Record) -> Vec<String> {
    let folder = options.out.clone().unwrap_or_else(|| "hangscope-dumps".into());
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    // The nearest folder that is there is the one in which the others are made.
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let answer = match tempfile::tempfile_in(there) {
        Ok(_) => "can be written".to_owned(),
        Err(error) => format!("cannot be written: {error}"),
    };
    vec![format!("{}: {answer}", folder.display())]
}
