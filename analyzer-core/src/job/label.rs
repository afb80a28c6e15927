//! Names of groups as people say them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::mesh::{Clues, Mesh};
use super::traffic::Traffic;
use super::{Group, GroupIdx, Job};
use crate::report::ranges;
use crate::tree_map::TreeMap;

/// Longest list of ranks that a label writes out.
const LABEL_RANKS: usize = 24;
/// Longest word of a label; a hash of 40 digits is written out.
const LABEL_WORD: usize = 48;

impl Job {
    /// A short name for a group: `tp[2,3]`, `world`, `ep[0-3]`, `group 7[0,4]`. No two groups of a job share one.
    pub fn label(&self, group: GroupIdx) -> String {
        self.labels.get(group.0 as usize).cloned().unwrap_or_default()
    }

    /// How many ranks the job has as far as the dumps tell.
    pub fn world_size(&self) -> u32 {
        let highest = self.groups.iter().filter_map(|group| group.members.last());
        let dumped = self.ranks.last().map(|dump| &dump.rank);
        highest.chain(dumped).chain(self.missing_ranks.last()).max().map_or(0, |rank| rank.saturating_add(1))
    }
}

/// The labels of all groups, in their order.
pub(super) fn labels(job: &Job) -> Vec<String> {
    let world_size = job.world_size();
    let words: Vec<Option<String>> = job.groups.iter().map(|group| spoken(&group.desc)).collect();
    let unsaid = |(group, word): (&Group, &Option<String>)| {
        word.is_none() && !group.assumed && group.members.len() > 1 && !is_world(group, world_size)
    };
    let mesh = if job.groups.iter().zip(&words).any(unsaid) {
        let traffic = Traffic::of(job);
        Mesh::of(&Clues { groups: &job.groups, words: &words, traffic: &traffic, world_size })
    } else {
        Mesh::default()
    };
    let labels = job
        .groups
        .iter()
        .zip(words)
        .zip(0..)
        .map(|((group, word), at)| {
            if is_world(group, world_size) {
                return "world".to_string();
            }
            let word = word.or_else(|| mesh.dimension(GroupIdx(at)).map(ToString::to_string));
            let word = word.unwrap_or_else(|| format!("group {}", cut(&group.name)).trim_end().to_string());
            format!("{word}[{}]", members_text(&group.members))
        })
        .collect();
    told_apart(&job.groups, labels)
}

/// Puts the group's name behind labels that several groups share, and counts those that even then are equal.
fn told_apart(groups: &[Group], mut labels: Vec<String>) -> Vec<String> {
    let mut uses: TreeMap<String, u32> = TreeMap::new();
    for label in &labels {
        *uses.entry(label.clone()).or_default() += 1;
    }
    for (group, label) in groups.iter().zip(&mut labels) {
        let default = label == "world" && (group.name == "0" || group.desc == "default_pg");
        if !default && !group.name.is_empty() && uses.get(label).is_some_and(|&uses| uses > 1) {
            *label = format!("{label} (group {})", cut(&group.name));
        }
    }
    let mut seen: TreeMap<String, u32> = TreeMap::new();
    for label in &mut labels {
        let seen = seen.entry(label.clone()).or_default();
        *seen += 1;
        if *seen > 1 {
            *label = format!("{label} #{seen}");
        }
    }
    labels
}

fn is_world(group: &Group, world_size: u32) -> bool {
    group.members.len() as u32 == world_size && (is_plain(&group.desc) || group.name == "0")
}

/// Descriptions that say nothing.
fn is_plain(desc: &str) -> bool {
    matches!(desc, "" | "default_pg" | "undefined")
}

/// What a description says, in the words that people use: `mesh_tp` and `TENSOR_MODEL_PARALLEL_GROUP` are `tp`. Only whole
/// descriptions that are known to mean a dimension are translated.
fn spoken(desc: &str) -> Option<String> {
    let word = desc.trim().strip_prefix("mesh_").unwrap_or(desc.trim());
    if is_plain(word) {
        return None;
    }
    let lower = word.to_ascii_lowercase().replace(['-', ' '], "_");
    let plain = lower.strip_suffix("_group").unwrap_or(&lower);
    let known = match plain {
        "tensor_parallel" | "tensor_model_parallel" => "tp",
        "pipeline_parallel" | "pipeline_model_parallel" => "pp",
        "data_parallel" => "dp",
        "context_parallel" => "cp",
        "sequence_parallel" => "sp",
        "expert_parallel" | "expert_model_parallel" => "ep",
        "model_parallel" => "mp",
        "expert_tensor_parallel" => "etp",
        "expert_data_parallel" => "edp",
        "data_parallel_group_with_cp" => "dp-cp",
        "tensor_and_context_parallel" => "tp-cp",
        "tensor_and_data_parallel" => "tp-dp",
        "tensor_and_data_parallel_group_with_cp" => "tp-dp-cp",
        "expert_tensor_and_model_parallel" => "etp-ep",
        "expert_tensor_model_pipeline_parallel" => "etp-ep-pp",
        _ if word.ends_with("_GROUP") => return Some(cut(plain)),
        _ => return Some(cut(word)),
    };
    Some(known.to_string())
}

/// A text of the dumps, not longer than a label bears.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LABEL_WORD) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

/// `2,3` for a pair of neighbours, `0-7` for a longer run, `3,11,…,123` for a long irregular list.
fn members_text(members: &[u32]) -> String {
    let mut text = String::new();
    for run in members.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
        if let [first, second, ..] = members
            && text.len() > LABEL_RANKS
        {
            return format!("{first},{second},…,{}", members.last().unwrap_or(second));
        }
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&match run {
            [a, b] => format!("{a},{b}"),
            _ => ranges(run.iter().copied()),
        });
    }
    match members {
        [first, second, .., last] if text.len() > LABEL_RANKS => format!("{first},{second},…,{last}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels of groups given as name, description and members.
    fn of(groups: &[(&str, &str, &[u32])]) -> Vec<String> {
        let groups = groups.iter().map(|&(name, desc, members)| Group {
            name: name.into(),
            desc: desc.into(),
            members: members.to_vec(),
            assumed: false,
        });
        labels(&Job { groups: groups.collect(), ..Job::default() })
    }

    const WORLD: (&str, &str, &[u32]) = ("0", "default_pg", &[0, 1, 2, 3, 4, 5, 6, 7]);

    #[test]
    fn descriptions_and_members() {
        let check = |name: &str, desc: &str, members: &[u32], expected: &str| {
            assert_eq!(of(&[WORLD, (name, desc, members)]), ["world", expected]);
        };
        check("4", "mesh_tp", &[2, 3], "tp[2,3]");
        check("7", "undefined", &[0, 4], "group 7[0,4]");
        check("", "", &[0], "group[0]");
        check("1", "expert_parallel", WORLD.2, "ep[0-7]");
        check("1", "TENSOR_MODEL_PARALLEL_GROUP", &[0, 1], "tp[0,1]");
        check("1", "DATA_PARALLEL_GROUP_WITH_CP", &[0, 1, 2], "dp-cp[0-2]");
        check("1", "POSITION_EMBEDDING_GROUP", &[0, 7], "position_embedding[0,7]");
        check("1", "mesh_dp_shard_cp", &[0, 1, 4, 5], "dp_shard_cp[0,1,4,5]");
        check("1", "Heads of experts", &[0, 2, 3, 4], "Heads of experts[0,2-4]");
        check("1", &"é".repeat(99), &[0, 1], &format!("{}…[0,1]", "é".repeat(48)));
    }

    #[test]
    fn long_irregular_lists_are_cut() {
        let strided: Vec<u32> = (0..16).map(|at| at * 8 + 3).collect();
        assert_eq!(of(&[("9", "mesh_dp", &strided)]), ["dp[3,11,…,123]"]);
        let everyone: Vec<u32> = (0..100_000).collect();
        assert_eq!(of(&[("9", "mesh_dp", &everyone)]), ["dp[0-99999]"]);
    }

    #[test]
    fn no_two_groups_share_a_label() {
        let labels = of(&[
            WORLD,
            ("1", "undefined", WORLD.2),
            ("2", "mesh_tp", &[0, 1]),
            ("3", "tensor_parallel", &[0, 1]),
            ("", "", &[5, 6]),
            ("", "", &[5, 6]),
        ]);
        let expected =
            ["world", "world (group 1)", "tp[0,1] (group 2)", "tp[0,1] (group 3)", "group[5,6]", "group[5,6] #2"];
        assert_eq!(labels, expected);
    }

    #[test]
    fn a_mesh_without_descriptions() {
        let pairs: Vec<[u32; 2]> = (0..4).map(|at| [2 * at, 2 * at + 1]).collect();
        let names: Vec<String> = (1..5).map(|name| name.to_string()).collect();
        let mut groups = alloc::vec![WORLD];
        groups.extend(pairs.iter().zip(&names).map(|(pair, name)| (name.as_str(), "undefined", pair.as_slice())));
        groups.push(("5", "undefined", &[0, 2, 4, 6]));
        groups.push(("6", "undefined", &[1, 3, 5, 7]));
        let expected = ["world", "tp[0,1]", "tp[2,3]", "tp[4,5]", "tp[6,7]", "dp[0,2,4,6]", "dp[1,3,5,7]"];
        assert_eq!(of(&groups), expected);
    }
}
