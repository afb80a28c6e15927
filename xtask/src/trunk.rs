//! Trunk, for those who have it: it builds the same page from the same `index.html`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use hangscope_web_build::{InstallPolicy, WasmToolchain, target_dir};

use crate::command::{path_with, run};

/// Runs Trunk with `arguments` in an environment in which it can build the page.
pub(crate) fn trunk(root: &Path, arguments: &[String]) -> Result<()> {
    run(command(root)?.args(arguments))
}

/// Builds the page with Trunk in a folder of its own, so that it does not take the place of the other one.
pub(crate) fn build(root: &Path) -> Result<PathBuf> {
    let folder = target_dir(root).join("trunk-dist");
    run(command(root)?.args(["build", "--release", "--dist"]).arg(&folder))?;
    Ok(folder)
}

fn command(root: &Path) -> Result<Command> {
    let toolchain = WasmToolchain::ensure(InstallPolicy::RustupAndApt)?;
    let mut command = Command::new("trunk");
    toolchain.set_environment(&mut command);
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value.map(ToOwned::to_owned));
    let path = path_with(&stand_in(root)?, path.or_else(|| std::env::var_os("PATH")))?;
    // One target folder for all wasm builds, or everything would be compiled again.
    command.current_dir(root).env("PATH", path).env("CARGO_TARGET_DIR", target_dir(root));
    Ok(command)
}

/// A folder with a program `wasm-bindgen` that is this one.
fn stand_in(root: &Path) -> Result<PathBuf> {
    let folder = target_dir(root).join("tools");
    fs::create_dir_all(&folder).with_context(|| format!("failed to create {}", folder.display()))?;
    let this = std::env::current_exe().context("failed to learn where this program is")?;
    let file = folder.join("wasm-bindgen");
    let script = format!("#!/bin/sh\nexec \"{}\" wasm-bindgen \"$@\"\n", this.display());
    fs::write(&file, script).with_context(|| format!("failed to write {}", file.display()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))
            .with_context(|| format!("failed to make {} a program", file.display()))?;
    }
    Ok(folder)
}
