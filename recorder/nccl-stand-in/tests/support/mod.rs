//! Jobs over the stand-in for NCCL with the real plugin, and what their dumps say.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::thread::sleep;
use std::time::{Duration, Instant};

use hangscope_analyzer_core::{Analysis, analyze, dump};
use hangscope_nccl_exercise::{Ending, Job};
use hangscope_nccl_stand_in::{CUDA_VARIABLE, HUB_VARIABLE, Hub, VERSION_VARIABLE};
use tempfile::TempDir;

/// In which everything must have happened, on a busy machine too.
const LIMIT: Duration = Duration::from_secs(120);

/// A job; its processes are killed when it is dropped.
pub struct Run {
    pub job: Job,
    pub folder: TempDir,
}

/// How to run one.
#[derive(Clone)]
pub struct Setup {
    pub ranks: u32,
    pub version: &'static str,
    pub variables: Vec<(&'static str, String)>,
}

/// The library that cargo built for these tests.
pub fn library(name: &str) -> PathBuf {
    let path = env::current_exe().unwrap().parent().unwrap().join(name);
    assert!(path.is_file(), "{} is not built", path.display());
    path
}

/// The driver's stand-in, for the plugin to load.
pub fn cuda() -> String {
    library("libcuda_stand_in.so").display().to_string()
}

impl Setup {
    /// Four ranks, version 6, ends by CUDA's events.
    pub fn usual() -> Self {
        Self { ranks: 4, version: "6", variables: vec![("HANGSCOPE_CUDA_LIBRARY", cuda())] }
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.retain(|(other, _)| *other != name);
        self.variables.push((name, value.to_owned()));
        self
    }

    pub fn start(&self, arguments: &[&str]) -> Run {
        let folder = TempDir::new().unwrap();
        let hub = Hub::start().unwrap();
        let fixed = [
            ("NCCL_PROFILER_PLUGIN", library("libnccl_profiler_hangscope.so").into_os_string()),
            (CUDA_VARIABLE, cuda().into()),
            (HUB_VARIABLE, hub.address().to_string().into()),
            (VERSION_VARIABLE, self.version.into()),
            ("HANGSCOPE_OUT", folder.path().as_os_str().to_owned()),
            ("HANGSCOPE_TIMEOUT", "2s".into()),
        ];
        let own = self.variables.iter().map(|(name, value)| (*name, OsString::from(value)));
        let variables: Vec<_> = fixed.into_iter().chain(own).map(|(name, value)| (name.into(), value)).collect();
        let program = Path::new(env!("CARGO_BIN_EXE_hangscope-nccl-stand-in"));
        Run { job: Job::start(program, arguments, self.ranks, &variables).unwrap(), folder }
    }

    /// Runs until these ranks have dumped.
    pub fn hang(&self, arguments: &[&str], dumping: &[u32]) -> Analysis {
        let run = self.start(arguments);
        run.wait_for_dumps(dumping);
        run.analysis()
    }

    /// Runs to the end; every rank leaves a dump there.
    pub fn finish(&self, arguments: &[&str]) -> Run {
        let mut run = self.clone().with("HANGSCOPE_DUMP_AT_EXIT", "1").start(arguments);
        match run.job.wait(LIMIT).unwrap() {
            Ending::Over(statuses) => assert!(statuses.iter().all(ExitStatus::success), "{statuses:?}"),
            Ending::Limit(statuses) => panic!("some do not end: {statuses:?}"),
        }
        run
    }
}

impl Run {
    pub fn dump(&self, rank: u32) -> PathBuf {
        self.folder.path().join(format!("comm_lib_trace_rank_{rank}"))
    }

    pub fn dumps(&self) -> usize {
        (0..64).filter(|rank| self.dump(*rank).is_file()).count()
    }

    pub fn wait_for_dumps(&self, ranks: &[u32]) {
        let begin = Instant::now();
        while !ranks.iter().all(|rank| self.dump(*rank).is_file()) {
            assert!(begin.elapsed() < LIMIT, "no dumps of {ranks:?} in {:?}", self.folder.path());
            sleep(Duration::from_millis(20));
        }
    }

    /// Asks for dumps, again and again, until the ranks have made so many calls.
    pub fn ask_until(&self, calls: [usize; 4]) -> Analysis {
        let begin = Instant::now();
        loop {
            let analysis = self.analysis();
            let job = analysis.job();
            let made = [0, 1, 2, 3].map(|rank| job.rank_idx(rank).map_or(0, |rank| job.rank(rank).entries.len()));
            if made == calls {
                return analysis;
            }
            assert!(begin.elapsed() < LIMIT, "they made {made:?} calls");
            fs::write(self.folder.path().join("dump-now"), "now").unwrap();
            sleep(Duration::from_millis(500));
        }
    }

    pub fn analysis(&self) -> Analysis {
        let ranks = (0..64).filter(|rank| self.dump(*rank).is_file());
        let readings = ranks.map(|rank| {
            let path = self.dump(rank);
            dump::read(&path.file_name().unwrap().to_string_lossy(), &fs::read(&path).unwrap())
        });
        analyze(readings.collect())
    }
}

/// The verdict and whom the first finding blames.
pub fn blamed(analysis: &Analysis) -> (String, String) {
    let report = analysis.report();
    (report.verdict.clone(), report.findings.first().map(|finding| finding.suspects.clone()).unwrap_or_default())
}
