//! Everything built, and the page open with dumps.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use hangscope_web_build::InstallPolicy;

use crate::command::{cargo, run as run_command};
use crate::step::step;
use crate::web;

/// The job that ships in the repository.
const SAMPLE: &str = "tests/fixtures/sample";

#[derive(Debug, clap::Args)]
pub(crate) struct RunArguments {
    /// Dumps, or folders of them; the sample job's if none is given
    paths: Vec<PathBuf>,
    /// Listen on this port, and not on a free one
    #[arg(long)]
    port: Option<u16>,
    /// Only print the address
    #[arg(long)]
    no_open: bool,
}

/// Builds the page and the command, and becomes the viewer.
pub(crate) fn run(root: &Path, arguments: &RunArguments) -> Result<()> {
    for path in &arguments.paths {
        ensure!(path.exists(), "{} does not exist", path.display());
    }
    web::build(root, &root.join("dist"), InstallPolicy::RustupAndApt)?;
    step("Build the command", || run_command(&mut cargo(root, &["build", "--locked", "--package", "hangscope"])))?;

    let mut view = cargo(root, &["run", "--quiet", "--locked", "--package", "hangscope", "--manifest-path"]);
    view.arg(root.join("Cargo.toml")).args(["--", "view"]);
    // The paths are from where the user stands.
    view.current_dir(std::env::current_dir().context("failed to learn the current folder")?);
    if let Some(port) = arguments.port {
        view.arg(format!("--port={port}"));
    }
    if arguments.no_open {
        view.arg("--no-open");
    }
    view.arg("--");
    if arguments.paths.is_empty() {
        eprintln!("==> No dumps are named: showing the sample job, {SAMPLE}");
        view.arg(root.join(SAMPLE));
    } else {
        view.args(&arguments.paths);
    }
    become_command(view)
}

/// Ctrl-C then goes to the viewer alone.
#[cfg(unix)]
fn become_command(mut command: Command) -> Result<()> {
    use std::os::unix::process::CommandExt as _;
    Err(anyhow::Error::new(command.exec()).context("failed to start the viewer"))
}

#[cfg(not(unix))]
fn become_command(mut command: Command) -> Result<()> {
    run_command(&mut command)
}
