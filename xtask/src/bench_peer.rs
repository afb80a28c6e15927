//! The whole process of `hangscope analyze` beside that of PyTorch's own analyser, on the same dumps.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use hangscope_web_build::InstallPolicy;
use wait4::{ResourceUsage, Wait4 as _};

use crate::command::{cargo, describe, find_program, run};
use crate::scale::{Fault, FaultKind, Format, ScaleArguments, generate};
use crate::step::step;
use crate::{machine, web};

/// PyTorch's analyser; its package puts it on the path.
const PEER: &str = "torchfrtrace";

/// Runs of hangscope before the peer's one run and again after it, so that a slow minute of the machine hits both.
const RUNS: usize = 3;

/// The sizes of the jobs.
#[derive(Debug, Args)]
pub(crate) struct BenchPeerArguments {
    /// Ranks of each job
    #[arg(long, value_delimiter = ',', default_values_t = [64, 256])]
    ranks: Vec<u32>,
    /// Entries of each rank
    #[arg(long, default_value_t = 2000)]
    entries: u32,
    /// Measure hangscope alone: for sizes that the other one does not finish
    #[arg(long)]
    alone: bool,
    /// Stop the other one after so many seconds
    #[arg(long, default_value_t = 900)]
    limit: u64,
    /// Measure what is built: the second half of a run, in a process of its own
    #[arg(long, hide = true)]
    built: bool,
}

/// What a process took.
#[derive(Clone, Copy, Debug)]
struct Cost {
    time: Duration,
    /// Of all its threads together; on a busy machine this says more than the time on the wall.
    processor_time: Duration,
    memory_bytes: u64,
    /// It was not stopped before its end.
    finished: bool,
}

impl Cost {
    fn new(time: Duration, usage: ResourceUsage, finished: bool) -> Self {
        Self { time, processor_time: usage.utime + usage.stime, memory_bytes: usage.maxrss, finished }
    }

    fn time_text(self) -> String {
        let [time, processor_time] = [self.time, self.processor_time].map(|time| time.as_secs_f64());
        format!("{}{time:.2} s ({processor_time:.2} s)", self.mark())
    }

    fn memory_text(self) -> String {
        format!("{}{}", self.mark(), megabytes(self.memory_bytes))
    }

    /// What stands before figures that would have grown.
    fn mark(self) -> &'static str {
        if self.finished { "" } else { "> " }
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.0} MB", bytes as f64 / 1e6)
}

/// Makes the jobs, runs both on them, and prints a table.
pub(crate) fn bench_peer(root: &Path, arguments: &BenchPeerArguments) -> Result<()> {
    if !arguments.built {
        // The command has the page inside.
        web::build(root, &root.join("dist"), InstallPolicy::RustupAndApt)?;
        step("Build the command", || {
            run(&mut cargo(root, &["build", "--locked", "--release", "--package", "hangscope"]))
        })?;
        return measure_apart();
    }
    let hangscope = release_command(root);
    let peer = find_program(&[PEER]).filter(|_| !arguments.alone);
    if peer.is_none() && !arguments.alone {
        eprintln!(
            "==> {PEER} is not in PATH, so hangscope is measured alone. It comes with PyTorch, from the package index: \
             `python3 -m venv VENV && VENV/bin/pip install torch numpy`, then `PATH=\"$PWD/VENV/bin:$PATH\"`"
        );
    }
    let mut table = format!(
        "{}; in brackets the processors' time\n\n| ranks | entries | dumps | hangscope | {PEER} | times faster | hangscope, peak | {PEER}, peak | times less |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        machine::describe()
    );
    for &ranks in &arguments.ranks {
        let row = step(&format!("Measure {ranks} ranks"), || row(&hangscope, peer.as_deref(), ranks, arguments))?;
        table.push_str(&row);
    }
    std::io::stdout().write_all(table.as_bytes()).context("failed to print")
}

/// Goes on in a new process: Linux counts to a process's peak what its parent took when it was started, and to build the page takes much.
fn measure_apart() -> Result<()> {
    let this = std::env::current_exe().context("failed to find this program")?;
    run(Command::new(this).args(std::env::args_os().skip(1)).arg("--built"))
}

fn row(hangscope: &Path, peer: Option<&Path>, ranks: u32, arguments: &BenchPeerArguments) -> Result<String> {
    let BenchPeerArguments { entries, limit, .. } = *arguments;
    let folder = tempfile::tempdir().context("failed to make a folder for the dumps")?;
    let written = generate(&ScaleArguments {
        out: folder.path().to_owned(),
        ranks,
        entries,
        tp: 8,
        layers: 24,
        desync: Some(Fault { rank: ranks / 3, kind: FaultKind::Skip }),
        jitter: 0,
        format: Format::Pickle,
    })?;
    // 1 says that a fault was found, as it should be. The first run has no clock: it brings the files into the system's memory,
    // for both.
    let analyze = || measure(Command::new(hangscope).arg("analyze").arg(folder.path()), 1, None);
    analyze()?;
    let mut own = Vec::with_capacity(2 * RUNS);
    for _ in 0..RUNS {
        own.push(analyze()?);
    }
    let limit = Some(Duration::from_secs(limit));
    let other = peer.map(|peer| measure(Command::new(peer).arg(folder.path()), 0, limit)).transpose()?;
    for _ in 0..RUNS {
        own.push(analyze()?);
    }
    let own = median(own).context("nothing was measured")?;
    let [other_time, faster, other_memory, less] = other.map_or_else(Default::default, |other| {
        let times = |of: fn(Cost) -> Duration| of(other).as_secs_f64() / of(own).as_secs_f64();
        let faster = format!("{:.0} ({:.0})", times(|cost| cost.time), times(|cost| cost.processor_time));
        let less = other.memory_bytes as f64 / own.memory_bytes as f64;
        let mark = other.mark();
        [other.time_text(), format!("{mark}{faster}"), other.memory_text(), format!("{mark}{less:.1}")]
    });
    Ok(format!(
        "| {ranks} | {entries} | {} | {} | {other_time} | {faster} | {} | {other_memory} | {less} |\n",
        megabytes(written.bytes),
        own.time_text(),
        own.memory_text(),
    ))
}

/// Runs a command to its end, which has to be `status`, or stops it at the limit. What it says is shown if it fails.
fn measure(command: &mut Command, status: i32, limit: Option<Duration>) -> Result<Cost> {
    let name = describe(command);
    let said = tempfile::NamedTempFile::new().context("failed to make a file for messages")?;
    let output = || File::options().append(true).open(said.path()).context("failed to open a file for messages");
    command.stdin(Stdio::null()).stdout(output()?).stderr(output()?);
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("failed to start {name}"))?;
    let Some(limit) = limit else {
        let end = child.wait4().with_context(|| format!("failed to wait for {name}"))?;
        let time = started.elapsed();
        check(&name, end.status, status, said.path())?;
        return Ok(Cost::new(time, end.rusage, true));
    };
    let mut finished = true;
    loop {
        if let Some(end) = child.try_wait4().with_context(|| format!("failed to wait for {name}"))? {
            let time = started.elapsed();
            if finished {
                check(&name, end.status, status, said.path())?;
            }
            return Ok(Cost::new(time, end.rusage, finished));
        }
        if finished && started.elapsed() > limit {
            finished = false;
            child.kill().with_context(|| format!("failed to stop {name}"))?;
        }
        // Against the seconds that it takes, this is nothing.
        sleep(Duration::from_millis(10));
    }
}

fn check(name: &str, ended: ExitStatus, expected: i32, said: &Path) -> Result<()> {
    if ended.code() != Some(expected) {
        let said = fs::read_to_string(said).unwrap_or_default();
        let lines: Vec<&str> = said.lines().collect();
        eprintln!("{}", lines[lines.len().saturating_sub(20)..].join("\n"));
    }
    ensure!(ended.code() == Some(expected), "{name} ended with {ended}, not {expected}");
    Ok(())
}

/// By time; the middle one of an even number is the slower one.
fn median(mut costs: Vec<Cost>) -> Option<Cost> {
    costs.sort_by_key(|cost| cost.time);
    costs.get(costs.len() / 2).copied()
}

fn release_command(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    root.join(target).join("release").join(format!("hangscope{}", std::env::consts::EXE_SUFFIX))
}
