//! Reading in the page's wasm beside reading in the command's code, on one core each.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use hangscope_web_build::InstallPolicy;

use crate::command::{cargo, describe};
use crate::scale::{Format, ScaleArguments, generate};
use crate::step::step;
use crate::{machine, setup, web};

/// In turns, so that a slow minute of the machine hits both; the shortest counts, since all that disturbs makes it longer.
const TURNS: usize = 3;

/// The size of the dump.
#[derive(Debug, Args)]
pub(crate) struct BenchWasmArguments {
    /// Entries of the dump
    #[arg(long, default_value_t = 2000)]
    entries: u32,
}

/// Reads the same bytes in both and prints the times and their ratio.
pub(crate) fn bench_wasm(root: &Path, arguments: &BenchWasmArguments) -> Result<()> {
    web::build(root, &root.join("dist"), InstallPolicy::RustupAndApt)?;
    let tools = setup::browser_tools(root)?;
    let folder = tempfile::tempdir().context("failed to make a folder for the dump")?;
    generate(&ScaleArguments {
        out: folder.path().to_owned(),
        ranks: 8,
        entries: arguments.entries,
        tp: 8,
        layers: 24,
        desync: None,
        jitter: 0,
        format: Format::Pickle,
    })?;
    let dump = folder.path().join("nccl_trace_rank_0");
    let size_bytes = fs::metadata(&dump).context("failed to look at the dump")?.len();

    let native = || {
        let mut command =
            cargo(root, &["run", "--quiet", "--locked", "--release", "--package", "hangscope-analyzer-core"]);
        microseconds(command.args(["--example", "read_rounds"]).arg(&dump), "")
    };
    let wasm = || {
        let mut command = Command::new(&tools.node);
        command.current_dir(root.join("tests/browser")).arg("bench-read.js");
        command.env("HANGSCOPE_CHROMIUM", &tools.chromium).env("HANGSCOPE_DIST", root.join("dist"));
        microseconds(command.env("HANGSCOPE_DUMP", &dump), "microseconds: ")
    };
    step("Build the native reader", native)?;
    let mut best = [f64::INFINITY; 2];
    for turn in 1..=TURNS {
        step(&format!("Turn {turn} of {TURNS}"), || {
            best = [best[0].min(native()?), best[1].min(wasm()?)];
            Ok(())
        })?;
    }
    let mut table =
        format!("{}\n\n| reader | one dump | MB/s | ratio |\n| --- | ---: | ---: | ---: |\n", machine::describe());
    for (name, time) in ["native", "wasm, Chromium"].into_iter().zip(best) {
        let speed = size_bytes as f64 / time;
        table.push_str(&format!("| {name} | {:.2} ms | {speed:.0} | {:.2} |\n", time / 1e3, time / best[0]));
    }
    std::io::stdout().write_all(table.as_bytes()).context("failed to print")
}

/// The number that a program prints, behind `label`.
fn microseconds(command: &mut Command, label: &str) -> Result<f64> {
    let name = describe(command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("failed to start {name}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{name} ended with {}: {said}", output.status);
    let number = said.lines().find_map(|line| line.trim_start_matches("# ").strip_prefix(label)?.parse().ok());
    number.with_context(|| format!("{name} printed no time: {said}"))
}
