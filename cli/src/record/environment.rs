//! What the program is told by its environment.

use std::path::{Path, PathBuf, absolute};

use anyhow::{Context as _, Result};

use super::libraries::Libraries;
use crate::args::{self, RecordMode};

/// Variables to set, and what the person is to know.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) folder: PathBuf,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) lines: Vec<String>,
    /// Whether this process says where the dumps will be: one of all ranks does.
    pub(crate) speaks: bool,
}

/// Where dumps go if nobody says.
const FOLDER: &str = "hangscope-dumps";

/// Variables by which launchers tell a process its rank.
const RANK_VARIABLES: [&str; 7] =
    ["HANGSCOPE_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MPI_RANK", "SLURM_PROCID"];

/// Works out the variables; `lookup` gives those that are set.
pub(crate) fn plan(
    options: &args::Record,
    libraries: &Libraries,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Plan> {
    let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
    let folder = folder(options, set("HANGSCOPE_OUT"))?;
    let mut plan = Plan { folder: folder.clone(), variables: Vec::new(), lines: Vec::new(), speaks: false };
    plan.set("HANGSCOPE_OUT", &text(&folder)?);
    if let Some(timeout) = &options.timeout {
        plan.set("HANGSCOPE_TIMEOUT", timeout);
    }
    if let Some(stacks) = options.stacks {
        plan.set("HANGSCOPE_STACKS", stacks.name());
    }
    if options.mode != RecordMode::Mpi {
        match set("NCCL_PROFILER_PLUGIN") {
            Some(other) if !other.contains("hangscope") => plan.lines.push(format!(
                "NCCL_PROFILER_PLUGIN={other} stays: NCCL has room for one profiler. Unset it to record NCCL"
            )),
            _ => plan.set("NCCL_PROFILER_PLUGIN", &text(&libraries.nccl_plugin)?),
        }
    }
    if options.mode != RecordMode::Nccl {
        let own = text(&libraries.mpi_preload)?;
        let others = set("LD_PRELOAD").unwrap_or_default();
        let others = others.split([':', ' ']).filter(|other| !other.is_empty() && *other != own);
        plan.set("LD_PRELOAD", &std::iter::once(own.as_str()).chain(others).collect::<Vec<_>>().join(":"));
    }
    if options.mode == RecordMode::Auto {
        // A program that uses both has two recordings; each goes to its own folder.
        plan.set("HANGSCOPE_BY_LIBRARY", "1");
    }
    // Every rank comes by here; one line is enough.
    if RANK_VARIABLES.iter().find_map(|name| set(name)).is_none_or(|rank| rank == "0") {
        plan.speaks = true;
    }
    Ok(plan)
}

impl Plan {
    fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }
}

/// Relative to where the command was started, whatever folder the program goes to.
fn folder(options: &args::Record, from_environment: Option<String>) -> Result<PathBuf> {
    let chosen = options.out.clone().or(from_environment.map(PathBuf::from)).unwrap_or_else(|| FOLDER.into());
    absolute(&chosen).with_context(|| format!("failed to find {}", chosen.display()))
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).with_context(|| format!("{} is not UTF-8", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(mode: RecordMode) -> args::Record {
        args::Record {
            out: Some("/dumps".into()),
            timeout: Some("60s".to_owned()),
            mode,
            stacks: None,
            check: false,
            command: Vec::new(),
        }
    }

    fn planned(mode: RecordMode, environment: &[(&str, &str)]) -> Plan {
        let libraries = Libraries { nccl_plugin: "/l/libnccl.so".into(), mpi_preload: "/l/libmpi.so".into() };
        let lookup =
            |name: &str| environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        plan(&options(mode), &libraries, lookup).unwrap()
    }

    fn check(mode: RecordMode, environment: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let plan = planned(mode, environment);
        (plan.variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect(), plan.lines)
    }

    #[test]
    fn a_mode_sets_what_its_library_needs() {
        let (variables, lines) = check(RecordMode::Nccl, &[]);
        let nccl = ["HANGSCOPE_OUT=/dumps", "HANGSCOPE_TIMEOUT=60s", "NCCL_PROFILER_PLUGIN=/l/libnccl.so"];
        assert_eq!(variables, nccl);
        assert!(lines.is_empty(), "{lines:?}");
        let (variables, _) = check(RecordMode::Mpi, &[]);
        assert_eq!(variables, ["HANGSCOPE_OUT=/dumps", "HANGSCOPE_TIMEOUT=60s", "LD_PRELOAD=/l/libmpi.so"]);
        let (variables, _) = check(RecordMode::Auto, &[]);
        assert_eq!(variables[..3], nccl);
        assert_eq!(variables[3..], ["LD_PRELOAD=/l/libmpi.so", "HANGSCOPE_BY_LIBRARY=1"]);
    }

    #[test]
    fn what_others_have_set_stays() {
        let others = [("LD_PRELOAD", "/x/libjemalloc.so /l/libmpi.so"), ("NCCL_PROFILER_PLUGIN", "inspector")];
        let (variables, lines) = check(RecordMode::Auto, &others);
        assert!(variables.contains(&"LD_PRELOAD=/l/libmpi.so:/x/libjemalloc.so".to_owned()), "{variables:?}");
        assert!(variables.iter().all(|variable| !variable.starts_with("NCCL_")), "{variables:?}");
        assert!(lines[0].starts_with("NCCL_PROFILER_PLUGIN=inspector stays"), "{lines:?}");
    }

    #[test]
    fn one_rank_speaks_for_all() {
        for (rank, speaks) in [("0", true), ("3", false)] {
            assert_eq!(planned(RecordMode::Mpi, &[("PMI_RANK", rank)]).speaks, speaks);
        }
        assert!(planned(RecordMode::Mpi, &[]).speaks);
    }
}
