//! Which group an entry means, and who belongs to it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Group, GroupIdx};
use crate::dump::{Dump, GroupConfig};
use crate::report::{Quality, QualityKind, ranges};

/// Groups of a whole job.
pub(super) struct Resolved {
    pub groups: Vec<Group>,
    /// For each dump, in the order given.
    pub ranks: Vec<RankGroups>,
    pub quality: Vec<Quality>,
}

/// Groups as one rank names them.
#[derive(Default)]
pub(super) struct RankGroups {
    /// The group of each of the dump's group references.
    pub of_ref: Vec<GroupIdx>,
    /// The group of each item of the dump's own `pg_config` that has a name and members, in the order of their names.
    pub of_config: Vec<(String, GroupIdx)>,
}

/// Name and members, and whether the members are assumed.
type Identity = (String, Vec<u32>, bool);

/// Resolves the groups of dumps, one per rank, in rank order.
///
/// Members come from the rank's own `pg_config`, else from another rank's item of the same name and description that
/// holds this rank, else from an item without a name if it cannot mean another group, else they are assumed:
/// whoever used a group of that name.
pub(super) fn groups(dumps: &[Dump]) -> Resolved {
    let mut quality = Vec::new();
    let published = published(dumps);
    let users = users(dumps);
    let mut found: BTreeMap<Identity, BTreeSet<String>> = BTreeMap::new();
    let mut per_rank: Vec<(Vec<Identity>, Vec<Identity>)> = Vec::new();
    for dump in dumps {
        let rank = dump.rank.unwrap_or_default();
        let names: Vec<(&str, &str)> = dump
            .group_refs
            .iter()
            .map(|item| (dump.symbols.strings.get(item.name), dump.symbols.strings.get(item.desc)))
            .collect();
        let distinct: BTreeSet<&str> = names.iter().map(|item| item.0).collect();
        let mut identities = Vec::new();
        for &(name, desc) in &names {
            let own = dump.group_configs.iter().find(|config| config.name == name && !name.is_empty());
            let members = own
                .or_else(|| {
                    let same_name = published.get(name)?;
                    let holds = |config: &&&GroupConfig| config.ranks.binary_search(&rank).is_ok();
                    same_name
                        .iter()
                        .filter(holds)
                        .find(|config| config.desc == desc)
                        .or_else(|| same_name.iter().find(holds))
                        .copied()
                })
                .or_else(|| {
                    let nameless = || dump.group_configs.iter().find(|config| config.name.is_empty());
                    (distinct.len() == 1 || desc == "default_pg").then(nameless).flatten()
                })
                .filter(|config| !config.ranks.is_empty())
                .map(|config| config.ranks.clone());
            let identity = match members {
                Some(members) => (name.to_string(), members, false),
                None => {
                    let members = users.get(&(name, desc)).cloned().unwrap_or_default();
                    (name.to_string(), members, true)
                }
            };
            found.entry(identity.clone()).or_default().insert(desc.to_string());
            identities.push(identity);
        }
        // Also groups that this rank belongs to but never used.
        let mut own = Vec::new();
        for config in dump.group_configs.iter().filter(|config| !config.name.is_empty() && !config.ranks.is_empty()) {
            let identity = (config.name.clone(), config.ranks.clone(), false);
            found.entry(identity.clone()).or_default().insert(config.desc.clone());
            own.push(identity);
        }
        own.sort_by(|a, b| name_key(&a.0).cmp(&name_key(&b.0)));
        per_rank.push((identities, own));
    }

    let mut order: Vec<(String, Identity)> = found
        .into_iter()
        .map(|(identity, descs)| {
            note(&identity, &descs, &mut quality);
            (descs.into_iter().next().unwrap_or_default(), identity)
        })
        .collect();
    // Larger groups first reads best where nothing else decides; then by members and name.
    order.sort_by(|(_, a), (_, b)| {
        b.1.len().cmp(&a.1.len()).then_with(|| (&a.1, name_key(&a.0), a.2).cmp(&(&b.1, name_key(&b.0), b.2)))
    });
    let index: BTreeMap<&Identity, u32> = order.iter().zip(0..).map(|((_, identity), at)| (identity, at)).collect();
    let group = |identity: &Identity| GroupIdx(index.get(identity).copied().unwrap_or_default());
    let ranks = per_rank
        .iter()
        .map(|(used, own)| RankGroups {
            of_ref: used.iter().map(group).collect(),
            of_config: own.iter().map(|identity| (identity.0.clone(), group(identity))).collect(),
        })
        .collect();
    let groups = order
        .iter()
        .map(|(desc, (name, members, assumed))| Group {
            name: name.clone(),
            desc: desc.clone(),
            members: members.clone(),
            assumed: *assumed,
        })
        .collect();
    Resolved { groups, ranks, quality }
}

/// Names are counters as text as a rule: `2` comes before `10`.
fn name_key(name: &str) -> (u64, &str) {
    (name.parse().unwrap_or(u64::MAX), name)
}

/// Items of all ranks' `pg_config` by name, each distinct one once, sorted.
fn published(dumps: &[Dump]) -> BTreeMap<&str, Vec<&GroupConfig>> {
    let mut by_name: BTreeMap<&str, Vec<&GroupConfig>> = BTreeMap::new();
    for config in dumps.iter().flat_map(|dump| &dump.group_configs) {
        if !config.name.is_empty() {
            by_name.entry(&config.name).or_default().push(config);
        }
    }
    for configs in by_name.values_mut() {
        configs.sort_by(|a, b| (&a.ranks, &a.desc).cmp(&(&b.ranks, &b.desc)));
        configs.dedup();
    }
    by_name
}

/// Ranks that recorded something on a group of a name and description.
fn users(dumps: &[Dump]) -> BTreeMap<(&str, &str), Vec<u32>> {
    let mut users: BTreeMap<(&str, &str), Vec<u32>> = BTreeMap::new();
    for dump in dumps {
        for item in &dump.group_refs {
            let key = (dump.symbols.strings.get(item.name), dump.symbols.strings.get(item.desc));
            users.entry(key).or_default().extend(dump.rank);
        }
    }
    for ranks in users.values_mut() {
        ranks.sort_unstable();
        ranks.dedup();
    }
    users
}

fn note((name, members, assumed): &Identity, descs: &BTreeSet<String>, quality: &mut Vec<Quality>) {
    let members = ranges(members.iter().copied());
    if *assumed {
        quality.push(Quality {
            kind: QualityKind::UnknownMembership,
            rank: None,
            file: None,
            detail: format!(
                "no dump says who belongs to group {name}; assumed: the ranks that used it ({members}). \
                 A member that never used it would not be noticed"
            ),
        });
    }
    if descs.len() > 1 {
        let descs: Vec<&str> = descs.iter().map(String::as_str).collect();
        quality.push(Quality {
            kind: QualityKind::MembershipConflict,
            rank: None,
            file: None,
            detail: format!(
                "ranks describe group {name} ({members}) differently: {}; it is taken for one group",
                descs.join(", ")
            ),
        });
    }
}
