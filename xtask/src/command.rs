//! Other programs.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// The cargo that runs this program, in the repository's root.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(arguments);
    command
}

/// Runs `command` to its end, with this program's own output.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("failed to start {}", describe(command)))?;
    ensure!(status.success(), "{} ended with {status}; its messages are above", describe(command));
    Ok(())
}

/// The program's name and arguments, as one would type them.
pub(crate) fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The first of `names` that is a file in a folder of `PATH`.
pub(crate) fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| file.is_file())
}

/// `PATH` with `folder` before all others.
pub(crate) fn path_with(folder: &Path, path: Option<OsString>) -> Result<OsString> {
    let rest = path.unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(env::split_paths(&rest));
    env::join_paths(folders).with_context(|| format!("{} cannot stand in PATH", folder.display()))
}
