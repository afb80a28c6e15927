//! The groups of one rank's entries, as small numbers.

use alloc::vec::Vec;

use crate::job::{GroupIdx, RankDump};
use crate::small_sort::SmallSort as _;

/// The groups that a rank used, and which of them each head of its entries belongs to: what is looked up for every entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// The groups, ascending.
    pub groups: Vec<GroupIdx>,
    of_head: Vec<Option<usize>>,
}

impl Slots {
    pub fn of(dump: &RankDump) -> Slots {
        let mut groups = dump.groups.clone();
        groups.sort_small();
        groups.dedup();
        let of_ref: Vec<Option<usize>> = dump.groups.iter().map(|group| groups.binary_search(group).ok()).collect();
        let slot = |group_ref: u32| of_ref.get(group_ref as usize).copied().flatten();
        let of_head = dump.entries.heads().iter().map(|head| slot(head.group_ref)).collect();
        Slots { groups, of_head }
    }

    /// The place of the group among the groups, by the place of an entry's head among the heads.
    pub fn of_head(&self, head: usize) -> Option<usize> {
        self.of_head.get(head).copied().flatten()
    }
}
