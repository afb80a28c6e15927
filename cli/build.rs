//! Puts the built page and the recorder's libraries into the command.
//!
//! Which page: the folder that `HANGSCOPE_DIST` names; else `dist/`, if it was built from the sources as they are (a
//! debug build takes any); else one that is built here and now, by `cargo xtask web`. A nested cargo does that, with a
//! target folder of its own, so that everyday builds of the command do not have to compile wasm-bindgen.
//!
//! Which libraries: those in the folder that `HANGSCOPE_RECORDER` names; else a nested cargo builds them, for a
//! dependency on a package gives no shared library. Elsewhere than on Linux there are none.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use hangscope_web_build::{Dist, SOURCES, fingerprint};

/// Names a folder that holds a built page.
const CHOICE: &str = "HANGSCOPE_DIST";

/// Names a folder that holds the recorder's libraries.
const RECORDER_CHOICE: &str = "HANGSCOPE_RECORDER";

/// The recorder's libraries: the package, the file as cargo names it, and as its users know it.
const LIBRARIES: [(&str, &str, &str); 2] = [
    ("hangscope-nccl-plugin", "libnccl_profiler_hangscope.so", "libnccl-profiler-hangscope.so"),
    ("hangscope-mpi", "libhangscope_mpi.so", "libhangscope-mpi.so"),
];

fn main() -> Result<()> {
    let root = folder_variable("CARGO_MANIFEST_DIR")?.join("..");
    let out = folder_variable("OUT_DIR")?;
    embed(&page(&root, &out)?, &out)?;
    embed_recorder(&recorder(&root)?, &out)
}

/// The libraries' files, by the names that their users know.
fn recorder(root: &Path) -> Result<Vec<(&'static str, PathBuf)>> {
    println!("cargo::rerun-if-env-changed={RECORDER_CHOICE}");
    if let Some(folder) = env::var_os(RECORDER_CHOICE).filter(|folder| !folder.is_empty()) {
        let folder = root.join(folder);
        rerun_if_changed(&folder);
        return Ok(LIBRARIES.map(|(_, _, name)| (name, folder.join(name))).to_vec());
    }
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system != "linux") {
        return Ok(Vec::new());
    }
    for source in ["core", "nccl-plugin", "mpi-preload"] {
        for inside in ["src", "Cargo.toml"] {
            rerun_if_changed(&root.join("recorder").join(source).join(inside));
        }
    }
    let debug = env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    let (profile, folder) = if debug { ("dev", "debug") } else { ("recorder", "recorder") };
    let target = target_folder(root).join("recorder-build");
    let mut command = nested_cargo(root)?;
    command.args(["build", "--locked", "--profile", profile, "--target-dir"]).arg(&target);
    for (package, ..) in LIBRARIES {
        command.args(["--package", package]);
    }
    let output = command.output().context("failed to start cargo for the recorder")?;
    if !output.status.success() {
        bail!("failed to build the recorder's libraries:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(LIBRARIES.map(|(_, built, name)| (name, target.join(folder).join(built))).to_vec())
}

/// Deflates the libraries and writes the table of them that the command includes, with a number that changes when they
/// do.
fn embed_recorder(libraries: &[(&'static str, PathBuf)], out: &Path) -> Result<()> {
    let mut hasher = DefaultHasher::new();
    let mut table = String::from("const FILES: &[Library] = &[\n");
    for (name, path) in libraries {
        let content = fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
        content.hash(&mut hasher);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&content).and_then(|()| encoder.try_finish()).context("failed to deflate a library")?;
        let target = out.join(name);
        fs::write(&target, encoder.finish()?).with_context(|| format!("failed to write {}", target.display()))?;
        let target = target.to_str().context("the target folder's path is not UTF-8")?;
        writeln!(table, "    Library {{ name: {name:?}, content: include_bytes!({target:?}) }},")?;
    }
    writeln!(table, "];\nconst DIGEST: u64 = {};", hasher.finish())?;
    fs::write(out.join("recorder_files.rs"), table).context("failed to write the table of the recorder's libraries")
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
    let mut command = nested_cargo(root)?;
    command
        .args(["run", "--locked", "--package", "xtask", "--target-dir"])
        .arg(target_folder(root).join("page-build"))
        // A build script changes nothing on the system: a missing toolchain is an error that says what to do.
        .args(["--", "web", "--no-install", "--out"])
        .arg(folder);
    let output = command.output().context("failed to start cargo for the page")?;
    if !output.status.success() {
        bail!("failed to build the page that goes into the command:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Dist::open(folder).with_context(|| format!("the build left no page in {}", folder.display()))
}

fn target_folder(root: &Path) -> PathBuf {
    root.join(env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from))
}

/// Cargo for a build of its own. It needs another target folder: this build holds the lock of its own.
fn nested_cargo(root: &Path) -> Result<Command> {
    let mut command = Command::new(env::var_os("CARGO").context("cargo did not set CARGO")?);
    command.current_dir(root);
    for (name, _) in env::vars_os() {
        if is_of_this_build(&name.to_string_lossy()) {
            command.env_remove(name);
        }
    }
    Ok(command)
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
