//! Set-up, web build, run and test of hangscope: `cargo xtask --help`.

mod bench_peer;
mod bench_wasm;
mod bindgen;
mod command;
mod machine;
mod run;
mod scale;
mod setup;
mod step;
mod tally;
mod test;
mod trunk;
mod web;

#[cfg(test)]
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use hangscope_web_build::InstallPolicy;

/// Set-up, web build, run and test of hangscope.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Build everything and open the page with dumps: the given ones, or the sample job's
    Run(run::RunArguments),
    /// Build the page into a folder of static files for any web server, under any path
    Web {
        /// The folder to write
        #[arg(long, default_value = "dist")]
        out: PathBuf,
        /// Fail, and say what is missing, rather than install system packages
        #[arg(long)]
        no_install: bool,
    },
    /// Check everything: format, lints, all tests, the page in a real browser
    Test,
    /// Install what the build needs, and with --tests what the tests need
    Setup {
        /// Chromium and its driver, Node.js, and the npm packages too
        #[arg(long)]
        tests: bool,
    },
    /// Write the dumps of a made-up job of any size, as PyTorch writes those of a real one
    GenScale(scale::ScaleArguments),
    /// Compare the command with PyTorch's analyser on the same dumps: time and memory of the whole process
    BenchPeer(bench_peer::BenchPeerArguments),
    /// Compare the reading of one dump in the page, in Chromium, with that of the command
    BenchWasm(bench_wasm::BenchWasmArguments),
    /// Run Trunk (0.21.14, if it is installed) with the toolchain and the wasm-bindgen that the page needs
    Trunk {
        /// What Trunk is to do: `build --release`, `serve`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        arguments: Vec<String>,
    },
    /// Stand in for the command `wasm-bindgen`, which Trunk calls
    #[command(hide = true)]
    WasmBindgen(bindgen::BindgenArguments),
}

fn main() -> ExitCode {
    match execute(Arguments::parse().command) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(command: Subcommands) -> Result<ExitCode> {
    let root = root()?;
    match command {
        Subcommands::Run(arguments) => run::run(&root, &arguments)?,
        Subcommands::Web { out, no_install } => {
            let policy = if no_install { InstallPolicy::Rustup } else { InstallPolicy::RustupAndApt };
            web::print_sizes(&web::build(&root, &root.join(out), policy)?)?;
        }
        Subcommands::Test => return test::test(&root),
        Subcommands::Setup { tests } => setup::setup(&root, tests)?,
        Subcommands::GenScale(arguments) => scale::generate(&arguments)?.print()?,
        Subcommands::BenchPeer(arguments) => bench_peer::bench_peer(&root, &arguments)?,
        Subcommands::BenchWasm(arguments) => bench_wasm::bench_wasm(&root, &arguments)?,
        Subcommands::Trunk { arguments } => trunk::trunk(&root, &arguments)?,
        Subcommands::WasmBindgen(arguments) => bindgen::run(&arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The repository's root, from where this program was compiled.
fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_owned).context("the xtask crate has no parent folder")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_makes_sense() {
        Arguments::command().debug_assert();
    }
}
