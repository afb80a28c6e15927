//! Debian packages.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

/// Installs Debian packages: as root, or through sudo. The error says what to run by hand.
pub fn install_packages(packages: &[&str]) -> Result<()> {
    let by_hand = format!("apt-get install {}", packages.join(" "));
    if !Path::new("/usr/bin/apt-get").exists() {
        bail!("this system has no apt-get; install what these Debian packages hold: {}", packages.join(" "));
    }
    eprintln!("Installing Debian packages: {}", packages.join(" "));
    let apt = |arguments: &[&str]| -> Result<()> {
        let mut command = as_root("apt-get").with_context(|| format!("run as root: {by_hand}"))?;
        let status = command.args(["-qq", "-o", "Dpkg::Use-Pty=0"]).args(arguments).stdout(Stdio::null()).status();
        ensure!(status.context("failed to start apt-get")?.success(), "apt-get failed; run as root: {by_hand}");
        Ok(())
    };
    // Fresh containers have no lists at all, and old lists name versions that are gone.
    apt(&["update"])?;
    apt(&[&["install", "--yes", "--no-install-recommends"], packages].concat())
}

fn as_root(program: &str) -> Result<Command> {
    if run_quietly(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0") {
        let mut command = Command::new(program);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        return Ok(command);
    }
    ensure!(run_quietly(Command::new("sudo").arg("--version")).is_some(), "this user is not root and has no sudo");
    let mut command = Command::new("sudo");
    if !std::io::stdin().is_terminal() {
        // Nobody is there to type a password.
        command.arg("--non-interactive");
    }
    command.args(["DEBIAN_FRONTEND=noninteractive", program]);
    Ok(command)
}

/// Standard output of a command that may be missing or fail.
pub(crate) fn run_quietly(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
