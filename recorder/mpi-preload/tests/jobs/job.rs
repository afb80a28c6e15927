//! A job of four ranks with the library before MPI.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hangscope_analyzer_core::dump::read;
use hangscope_analyzer_core::report::Report;
use hangscope_analyzer_core::{Analysis, analyze};
use tempfile::TempDir;

use crate::installation::{Library, preload, sources};

pub(crate) const RANKS: u32 = 4;
/// No job takes longer on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_secs(150);

/// A running job. It is killed with this value.
pub(crate) struct Job {
    launcher: Child,
    folder: TempDir,
}

impl Job {
    /// Starts a C program with a fault.
    pub(crate) fn of_c(mpi: Library, fault: &str, variables: &[(&str, &str)]) -> Self {
        let program = mpi.build("faults");
        Self::start(mpi, &[program.to_str().unwrap(), fault], variables)
    }

    /// Starts a Python program with a fault.
    pub(crate) fn of_python(mpi: Library, fault: &str, variables: &[(&str, &str)]) -> Self {
        let python = mpi.programs().join("python");
        let program = sources().join("faults.py");
        Self::start(mpi, &[python.to_str().unwrap(), program.to_str().unwrap(), fault], variables)
    }

    fn start(mpi: Library, program: &[&str], variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The shell outlives a rank that is killed, whose launcher would end the others otherwise; the limit outlives the
        // test.
        let script = format!("LD_PRELOAD={} \"$@\" || sleep 200", preload().display());
        let mut command = Command::new("timeout");
        command.args(["-k", "1", "200"]).args(mpi.launcher(RANKS)).args(["sh", "-c", &script, "sh"]).args(program);
        for (name, _) in std::env::vars() {
            let others = ["HANGSCOPE_", "TORCH_", "MASTER_", "RANK", "WORLD_SIZE", "SLURM_", "OMPI_", "PMI"];
            if others.iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        let launcher = command
            .env("HANGSCOPE_OUT", folder.path())
            .env("HANGSCOPE_TIMEOUT", "2s")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(fs::File::create(folder.path().join("said.txt")).unwrap())
            .stderr(fs::OpenOptions::new().append(true).open(folder.path().join("said.txt")).unwrap())
            .process_group(0)
            .spawn()
            .unwrap();
        Self { launcher, folder }
    }

    /// Waits for the job to end well.
    pub(crate) fn end_well(mut self) -> Dumps {
        let began = Instant::now();
        loop {
            if let Some(status) = self.launcher.try_wait().unwrap() {
                assert!(status.success(), "{status}: {}", self.said());
                return self.dumps();
            }
            assert!(began.elapsed() < PATIENCE, "it does not end: {}", self.said());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until these ranks have written dumps, and ends the job.
    pub(crate) fn hang(self, ranks: &[u32]) -> Dumps {
        let began = Instant::now();
        while !ranks.iter().all(|rank| dump_path(self.folder.path(), *rank).exists()) {
            assert!(began.elapsed() < PATIENCE, "no dumps of {ranks:?}: {}", self.said());
            thread::sleep(Duration::from_millis(20));
        }
        self.dumps()
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.folder.path().join("said.txt")).unwrap_or_default()).into_owned()
    }

    fn dumps(&self) -> Dumps {
        let ranks = (0..RANKS).filter(|rank| dump_path(self.folder.path(), *rank).exists());
        let readings = ranks.map(|rank| {
            let path = dump_path(self.folder.path(), rank);
            read(path.file_name().unwrap().to_str().unwrap(), &fs::read(&path).unwrap())
        });
        Dumps { analysis: analyze(readings.collect()), said: self.said() }
    }

    /// The ids of the job's processes, by the folder that only they were told.
    fn processes(&self) -> Vec<i32> {
        let mark = format!("HANGSCOPE_OUT={}", self.folder.path().display()).into_bytes();
        let told = |id: i32| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark)
        };
        let names = fs::read_dir("/proc").unwrap().flatten().filter_map(|file| file.file_name().into_string().ok());
        names.filter_map(|name| name.parse().ok()).filter(|id| told(*id)).collect()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg("-TERM").arg(self.launcher.id().to_string()).stderr(Stdio::null()).status();
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(3) && self.launcher.try_wait().is_ok_and(|status| status.is_none())
        {
            thread::sleep(Duration::from_millis(20));
        }
        for id in self.processes() {
            let _ = Command::new("kill").arg("-KILL").arg(id.to_string()).stderr(Stdio::null()).status();
        }
        let _ = self.launcher.kill();
        let _ = self.launcher.wait();
    }
}

fn dump_path(folder: &Path, rank: u32) -> PathBuf {
    folder.join(format!("comm_lib_trace_rank_{rank}"))
}

/// What a job left.
pub(crate) struct Dumps {
    pub analysis: Analysis,
    /// What it wrote.
    pub said: String,
}

impl Dumps {
    pub(crate) fn report(&self) -> &Report {
        self.analysis.report()
    }

    /// Verdict, suspects and the group's label of the first finding.
    pub(crate) fn verdict(&self) -> (String, String, String) {
        let report = self.report();
        let first = report.findings.first();
        let group = first.and_then(|finding| finding.group.as_ref());
        (
            report.verdict.clone(),
            first.map(|finding| finding.suspects.clone()).unwrap_or_default(),
            group.map(|group| group.label.clone()).unwrap_or_default(),
        )
    }

    /// Holds verdict, suspects and group against what they must be.
    pub(crate) fn must_be(&self, verdict: &str, suspects: &str, group: &str) {
        let expected = (verdict.to_owned(), suspects.to_owned(), group.to_owned());
        assert_eq!(self.verdict(), expected, "{}\n{}", self.report().headline, self.said);
        // What helps with PyTorch's or NCCL's switches helps nobody here.
        let advice = hangscope_analyzer_core::report::render_json(self.report());
        assert!(!advice.contains("TORCH_") && !advice.contains("NCCL_"), "{advice}");
        assert_eq!(self.report().findings.len(), usize::from(verdict != "no_fault"), "{:?}", self.report().findings);
    }
}
