//! Which group a counter of `pg_status` belongs to.

use alloc::vec::Vec;

use super::GroupIdx;
use super::resolve::RankGroups;
use crate::dump::GroupStatus;
use crate::shard::ShardDump;
use crate::small_sort::SmallSort as _;
use crate::tree_map::TreeMap;

/// The counters of a dump by group, sorted.
///
/// Entries say which `pg_id` means which group. A dump without an entry of a group leaves that open; then the order tells, where it
/// can: groups are numbered within a process in the order in which they are made, and names are counters of the same order. That
/// holds only where there are as many counters as named groups, and where it agrees with all entries.
pub(super) fn by_group(dump: &ShardDump, groups: &RankGroups) -> Vec<(GroupIdx, GroupStatus)> {
    // Of several with one number the first counts.
    let by_id: TreeMap<i64, &GroupStatus> =
        TreeMap::from_iter(dump.statuses.iter().rev().map(|status| (status.pg_id, status)));
    let mut known: Vec<(GroupIdx, GroupStatus)> = dump
        .group_refs
        .iter()
        .zip(&groups.of_ref)
        .filter_map(|(group_ref, &group)| Some((group, **by_id.get(&group_ref.pg_id?)?)))
        .collect();
    known.sort_small_by_key(|item| item.0);
    known.dedup_by_key(|item| item.0);
    let mut ordered = by_order(dump, groups).unwrap_or_default();
    ordered.sort_small_by_key(|item| item.0);
    let agrees = |item: &(GroupIdx, GroupStatus)| {
        let at = ordered.binary_search_by_key(&item.0, |other| other.0).ok();
        at.and_then(|at| ordered.get(at)).is_some_and(|other| other.1.pg_id == item.1.pg_id)
    };
    if known.iter().all(agrees) { ordered } else { known }
}

/// Pairs counters and groups by their order.
fn by_order(dump: &ShardDump, groups: &RankGroups) -> Option<Vec<(GroupIdx, GroupStatus)>> {
    let of_config = groups.of_config.as_ref()?;
    if of_config.len() != dump.statuses.len() {
        return None;
    }
    let mut statuses = dump.statuses.clone();
    statuses.sort_small_by_key(|status| status.pg_id);
    Some(of_config.iter().copied().zip(statuses).collect())
}
