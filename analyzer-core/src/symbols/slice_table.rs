//! Every distinct short list of numbers or handles, once: shapes, lists of shapes, lists of dtypes.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;

use hashbrown::DefaultHashBuilder;

use super::TableIndex;

/// Names a list in a [`SliceTable`] of the same item type.
pub struct SliceId<T> {
    pub(crate) index: u32,
    item: PhantomData<fn() -> T>,
}

impl<T> SliceId<T> {
    /// The empty list, present in every table.
    pub const EMPTY: SliceId<T> = SliceId { index: 0, item: PhantomData };

    pub(crate) const fn new(index: u32) -> Self {
        SliceId { index, item: PhantomData }
    }
}

// Written out because a derive would ask the same of `T`.
impl<T> Clone for SliceId<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for SliceId<T> {}
impl<T> PartialEq for SliceId<T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<T> Eq for SliceId<T> {}
impl<T> Hash for SliceId<T> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}
impl<T> Debug for SliceId<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "SliceId({})", self.index)
    }
}
impl<T> Default for SliceId<T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// Interned lists: one buffer for all items and the end of each list.
#[derive(Clone, Debug)]
pub struct SliceTable<T> {
    items: Vec<T>,
    ends: Vec<u32>,
    index: TableIndex,
    hasher: DefaultHashBuilder,
}

impl<T: Copy + Eq + Hash> Default for SliceTable<T> {
    fn default() -> Self {
        let mut table = SliceTable {
            items: Vec::new(),
            ends: Vec::new(),
            index: TableIndex::default(),
            hasher: DefaultHashBuilder::default(),
        };
        table.intern(&[]);
        table
    }
}

impl<T: Copy + Eq + Hash> SliceTable<T> {
    /// The handle of `list`, which is stored if it is new.
    pub fn intern(&mut self, list: &[T]) -> SliceId<T> {
        let hash = self.hasher.hash_one(list);
        let (items, ends) = (&self.items, &self.ends);
        if let Some(found) = self.index.find(hash, |id| slice(items, ends, id) == list) {
            return SliceId::new(found);
        }
        let Ok(end) = u32::try_from(self.items.len() + list.len()) else {
            return SliceId::EMPTY;
        };
        let id = self.ends.len() as u32;
        self.items.extend_from_slice(list);
        self.ends.push(end);
        let (items, ends, hasher) = (&self.items, &self.ends, &self.hasher);
        self.index.insert(hash, id, &|id| hasher.hash_one(slice(items, ends, id)));
        SliceId::new(id)
    }

    /// The list of a handle; empty for a handle of another table.
    pub fn get(&self, id: SliceId<T>) -> &[T] {
        slice(&self.items, &self.ends, id.index)
    }

    /// How many distinct lists there are, the empty one included.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never true: the empty list is always there.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All lists in the order of their handles.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.ends.len() as u32).map(|id| slice(&self.items, &self.ends, id))
    }

    /// Gives back memory that was reserved for growth.
    pub fn shrink_to_fit(&mut self) {
        self.items.shrink_to_fit();
        self.ends.shrink_to_fit();
        let (items, ends, hasher) = (&self.items, &self.ends, &self.hasher);
        self.index.shrink_to_fit(&|id| hasher.hash_one(slice(items, ends, id)));
    }
}

fn slice<'a, T>(items: &'a [T], ends: &[u32], id: u32) -> &'a [T] {
    let id = id as usize;
    let Some(&end) = ends.get(id) else { return &[] };
    let start = if id == 0 { 0 } else { ends.get(id - 1).copied().unwrap_or(0) };
    items.get(start as usize..end as usize).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_share_a_handle() {
        let mut table = SliceTable::default();
        let first = table.intern(&[4i64, 8]);
        assert_eq!(table.intern(&[4, 8]), first);
        assert_ne!(table.intern(&[8, 4]), first);
        assert_eq!(table.get(first), [4, 8]);
        assert_eq!(table.intern(&[]), SliceId::EMPTY);
        assert!(table.get(SliceId::new(99)).is_empty());
    }
}
