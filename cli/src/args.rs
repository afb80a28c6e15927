//! The command line.

use std::ffi::OsString;
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
  mpirun -n 4 hangscope record -- ./solver  dumps for an MPI or NCCL program that leaves none

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
    /// Start a program that has no Flight Recorder with one: NCCL and MPI programs in any language
    #[command(before_help = "\
Examples:
  mpirun -n 4 hangscope record --timeout 60s -- ./solver          any MPI program: C, C++, Fortran, Python
  srun hangscope record --out /shared/dumps -- python train.py    JAX and others that use NCCL
  hangscope record --check                                        what would work on this machine

A PyTorch job has a recorder of its own and needs no other.")]
    Record(Record),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 no fault found, 1 a fault found, 2 nothing could be analysed, or files that break off hold no fault."
)]
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

#[derive(Debug, Args)]
#[command(after_help = "Exit status: the program's own; 2 if it could not be started.")]
pub(crate) struct Record {
    /// The folder for the dumps, the same on all hosts if there is a shared one [default: hangscope-dumps]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How long an operation may take before all ranks dump: 90s, 10m, 2h [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) timeout: Option<String>,
    /// Which library to record
    #[arg(long, value_enum, default_value_t = RecordMode::Auto)]
    pub(crate) mode: RecordMode,
    /// Which call stacks to keep; native ones cost some microseconds a call [default: python]
    #[arg(long, value_enum)]
    pub(crate) stacks: Option<RecordStacks>,
    /// Tell what would work on this machine, and start nothing
    #[arg(long)]
    pub(crate) check: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "check")]
    pub(crate) command: Vec<OsString>,
}

/// Which library is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordMode {
    /// Whichever of them the program uses
    Auto,
    /// NCCL, by its profiler plugin
    Nccl,
    /// MPI, by a library that is loaded first
    Mpi,
}

/// Which call stacks are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordStacks {
    /// None
    None,
    /// Python's
    Python,
    /// Those of compiled code
    Native,
    /// Both
    All,
}

impl RecordStacks {
    /// As the recorder's variable has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Python => "python",
            Self::Native => "native",
            Self::All => "all",
        }
    }
}

/// A time as the recorder understands it, so that a mistake is told before the job runs.
fn time(text: &str) -> Result<String, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let is_time = number.parse::<f64>().is_ok_and(|number| number > 0.0 && number.is_finite());
    if is_time && ["", "ms", "s", "m", "min", "h"].contains(&unit) {
        Ok(text.to_owned())
    } else {
        Err("expected a time such as 90s, 10m or 2h".to_owned())
    }
}
