//! Process groups: a name and its members.

use alloc::string::String;
use alloc::vec::Vec;

/// Names a group of a [`super::Job`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupIdx(pub u32);

/// A process group.
///
/// A name alone is not an identity: within a job the same counter or hash can name different member sets. Name and members together are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name in the dumps.
    pub name: String,
    /// Description in the dumps; of several that ranks give it, the first in alphabetical order.
    pub desc: String,
    /// Members: global ranks, ascending.
    pub members: Vec<u32>,
    /// Whether no dump says who belongs to it, so that the members are those who used it.
    pub assumed: bool,
}

impl Group {
    /// Place of a global rank among the members.
    pub fn position(&self, rank: u32) -> Option<usize> {
        self.members.binary_search(&rank).ok()
    }

    /// The global rank of a rank within the group, as names of point-to-point operations give it.
    pub fn global_rank(&self, group_rank: u32) -> Option<u32> {
        self.members.get(group_rank as usize).copied()
    }
}
