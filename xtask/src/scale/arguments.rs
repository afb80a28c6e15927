//! What to make.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::fault::Fault;

/// The size of the job, what goes wrong in it, and how its dumps are written.
#[derive(Clone, Debug, Args)]
pub(crate) struct ScaleArguments {
    /// The folder to write: one file per rank
    pub(crate) out: PathBuf,
    /// Ranks of the job
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks: u32,
    /// Entries that the recorder of each rank holds
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) entries: u32,
    /// Ranks of a tensor-parallel group
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) tp: u32,
    /// Layers of the model: four operations each in a step
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) layers: u32,
    /// What goes wrong twelve operations before the end: RANK:KIND, with the kind skip, shape, dtype or straggler
    #[arg(long)]
    pub(crate) desync: Option<Fault>,
    /// Let the rings of the ranks begin up to so many operations apart
    #[arg(long, default_value_t = 0)]
    pub(crate) jitter: u32,
    /// How the recorder writes
    #[arg(long, value_enum, default_value_t = Format::Pickle)]
    pub(crate) format: Format,
}

/// The two forms in which recorders write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// As files of the watchdog are: with stacks
    Pickle,
    /// As the debug server answers: without stacks
    Json,
}
