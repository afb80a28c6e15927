//! Which group an entry means, and who belongs to it.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use super::{Group, GroupIdx};
use crate::dump::GroupRef;
use crate::report::{Quality, QualityKind, ranges};
use crate::shard::{Config, ConfigTable, MembersId, Shard, ShardDump};
use crate::small_sort::SmallSort as _;
use crate::symbols::StrId;
use crate::tree_set::TreeSet;

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
    /// The group of each item of the dump's own `pg_config` that has a name and members, in the order of their names; `None` where
    /// some name is no counter, so that their order says nothing.
    pub of_config: Option<Vec<GroupIdx>>,
}

/// Name and members, and whether the members are assumed.
type Identity = (StrId, MembersId, bool);

/// Resolves the groups of dumps, one per rank, in rank order.
///
/// Members come from the rank's own `pg_config`, else from another rank's item of the same name and description that
/// holds this rank, else from an item without a name if it cannot mean another group, else they are assumed:
/// whoever used a group of that name, and of the default group everybody.
pub(super) fn groups(dumps: &[ShardDump], shard: &mut Shard) -> Resolved {
    let published = published(dumps, shard);
    let users = users(dumps);
    let everybody: Vec<u32> = dumps.iter().filter_map(|dump| dump.rank).collect();
    let idle: Vec<u32> = dumps.iter().filter(|dump| dump.group_refs.is_empty()).filter_map(|dump| dump.rank).collect();
    // What was found last: mostly it is asked again for the next rank.
    let mut nameless_fits: Option<((StrId, StrId, MembersId), bool)> = None;
    let mut found: HashMap<Identity, TreeSet<StrId>> = HashMap::new();
    let mut per_rank: Vec<(Vec<Identity>, Option<Vec<Identity>>)> = Vec::new();
    for dump in dumps {
        let own: Vec<Config> = dump.configs.iter().filter_map(|&id| shard.configs.get(id)).collect();
        // Of equal names the first counts; none is the smallest.
        let mut by_name = own.clone();
        by_name.sort_small_by_key(|config| config.name);
        let named = |name: StrId| {
            let at = by_name.partition_point(|config| config.name < name);
            by_name.get(at).filter(|config| config.name == name && name != StrId::EMPTY).copied()
        };
        let distinct = TreeSet::from_iter(dump.group_refs.iter().map(|item| item.name));
        let nameless = own.iter().find(|config| config.name == StrId::EMPTY).copied();
        let mut identities = Vec::new();
        for item in &dump.group_refs {
            let users = users.get(&(item.name, item.desc)).map_or(&[][..], Vec::as_slice);
            let is_world = shard.symbols.strings.get(item.desc) == "default_pg";
            let config = named(item.name)
                .or_else(|| elsewhere(dump, item, &published, &shard.configs))
                .or_else(|| {
                    nameless.filter(|_| distinct.len() == 1 || is_world).filter(|config| {
                        let asked = (item.name, item.desc, config.members);
                        let known = nameless_fits.filter(|known| known.0 == asked).map(|known| known.1);
                        let fits = known.unwrap_or_else(|| {
                            are_members(shard.configs.members(config.members), users, &idle, &everybody)
                        });
                        nameless_fits = Some((asked, fits));
                        fits
                    })
                })
                .filter(|config| config.members != MembersId::EMPTY);
            let identity = match config {
                Some(config) => (item.name, config.members, false),
                None => {
                    let members = if is_world { everybody.as_slice() } else { users };
                    (item.name, shard.configs.members_id(members), true)
                }
            };
            found.entry(identity).or_default().insert(item.desc);
            identities.push(identity);
        }
        // Also groups that this rank belongs to but never used.
        let mut unused: Vec<(Option<u64>, Identity)> = Vec::new();
        for config in &own {
            if config.name != StrId::EMPTY && config.members != MembersId::EMPTY {
                let identity = (config.name, config.members, false);
                found.entry(identity).or_default().insert(config.desc);
                unused.push((shard.symbols.strings.get(config.name).parse().ok(), identity));
            }
        }
        unused.sort_small_by_key(|item| item.0);
        let are_counters = unused.iter().all(|item| item.0.is_some());
        per_rank.push((identities, are_counters.then(|| unused.into_iter().map(|item| item.1).collect())));
    }

    let text = |id: StrId| shard.symbols.strings.get(id);
    let mut quality = Vec::new();
    let mut order: Vec<(Group, Identity)> = found
        .into_iter()
        .map(|(identity, descs)| {
            let descs: TreeSet<&str> = TreeSet::from_iter(descs.into_iter().map(text));
            let group = Group {
                name: text(identity.0).to_string(),
                desc: descs.first().copied().unwrap_or_default().to_string(),
                members: shard.configs.members(identity.1).to_vec(),
                assumed: identity.2,
            };
            note(&group, &descs, &mut quality);
            (group, identity)
        })
        .collect();
    // Larger groups first reads best where nothing else decides; then by members and name.
    order.sort_small_by(|(a, _), (b, _)| {
        b.members
            .len()
            .cmp(&a.members.len())
            .then_with(|| (&a.members, name_key(&a.name), a.assumed).cmp(&(&b.members, name_key(&b.name), b.assumed)))
    });
    let index: HashMap<Identity, u32> = order.iter().zip(0..).map(|((_, identity), at)| (*identity, at)).collect();
    let group = |identity: &Identity| GroupIdx(index.get(identity).copied().unwrap_or_default());
    let ranks = per_rank
        .iter()
        .map(|(used, own)| RankGroups {
            of_ref: used.iter().map(group).collect(),
            of_config: own.as_ref().map(|own| own.iter().map(group).collect()),
        })
        .collect();
    Resolved { groups: order.into_iter().map(|item| item.0).collect(), ranks, quality }
}

/// Whether an item without a name may mean a group of these users: all of them are in it, and of the others that left a dump only those who used
/// nothing. gloo writes one such item over the other, and counts the members of a part of the job from 0.
fn are_members(members: &[u32], users: &[u32], idle: &[u32], everybody: &[u32]) -> bool {
    let has = |list: &[u32], rank: &u32| list.binary_search(rank).is_ok();
    users.iter().all(|rank| has(members, rank))
        && members.iter().all(|rank| has(users, rank) || has(idle, rank) || !has(everybody, rank))
}

/// What another rank says about a group that holds this one.
fn elsewhere(
    dump: &ShardDump,
    item: &GroupRef,
    published: &HashMap<StrId, Vec<Config>>,
    configs: &ConfigTable,
) -> Option<Config> {
    let rank = dump.rank.unwrap_or_default();
    let same_name = published.get(&item.name)?;
    let mut holding =
        same_name.iter().filter(|config| configs.members(config.members).binary_search(&rank).is_ok()).peekable();
    let first = holding.peek().copied().copied();
    holding.find(|config| config.desc == item.desc).copied().or(first)
}

/// Names are counters as text as a rule: `2` comes before `10`.
fn name_key(name: &str) -> (u64, &str) {
    (name.parse().unwrap_or(u64::MAX), name)
}

/// Items of all ranks' `pg_config` by name, each distinct one once, in the order of their members and descriptions.
fn published(dumps: &[ShardDump], shard: &Shard) -> HashMap<StrId, Vec<Config>> {
    let mut by_name: HashMap<StrId, Vec<Config>> = HashMap::new();
    let mut seen = HashSet::new();
    for &id in dumps.iter().flat_map(|dump| &dump.configs) {
        if let Some(config) = shard.configs.get(id).filter(|config| config.name != StrId::EMPTY && seen.insert(*config))
        {
            by_name.entry(config.name).or_default().push(config);
        }
    }
    for configs in by_name.values_mut() {
        configs.sort_small_by_key(|config| {
            (shard.configs.members(config.members), shard.symbols.strings.get(config.desc))
        });
    }
    by_name
}

/// Ranks that recorded something on a group of a name and description.
fn users(dumps: &[ShardDump]) -> HashMap<(StrId, StrId), Vec<u32>> {
    let mut users: HashMap<(StrId, StrId), Vec<u32>> = HashMap::new();
    for dump in dumps {
        for item in &dump.group_refs {
            users.entry((item.name, item.desc)).or_default().extend(dump.rank);
        }
    }
    for ranks in users.values_mut() {
        ranks.sort_small();
        ranks.dedup();
    }
    users
}

fn note(group: &Group, descs: &TreeSet<&str>, quality: &mut Vec<Quality>) {
    let Group { name, assumed, .. } = group;
    let is_world = group.desc == "default_pg";
    let members = ranges(group.members.iter().copied());
    if *assumed {
        quality.push(Quality {
            kind: QualityKind::UnknownMembership,
            rank: None,
            file: None,
            detail: format!(
                "no dump says who belongs to group {name}; assumed: {} ({members}). A {} would not be noticed",
                if is_world { "all ranks with a dump" } else { "the ranks that used it" },
                if is_world { "rank that left none" } else { "member that never used it" },
            ),
        });
    }
    if descs.len() > 1 {
        let descs: Vec<&str> = descs.iter().copied().collect();
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
