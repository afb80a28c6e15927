//! The groups of one rank's entries, as small numbers.

use alloc::vec::Vec;

use crate::job::{GroupIdx, Job, RankIdx};
use crate::small_sort::SmallSort as _;

/// One group that a rank used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub group: GroupIdx,
    /// How many of the rank's entries are in it.
    pub count: u32,
    /// Whether some of them may be messages.
    pub messages: bool,
}

/// The groups that a rank used, and which of them each of its entries belongs to: what is looked up for every entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// The groups, ascending.
    pub slots: Vec<Slot>,
    /// For each entry the place of its group among the groups; something else where it has none.
    pub of_entry: Vec<u32>,
}

/// Stands for entries of no group.
const NONE: u32 = u32::MAX;

impl Slots {
    #[inline(never)]
    pub fn of(job: &Job, rank: RankIdx) -> Slots {
        let dump = job.rank(rank);
        let mut groups = dump.groups.clone();
        groups.sort_small();
        groups.dedup();
        let mut slots: Vec<Slot> = groups.iter().map(|&group| Slot { group, count: 0, messages: false }).collect();
        let slot =
            |group_ref: u32| dump.groups.get(group_ref as usize).and_then(|group| groups.binary_search(group).ok());
        let mut of_head: Vec<u32> = Vec::with_capacity(dump.entries.heads().len());
        for head in dump.entries.heads() {
            let place = slot(head.group_ref);
            if let Some(slot) = place.and_then(|place| slots.get_mut(place)) {
                slot.messages |= job.op(head.op).peer.is_some();
            }
            of_head.push(place.map_or(NONE, |place| place as u32));
        }
        let mut of_entry: Vec<u32> = alloc::vec![NONE; dump.entries.len()];
        dump.entries.for_each_head(|at, head| {
            let place = of_head.get(head).copied().unwrap_or(NONE);
            if let Some(slot) = slots.get_mut(place as usize) {
                slot.count += 1;
            }
            if let Some(own) = of_entry.get_mut(at.0 as usize) {
                *own = place;
            }
        });
        Slots { slots, of_entry }
    }
}
