//! From the sources to the folder.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::compact::compact;
use crate::dist::{Dist, DistFile, all_files};
use crate::fingerprint::fingerprint;
use crate::import_names::shorten_imports;
use crate::local_order::order_locals;
use crate::page::{OUT_NAME, assemble};
use crate::toolchain::{TARGET, WasmToolchain};

/// The one profile of every wasm build: with a second one std and Leptos would be compiled again.
const PROFILE: &str = "wasm";

/// What the last step of the compiler leaves out, and no crate is compiled anew for it: looking for what is partly redundant, which copies code
/// into more branches. The page is 1 KB smaller by gzip and reads dumps as fast.
const SMALLER: &str = "llvm-args=-enable-pre=0 -enable-load-pre=0";

/// The version of wasm-bindgen that is linked in; the page's crate needs exactly this one.
pub const WASM_BINDGEN_VERSION: &str = "0.2.130";

/// The target folder of wasm builds: one of its own, so that a cargo that waits for this build holds no lock on it.
pub fn target_dir(root: &Path) -> PathBuf {
    let outer = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    root.join(outer).join("wasm-build")
}

/// Builds the page of the repository at `root` into `folder`, and takes away what was there before.
pub fn build_page(root: &Path, toolchain: WasmToolchain, folder: &Path) -> Result<Dist> {
    // Before the build: who edits a file meanwhile gets a page that counts as old.
    let fingerprint = fingerprint(root).context("failed to read the page's sources")?;
    let wasm = compile(root, toolchain)?;
    let bindgen_files = bindgen_output(&wasm, &target_dir(root).join("bindgen"))?;
    Dist::write(folder, &assemble(root, bindgen_files)?, &fingerprint)
}

fn compile(root: &Path, toolchain: WasmToolchain) -> Result<PathBuf> {
    let target_dir = target_dir(root);
    let status = toolchain
        .cargo()
        .current_dir(root)
        .args([
            "rustc",
            "--lib",
            "--locked",
            "--package",
            "hangscope-web",
            "--target",
            TARGET,
            "--profile",
            PROFILE,
            "--target-dir",
        ])
        .arg(&target_dir)
        .args(["--", "-C", SMALLER])
        .status()
        .context("failed to start cargo for the page")?;
    ensure!(status.success(), "the page does not compile; the compiler's messages are above");
    Ok(target_dir.join(TARGET).join(PROFILE).join("hangscope_web.wasm"))
}

/// Runs wasm-bindgen on the module `wasm`, makes the result smaller, and writes the glue, named `out_name`, into `folder`.
pub fn bindgen(wasm: &Path, out_name: &str, folder: &Path) -> Result<()> {
    Bindgen::new()
        .input_path(wasm)
        .out_name(out_name)
        .web(true)
        .and_then(|bindgen| {
            bindgen
                .typescript(false)
                .omit_default_module_path(false)
                .remove_name_section(true)
                .remove_producers_section(true)
                .generate(folder)
        })
        .with_context(|| format!("wasm-bindgen failed on {}", wasm.display()))?;
    let module = folder.join(format!("{out_name}_bg.wasm"));
    let wasm = fs::read(&module).with_context(|| format!("failed to read {}", module.display()))?;
    let glue = folder.join(format!("{out_name}.js"));
    let glue_text = fs::read_to_string(&glue).with_context(|| format!("failed to read {}", glue.display()))?;
    // A crate that thinks itself on a Unix leaves imports that no browser can give; the page would be blank.
    ensure!(
        !glue_text.contains("from 'env'") && !glue_text.contains("from \"env\""),
        "the wasm imports functions from `env`: some dependency is not meant for {TARGET} (clocks and random numbers are \
         the usual ones); `cargo tree --package hangscope-web --target {TARGET}` shows who brings it"
    );
    let (wasm, glue_text) = shorten_imports(&wasm, &glue_text)?;
    let wasm = compact(&order_locals(&wasm)?)?;
    fs::write(&module, wasm).with_context(|| format!("failed to write {}", module.display()))?;
    fs::write(&glue, glue_text).with_context(|| format!("failed to write {}", glue.display()))?;
    Ok(())
}

fn bindgen_output(wasm: &Path, folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("failed to clear {}", folder.display()))?;
    }
    bindgen(wasm, OUT_NAME, folder)?;
    all_files(folder)?
        .into_iter()
        .map(|DistFile { name, path }| {
            let content = fs::read(&path).with_context(|| format!("failed to read {}", path.display()))?;
            Ok((name, content))
        })
        .collect()
}
