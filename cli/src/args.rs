//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Examples first: most people who read this have a hung job and no time.
const EXAMPLES: &str = "\
Examples:
  hangscope analyze dumps/                  say what broke, on the terminal
  hangscope view dumps/                     the same as a table in the browser
  hangscope analyze dumps/ --format json    for a program
  hangscope analyze rank_*                  single files
  hangscope analyze dumps.tar.gz            an archive of them
  hangscope pack dumps/ -o job.hangscope    one small file of all of them, for the page or a colleague

Getting dumps from a PyTorch job: set TORCH_FR_BUFFER_SIZE=2000 and TORCH_FR_DUMP_ON_TIMEOUT=true
(older releases: TORCH_NCCL_TRACE_BUFFER_SIZE and TORCH_NCCL_DUMP_ON_TIMEOUT). After the timeout
each rank leaves a file, by default ~/.cache/torch/comm_lib_trace_rank_N (before: /tmp/nccl_trace_rank_N);
collect those of all hosts in one folder.";

/// Finds out why a distributed training job hung, from the Flight Recorder dumps that its ranks left behind
#[derive(Debug, Parser)]
#[command(name = "hangscope", version, before_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what broke and which ranks broke it
    #[command(before_help = "\
Examples:
  hangscope analyze dumps/
  hangscope analyze dumps/ --format json --output report.json
  hangscope analyze dumps.tar.gz")]
    Analyze(Analyze),
    /// Make one small file of many dumps, which opens everywhere a folder does
    #[command(before_help = "\
Examples:
  hangscope pack dumps/ -o job.hangscope
  srun --ntasks-per-node=1 sh -c 'hangscope pack /tmp/dumps -o /shared/$(hostname).hangscope'
  hangscope analyze /shared/*.hangscope            packs of parts are as good as all dumps in one place")]
    Pack(Pack),
    /// Show the aligned table in the browser; nothing leaves this machine
    #[command(before_help = "\
Examples:
  hangscope view dumps/
  hangscope view dumps/ --port 8080 --no-open     then forward the port: ssh -L 8080:127.0.0.1:8080 HOST")]
    View(View),
}

#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 no fault found, 1 a fault found, 2 nothing could be analysed.")]
pub(crate) struct Analyze {
    /// Folders (searched recursively), dump files, archives of dumps (tar, tar.gz, zip), packs; - reads one from standard input, which must say its ranks: a bundle {rank: dump}
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// How to say it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Write the report to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 the pack is written, 2 there was nothing to pack or it could not be written.")]
pub(crate) struct Pack {
    /// Folders (searched recursively), dump files, archives of dumps (tar, tar.gz, zip), packs
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The pack; a file of that name is replaced once the new one is whole
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct View {
    /// Folders (searched recursively), dump files, archives of dumps (tar, tar.gz, zip), packs
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Port on 127.0.0.1; a free one by default
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs: the report contract, schema 1
    Json,
}
