//! A stand-in for the command `wasm-bindgen`: as much of it as Trunk uses, in the version that the page needs.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use hangscope_web_build::{WASM_BINDGEN_VERSION, bindgen};

#[derive(Debug, clap::Args)]
#[command(disable_version_flag = true)]
pub(crate) struct BindgenArguments {
    /// The module to bind
    wasm: Option<PathBuf>,
    #[arg(long, default_value = "web")]
    target: String,
    #[arg(long, default_value = ".")]
    out_dir: PathBuf,
    #[arg(long, default_value = "out")]
    out_name: String,
    /// Never written here
    #[arg(long)]
    no_typescript: bool,
    #[arg(long)]
    version: bool,
}

pub(crate) fn run(arguments: &BindgenArguments) -> Result<()> {
    if arguments.version {
        let mut out = std::io::stdout().lock();
        return writeln!(out, "wasm-bindgen {WASM_BINDGEN_VERSION}").context("failed to print");
    }
    ensure!(
        arguments.target == "web",
        "this stand-in for wasm-bindgen knows the target `web` only, not `{}`",
        arguments.target
    );
    let wasm = arguments.wasm.as_deref().context("no module is named")?;
    bindgen(wasm, &arguments.out_name, &arguments.out_dir)
}
