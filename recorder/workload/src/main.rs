//! A real NCCL program: collectives and messages on GPUs, with faults to order, to try the recorder on.
//!
//! It ends with 77 where there is no GPU to run on, or no NCCL; with 124 when its time limit was over; with 1 when something
//! failed.

mod device;
mod find;
mod rank;
mod unique_id;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use hangscope_nccl_exercise::{Arguments, Job, Role, run, status};

/// Runs collectives and messages over NCCL, one process a rank.
///
/// Ranks share the GPUs that there are: with more ranks than GPUs, several ranks are on one GPU.
#[derive(Debug, Parser)]
#[command(version)]
struct Command {
    #[command(flatten)]
    arguments: Arguments,
    /// The folder or file of libnccl.so.2; else it is looked for in LD_LIBRARY_PATH, the system's folders and Python's.
    #[arg(long)]
    nccl: Option<std::path::PathBuf>,
    /// Prints which NCCL is found and how many GPUs, and ends.
    #[arg(long)]
    check: bool,
}

#[expect(clippy::print_stderr, reason = "a program's output")]
fn main() -> ExitCode {
    let command = Command::parse();
    let ended = match Role::from_environment() {
        Role::Launcher => launch(&command),
        Role::Rank { rank, size } => work(&command, rank, size),
    };
    match ended {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(status::FAILED)
        }
    }
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program's output")]
fn launch(command: &Command) -> anyhow::Result<u8> {
    let gpus = device::count();
    let Some(library) = find::library(command.nccl.as_deref()) else {
        eprintln!(
            "no NCCL: libnccl.so.2 is neither in LD_LIBRARY_PATH, nor the system's folders, nor a Python package"
        );
        return Ok(status::NO_GPU);
    };
    if command.check {
        println!("NCCL: {}", library.display());
        println!("GPUs: {gpus}");
    }
    if gpus == 0 {
        eprintln!("no GPU: CUDA's driver finds none on this machine");
        return Ok(status::NO_GPU);
    }
    if command.check {
        return Ok(0);
    }
    let folder = find::LinkFolder::of(&library)?;
    let mut variables = vec![
        (OsString::from("LD_LIBRARY_PATH"), folder.search_path()),
        (OsString::from(unique_id::VARIABLE), folder.path().join("unique-id").into()),
    ];
    variables.push(("HANGSCOPE_WORKLOAD_GPUS".into(), gpus.to_string().into()));
    let arguments = env::args_os().skip(1);
    let program = env::current_exe().context("this program's own file")?;
    let mut job = Job::start(&program, arguments, command.arguments.ranks, &variables)?;
    Ok(job.wait(command.arguments.limit())?.status())
}

fn work(command: &Command, rank: u32, size: u32) -> anyhow::Result<u8> {
    run(&command.arguments, rank, &mut rank::Rank::join(rank, size, &command.arguments)?)?;
    Ok(0)
}
