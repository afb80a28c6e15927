//! Names of groups as people say them.

use alloc::format;
use alloc::string::{String, ToString};

use super::{Group, GroupIdx, Job};
use crate::report::ranges;

/// Longest list of ranks that a label writes out.
const LABEL_RANKS: usize = 24;

impl Job {
    /// A short name for a group: `tp[2-3]`, `world`, `expert_parallel[0-3]`; the members tell groups of one description apart.
    pub fn label(&self, group: GroupIdx) -> String {
        label(self.group(group), self.world_size())
    }

    /// How many ranks the job has as far as the dumps tell.
    pub fn world_size(&self) -> u32 {
        let highest = self.groups.iter().filter_map(|group| group.members.last());
        let dumped = self.ranks.last().map(|dump| &dump.rank);
        highest.chain(dumped).chain(self.missing_ranks.last()).max().map_or(0, |rank| rank.saturating_add(1))
    }
}

fn label(group: &Group, world_size: u32) -> String {
    if group.members.len() as u32 == world_size && (is_plain(&group.desc) || group.name == "0") {
        return "world".to_string();
    }
    let word = group.desc.strip_prefix("mesh_").unwrap_or(&group.desc);
    let word = if is_plain(word) { format!("group {}", group.name).trim_end().to_string() } else { word.to_string() };
    format!("{word}[{}]", short_ranges(group))
}

/// Descriptions that say nothing.
fn is_plain(desc: &str) -> bool {
    matches!(desc, "" | "default_pg" | "undefined")
}

/// `0-7`, `3,11,…,59` for a long irregular list.
fn short_ranges(group: &Group) -> String {
    let text = ranges(group.members.iter().copied());
    if text.len() <= LABEL_RANKS {
        return text;
    }
    match group.members.as_slice() {
        [first, second, .., last] => format!("{first},{second},…,{last}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let check = |name: &str, desc: &str, members: &[u32], expected: &str| {
            let group = Group { name: name.into(), desc: desc.into(), members: members.to_vec(), assumed: false };
            assert_eq!(label(&group, 8), expected);
        };
        check("0", "default_pg", &[0, 1, 2, 3, 4, 5, 6, 7], "world");
        check("4", "mesh_tp", &[2, 3], "tp[2-3]");
        check("7", "undefined", &[0, 4], "group 7[0,4]");
        check("", "", &[0], "group[0]");
        check("1", "expert_parallel", &[0, 1, 2, 3, 4, 5, 6, 7], "expert_parallel[0-7]");
        let strided: alloc::vec::Vec<u32> = (0..16).map(|at| at * 8 + 3).collect();
        check("9", "mesh_dp", &strided, "dp[3,11,…,123]");
    }
}
