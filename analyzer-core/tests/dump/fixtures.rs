//! The recorded jobs in the repository.

use std::fs;
use std::path::PathBuf;

use hangscope_analyzer_core::dump::{Reading, read};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/dumps"))
}

/// Names of all jobs.
pub fn jobs() -> Vec<String> {
    let mut jobs: Vec<String> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    jobs.sort();
    assert!(jobs.len() > 30);
    jobs
}

/// The readings of a job's dumps.
pub fn readings(job: &str) -> Vec<Reading> {
    let folder = folder().join(job).join("pickle");
    let mut names: Vec<String> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names.iter().map(|name| read(name, &fs::read(folder.join(name)).unwrap())).collect()
}

/// One recorded dump under the names of so many ranks.
pub fn many(ranks: u32) -> Vec<Reading> {
    let bytes = fs::read(folder().join("a_healthy_ddp_4r/pickle/nccl_trace_rank_0")).unwrap();
    (0..ranks).map(|rank| read(&format!("nccl_trace_rank_{rank}"), &bytes)).collect()
}
