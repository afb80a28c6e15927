//! Puts the built page into the command.
//!
//! Which page: the folder that `HANGSCOPE_DIST` names; else `dist/`, if it was built from the sources as they are (a
//! debug build takes any); else one that is built here and now, by `cargo xtask web`. A nested cargo does that, with a
//! target folder of its own, so that everyday builds of the command do not have to compile wasm-bindgen.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use hangscope_web_build::{Dist, SOURCES, fingerprint};

/// Names a folder that holds a built page.
const CHOICE: &str = "HANGSCOPE_DIST";

fn main() -> Result<()> {
    let root = folder_variable("CARGO_MANIFEST_DIR")?.join("..");
    let out = folder_variable("OUT_DIR")?;
    embed(&page(&root, &out)?, &out)
}

fn page(root: &Path, out: &Path) -> Result<Dist> {
    println!("cargo::rerun-if-env-changed={CHOICE}");
    if let Some(folder) = env::var_os(CHOICE).filter(|folder| !folder.is_empty()) {
        let folder = root.join(folder);
        rerun_if_changed(&folder);
        return Dist::open(&folder)
            .with_context(|| format!("{CHOICE} names {}, which holds no index.html", folder.display()));
    }

    let debug = env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    let dist_folder = root.join("dist");
    // Cargo would take a folder that isn't there for one that changes all the time.
    if dist_folder.exists() {
        rerun_if_changed(&dist_folder);
    }
    let dist = Dist::open(&dist_folder);
    if debug && let Some(dist) = dist {
        return Ok(dist);
    }

    for source in SOURCES {
        rerun_if_changed(&root.join(source));
    }
    let current = fingerprint(root).context("failed to read the page's sources")?;
    if let Some(dist) = dist.filter(|dist| dist.built_from().as_deref() == Some(&current)) {
        return Ok(dist);
    }
    build(root, &out.join("page"))
}

fn build(root: &Path, folder: &Path) -> Result<Dist> {
    let outer = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let mut command = Command::new(env::var_os("CARGO").context("cargo did not set CARGO")?);
    command
        .current_dir(root)
        .args(["run", "--locked", "--package", "xtask", "--target-dir"])
        .arg(outer.join("page-build"))
        // A build script changes nothing on the system: a missing toolchain is an error that says what to do.
        .args(["--", "web", "--no-install", "--out"])
        .arg(folder);
    for (name, _) in env::vars_os() {
        if is_of_this_build(&name.to_string_lossy()) {
            command.env_remove(name);
        }
    }
    let output = command.output().context("failed to start cargo for the page")?;
    if !output.status.success() {
        bail!("failed to build the page that goes into the command:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Dist::open(folder).with_context(|| format!("the build left no page in {}", folder.display()))
}

/// Variables that cargo sets for this script, and that the nested cargo would take for the user's wishes.
fn is_of_this_build(name: &str) -> bool {
    let exact =
        ["CARGO_ENCODED_RUSTFLAGS", "RUSTC", "RUSTC_WORKSPACE_WRAPPER", "RUSTDOC", "RUSTC_LINKER", "TARGET", "HOST"];
    let prefixes = ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_MANIFEST_", "CARGO_PKG_", "DEP_"];
    exact.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Copies the page's files and writes the table of them that the viewer includes.
fn embed(dist: &Dist, out: &Path) -> Result<()> {
    let copy = out.join("embedded");
    if copy.exists() {
        fs::remove_dir_all(&copy).context("failed to clear the last page")?;
    }
    let mut table = String::from("&[\n");
    for file in dist.files()? {
        let target = copy.join(&file.name);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).with_context(|| format!("failed to create {}", parent.display()))?;
        }
        fs::copy(&file.path, &target).with_context(|| format!("failed to copy {}", file.path.display()))?;
        let target = target.to_str().context("the target folder's path is not UTF-8")?;
        writeln!(table, "    PageFile {{ name: {:?}, content: include_bytes!({target:?}) }},", file.name)?;
    }
    table.push_str("]\n");
    ensure!(table.contains("\"index.html\""), "the page has no index.html");
    fs::write(out.join("page_files.rs"), table).context("failed to write the table of the page's files")
}

fn rerun_if_changed(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

fn folder_variable(name: &str) -> Result<PathBuf> {
    env::var_os(name).map(PathBuf::from).with_context(|| format!("cargo did not set {name}"))
}
