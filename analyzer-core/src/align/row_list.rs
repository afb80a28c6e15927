//! All rows of all groups in one list.

use alloc::vec::Vec;

use super::RowIdx;
use crate::job::GroupIdx;

/// Rows of one group that follow each other in a [`RowList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The group.
    pub group: GroupIdx,
    /// Whether they are the group's messages, else its collectives.
    pub messages: bool,
    /// Place of the first one in the list.
    pub first: u32,
    /// How many there are.
    pub count: u32,
}

/// The collectives and the messages of all groups, one stretch after the other: a number for each row, without a byte for each.
#[derive(Clone, Debug, Default)]
pub struct RowList {
    stretches: Vec<Stretch>,
    /// Where the collectives of each group begin, and its messages.
    starts: Vec<[Option<u32>; 2]>,
}

impl RowList {
    /// Appends rows of a group and gives the place of the first one.
    pub fn push(&mut self, group: GroupIdx, messages: bool, count: usize) -> u32 {
        let first = self.len();
        let count = u32::try_from(count).unwrap_or(u32::MAX).min(u32::MAX - first);
        let at = group.0 as usize;
        if self.starts.len() <= at {
            self.starts.resize(at + 1, [None; 2]);
        }
        if let Some(start) = self.starts.get_mut(at).and_then(|starts| starts.get_mut(usize::from(messages))) {
            *start = Some(first);
        }
        self.stretches.push(Stretch { group, messages, first, count });
        first
    }

    /// How many rows there are.
    pub fn len(&self) -> u32 {
        self.stretches.last().map_or(0, |last| last.first + last.count)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The stretches, in their order.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// The stretch that holds a row, and the row's place in it: of a [`RowIdx`], or of a message of its band.
    pub fn stretch_of(&self, row: u32) -> Option<(Stretch, u32)> {
        let after = self.stretches.partition_point(|stretch| stretch.first <= row);
        // Empty stretches begin where the next one does, and the last of those that begin there is the one that holds rows.
        let stretch = *self.stretches.get(after.checked_sub(1)?)?;
        let inside = row - stretch.first;
        (inside < stretch.count).then_some((stretch, inside))
    }

    /// The place of a row of collectives.
    pub fn collective(&self, group: GroupIdx, row: RowIdx) -> Option<u32> {
        Some(self.starts.get(group.0 as usize)?[0]? + row.0)
    }

    /// The place of a message.
    pub fn message(&self, group: GroupIdx, at: u32) -> Option<u32> {
        Some(self.starts.get(group.0 as usize)?[1]? + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_their_groups() {
        let mut list = RowList::default();
        assert!(list.is_empty() && list.stretch_of(0).is_none());
        list.push(GroupIdx(2), false, 3);
        list.push(GroupIdx(0), true, 0);
        list.push(GroupIdx(2), true, 2);
        assert_eq!(list.len(), 5);
        let of = |row| list.stretch_of(row).map(|(stretch, at)| (stretch.group.0, stretch.messages, at));
        assert_eq!((of(0), of(2)), (Some((2, false, 0)), Some((2, false, 2))));
        assert_eq!((of(3), of(4), of(5)), (Some((2, true, 0)), Some((2, true, 1)), None));
        assert_eq!((list.collective(GroupIdx(2), RowIdx(1)), list.message(GroupIdx(2), 1)), (Some(1), Some(4)));
        assert_eq!((list.collective(GroupIdx(0), RowIdx(0)), list.message(GroupIdx(7), 0)), (None, None));
    }
}
