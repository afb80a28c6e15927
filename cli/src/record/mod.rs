//! `hangscope record`: starts a program with the recorder in it.
//!
//! The recorder is two libraries that this command carries: one that NCCL loads as its profiler plugin, and one that
//! is loaded before an MPI program's own libraries. Everything else is environment variables, so the program itself is
//! started as it is, and takes this command's place.

mod check;
mod environment;
mod libraries;
mod search;

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::args;

pub(crate) use check::check;

/// Starts the command with the recorder; comes back only if that fails.
pub(crate) fn run(options: &args::Record) -> Result<u8> {
    if options.check {
        return check(options);
    }
    let Some((program, arguments)) = options.command.split_first() else {
        bail!("no command to record: hangscope record [--out DIR] -- COMMAND…");
    };
    let libraries = libraries::install()?;
    let plan = environment::plan(options, &libraries, |name| std::env::var(name).ok())?;
    // A person with a stuck job puts the trigger file there; and a folder that cannot be written is better told now.
    let tried = std::fs::create_dir_all(&plan.folder).and_then(|()| tempfile::tempfile_in(&plan.folder));
    for line in &plan.lines {
        eprintln!("hangscope: {line}");
    }
    match tried {
        Err(error) => eprintln!(
            "hangscope: recording, but no dump can be written to {}: {error}; name another folder by --out",
            plan.folder.display()
        ),
        Ok(_) if plan.speaks => {
            eprintln!("hangscope: recording; if the job hangs, its dumps will be in {}", plan.folder.display());
        }
        Ok(_) => {}
    }
    let mut command = Command::new(program);
    command.args(arguments).envs(plan.variables.iter().map(|(name, value)| (name, value)));
    replace(command).with_context(|| format!("failed to start {}", program.to_string_lossy()))
}

/// Becomes the command: signals and the exit status are its own.
#[cfg(unix)]
fn replace(mut command: Command) -> std::io::Result<u8> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

#[cfg(not(unix))]
fn replace(mut command: Command) -> std::io::Result<u8> {
    Ok(command.status()?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
