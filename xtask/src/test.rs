//! Everything that has to hold before a change goes in.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context as _, Result};
use hangscope_web_build::{InstallPolicy, WasmToolchain, target_dir};

use crate::command::{cargo, find_program, run};
use crate::step::step;
use crate::tally::Tally;
use crate::{setup, trunk, web};

/// Runs all checks, the quick ones first, up to the first that fails. The last line is the count of tests.
pub(crate) fn test(root: &Path) -> Result<ExitCode> {
    let started = Instant::now();
    let mut tally = Tally::default();
    let status = match checks(root, &mut tally) {
        Ok(()) => {
            eprintln!("==> All checks passed in {:.0} s", started.elapsed().as_secs_f64());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    };
    tally.print()?;
    Ok(status)
}

fn checks(root: &Path, tally: &mut Tally) -> Result<()> {
    step("Check the format", || {
        run(&mut cargo(root, &["fmt", "--all", "--check"])).context("`cargo fmt --all` puts it right")
    })?;
    // The command has the page inside, so it comes before the command is compiled.
    let dist = web::build(root, &root.join("dist"), InstallPolicy::RustupAndApt)?;
    web::print_sizes(&dist)?;
    step("Check the page's size", || web::check_sizes(&dist))?;
    step("Lint", || {
        run(&mut cargo(root, &["clippy", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
    })?;
    step("Lint the page for wasm32", || lint_wasm(root))?;
    step("Run the tests", || tally.run(&mut cargo(root, &["test", "--locked", "--workspace", "--no-fail-fast"])))?;

    let tools = setup::browser_tools(root)?;
    // The viewer is tested with the page, and `cargo test` leaves no command behind.
    step("Build the command", || run(&mut cargo(root, &["build", "--locked", "--package", "hangscope"])))?;
    let browser = |names: Vec<String>, dist: &Path, tally: &mut Tally| {
        let mut node = Command::new(&tools.node);
        node.current_dir(root.join("tests/browser")).arg("--test").args(names);
        node.env("HANGSCOPE_CHROMIUM", &tools.chromium).env("HANGSCOPE_COMMAND", command_path(root));
        // The recorder's tests, which have run by now, left it there.
        node.env("HANGSCOPE_MPI", target_folder(root).join("tmp/mpich-5.0.2"));
        tally.run(node.env("HANGSCOPE_DIST", dist))
    };
    step("Run the browser tests", || browser(browser_tests(root)?, &root.join("dist"), tally))?;

    if find_program(&["trunk"]).is_some() {
        let dist = step("Build the page with Trunk", || trunk::build(root))?;
        step("Boot the page that Trunk built", || browser(vec![BOOT_TEST.to_owned()], &dist, tally))?;
    } else {
        eprintln!("==> Build the page with Trunk: left out, since `trunk` is not in PATH");
    }
    Ok(())
}

/// The browser test that any build of the page has to pass.
const BOOT_TEST: &str = "boot.test.js";

fn lint_wasm(root: &Path) -> Result<()> {
    let toolchain = WasmToolchain::ensure(InstallPolicy::RustupAndApt)?;
    let mut clippy = toolchain.clippy()?;
    // With the page's own profile, whose macros are compiled already.
    let arguments =
        ["--locked", "--package", "hangscope-web", "--target", "wasm32-unknown-unknown", "--profile", "wasm"];
    clippy
        .current_dir(root)
        .args(arguments)
        .arg("--target-dir")
        .arg(target_dir(root))
        .args(["--", "--deny", "warnings"]);
    run(&mut clippy)
}

fn command_path(root: &Path) -> PathBuf {
    target_folder(root).join("debug").join(format!("hangscope{}", std::env::consts::EXE_SUFFIX))
}

/// Where the outer cargo builds.
fn target_folder(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from))
}

/// By name, since older versions of Node.js take every file in a folder called `test` for one, those of packages too.
fn browser_tests(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("tests/browser");
    let mut names = Vec::new();
    for entry in folder.read_dir().with_context(|| format!("failed to list {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".test.js") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
