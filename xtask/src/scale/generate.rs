//! All ranks at once, on all cores.

use std::fs;
use std::io::Write as _;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

use anyhow::{Context as _, Result, ensure};

use super::arguments::{Format, ScaleArguments};
use super::hang::Hang;
use super::json::json;
use super::pickle::PickleWriter;
use super::program::Program;
use super::rank::RankDump;

/// The first operation that the rings still hold: the job has run for a while.
const FIRST_INDEX: u64 = 48_000;

/// What was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) files: u32,
    pub(crate) bytes: u64,
}

impl Written {
    /// Tells the user.
    pub(crate) fn print(self) -> Result<()> {
        let Self { files, bytes } = self;
        let line = format!(
            "{files} files, {:.1} MB, {:.1} KB each",
            bytes as f64 / 1e6,
            bytes as f64 / 1e3 / f64::from(files)
        );
        writeln!(std::io::stdout().lock(), "{line}").context("failed to print")
    }
}

/// Writes the dumps of the job into its folder, one file per rank.
pub(crate) fn generate(arguments: &ScaleArguments) -> Result<Written> {
    let ScaleArguments { out, ranks, entries, tp, layers, desync, jitter, format } = arguments;
    ensure!(ranks % tp.min(ranks) == 0, "{ranks} ranks do not divide into tensor-parallel groups of {tp}");
    if let Some(fault) = desync {
        ensure!(fault.rank < *ranks, "rank {} is none of the {ranks}", fault.rank);
    }
    fs::create_dir_all(out).with_context(|| format!("failed to create {}", out.display()))?;
    let program = Program::new(*ranks, *tp, *layers);
    let indices = FIRST_INDEX..FIRST_INDEX + u64::from(*entries);
    let hang = Hang::new(&program, *desync, &indices);
    let writer = PickleWriter::new(*layers);
    let next = AtomicU32::new(0);
    let bytes = AtomicU64::new(0);
    let work = || -> Result<()> {
        let mut buffer = Vec::new();
        loop {
            let rank = next.fetch_add(1, Ordering::Relaxed);
            if rank >= *ranks {
                return Ok(());
            }
            let dump = RankDump::new(&program, &hang, rank, &indices, *jitter);
            let mut name = format!("nccl_trace_rank_{rank}");
            match format {
                Format::Pickle => buffer = writer.write(&program, &dump, buffer),
                Format::Json => {
                    name.push_str(".json");
                    buffer = json(&program, &dump)?;
                }
            }
            let path = out.join(name);
            fs::write(&path, &buffer).with_context(|| format!("failed to write {}", path.display()))?;
            bytes.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(Written { files: *ranks, bytes: bytes.into_inner() })
}
