//! What has to be on the machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use hangscope_web_build::{InstallPolicy, WasmToolchain, install_packages};

use crate::command::{find_program, run};
use crate::step::step;

/// Playwright's oldest; Debian 12 has it.
const OLDEST_NODE: u32 = 18;

/// Where the tests find the browser; also read by `tests/browser/harness.js`.
const CHROMIUM_CHOICE: &str = "HANGSCOPE_CHROMIUM";

/// Installs what the build needs, and what the tests need if `tests` says so.
pub(crate) fn setup(root: &Path, tests: bool) -> Result<()> {
    let toolchain = step("Look for a wasm toolchain", || WasmToolchain::ensure(InstallPolicy::RustupAndApt))?;
    eprintln!("    the page is compiled by {}", toolchain.describe());
    if tests {
        browser_tools(root)?;
    }
    Ok(())
}

/// What the browser tests need.
#[derive(Debug)]
pub(crate) struct BrowserTools {
    pub(crate) node: PathBuf,
    pub(crate) chromium: PathBuf,
}

/// Finds or installs Chromium, Node.js and the npm packages.
pub(crate) fn browser_tools(root: &Path) -> Result<BrowserTools> {
    let chromium = step("Look for Chromium", chromium)?;
    let node = step("Look for Node.js", node)?;
    let tests = root.join("tests/browser");
    // npm writes this file last, so an interrupted run is done again; and it is older than the list when that changes.
    let installed = tests.join("node_modules/.package-lock.json");
    if !is_newer(&installed, &tests.join("package-lock.json")) {
        step("Install the npm packages", || {
            let npm = program_or_packages(&["npm"], &["npm"])?;
            run(Command::new(npm).current_dir(&tests).args(["ci", "--no-fund", "--no-audit"]))
        })?;
    }
    Ok(BrowserTools { node, chromium })
}

fn chromium() -> Result<PathBuf> {
    if let Some(chosen) = std::env::var_os(CHROMIUM_CHOICE) {
        let chosen = PathBuf::from(chosen);
        ensure!(chosen.is_file(), "{CHROMIUM_CHOICE} names {}, which does not exist", chosen.display());
        return Ok(chosen);
    }
    // The driver's version must agree with the browser's, so both come in one go. A bare system has no fonts either.
    program_or_packages(&["chromium"], &["chromium", "chromium-driver", "fonts-dejavu-core"])
}

fn node() -> Result<PathBuf> {
    let node = program_or_packages(&["node", "nodejs"], &["nodejs"])?;
    let output = Command::new(&node).arg("--version").output().context("failed to start node")?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    ensure!(
        major.is_some_and(|major| major >= OLDEST_NODE),
        "{} is version {version}; the browser tests need Node.js {OLDEST_NODE} or newer",
        node.display()
    );
    Ok(node)
}

fn program_or_packages(names: &[&str], packages: &[&str]) -> Result<PathBuf> {
    if let Some(found) = find_program(names) {
        return Ok(found);
    }
    install_packages(packages)?;
    find_program(names)
        .with_context(|| format!("{} is not in PATH, though its package is installed", names.join(" or ")))
}

fn is_newer(file: &Path, than: &Path) -> bool {
    let time = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    time(file).is_some_and(|found| Some(found) >= time(than))
}
