//! The program over the stand-in for NCCL, for tests alone.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use hangscope_nccl_exercise::{Arguments, Job, Role, run, status};
use hangscope_nccl_stand_in::{HUB_VARIABLE, Hub, StandIn};

/// Runs collectives and messages over the stand-in for NCCL.
#[derive(Debug, Parser)]
struct Command {
    #[command(flatten)]
    arguments: Arguments,
}

#[expect(clippy::print_stderr, reason = "a program's output")]
fn main() -> ExitCode {
    let ended = match Role::from_environment() {
        Role::Launcher => launch(),
        Role::Rank { rank, size } => work(rank, size),
    };
    match ended {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(status::FAILED)
        }
    }
}

fn launch() -> anyhow::Result<u8> {
    let arguments = Command::parse().arguments;
    let hub = Hub::start()?;
    let variables = [(OsString::from(HUB_VARIABLE), hub.address().to_string().into())];
    let mut job = Job::start(&env::current_exe()?, env::args_os().skip(1), arguments.ranks, &variables)?;
    Ok(job.wait(arguments.limit())?.status())
}

fn work(rank: u32, size: u32) -> anyhow::Result<u8> {
    let arguments = Command::parse().arguments;
    run(&arguments, rank, &mut StandIn::join(rank, size)?)?;
    Ok(0)
}
