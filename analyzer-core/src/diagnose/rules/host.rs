//! Whether ranks share a host, as far as the names of their files or their numbers tell.

use alloc::format;
use alloc::string::String;

use crate::diagnose::Case;

/// Devices of a usual host.
const DEVICES: u32 = 8;

/// A line on the host that exactly these ranks share; `None` where nothing hints at one. The recorder does not write the host, so it
/// shows in the name of the folder or file, if at all; else ranks that fill a host of eight devices are worth a look.
pub(super) fn shared(case: &Case<'_>, ranks: &[u32]) -> Option<String> {
    if ranks.len() < 2 {
        return None;
    }
    let named = |rank: u32| case.job.rank_idx(rank).map(|at| stem(&case.job.rank(at).file));
    let host = named(*ranks.first()?)?;
    let same = |rank: u32| named(rank) == Some(host);
    let others = case.job.ranks.iter().filter(|dump| ranks.binary_search(&dump.rank).is_err());
    if ranks.iter().all(|&rank| same(rank))
        && others.clone().next().is_some()
        && !others.clone().any(|dump| same(dump.rank))
    {
        return Some(format!(
            "{} share the host or folder {host:?}, by the names of their files",
            super::words::ranks(ranks)
        ));
    }
    let first = *ranks.first()?;
    let whole = ranks.len() as u32 == DEVICES.min(case.job.world_size() / 2).max(2);
    let consecutive = ranks.iter().zip(first..).all(|(&rank, expected)| rank == expected);
    (whole && consecutive && first.is_multiple_of(ranks.len() as u32))
        .then(|| format!("{} are consecutive: they may share a host or a switch", super::words::ranks(ranks)))
}

/// The name of a file without the rank at its end and what says that it is one.
fn stem(file: &str) -> &str {
    file.trim_end_matches(".json")
        .trim_end_matches(".gz")
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .trim_end_matches("rank_")
        .trim_end_matches(['_', '-', '.', '/'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_no_part_of_the_host() {
        for (file, host) in [
            ("node3/nccl_trace_rank_12", "node3/nccl_trace"),
            ("host1.pci3_rank_3", "host1.pci3"),
            ("job7-host2_rank_9", "job7-host2"),
            ("rank_3.json", ""),
        ] {
            assert_eq!(stem(file), host);
        }
    }
}
