//! A set in its items' order, in few bytes of code.

use alloc::vec;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

use crate::tree_map::TreeMap;

/// A set that is iterated in its items' order; see [`TreeMap`].
#[derive(Clone, PartialEq, Eq)]
pub struct TreeSet<T> {
    items: TreeMap<T, ()>,
}

impl<T> TreeSet<T> {
    /// A set without items.
    pub const fn new() -> TreeSet<T> {
        TreeSet { items: TreeMap::new() }
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.items.keys()
    }

    /// The least item.
    pub fn first(&self) -> Option<&T> {
        self.iter().next()
    }

    /// The greatest item.
    pub fn last(&self) -> Option<&T> {
        self.iter().next_back()
    }
}

impl<T: Ord> TreeSet<T> {
    /// Whether the item is there.
    pub fn contains<Q: Ord + ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.items.contains_key(item)
    }

    /// Puts an item in; whether it was not there.
    pub fn insert(&mut self, item: T) -> bool {
        self.items.insert(item, ()).is_none()
    }

    /// Takes an item out; whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.items.remove(item).is_some()
    }
}

impl<T> Default for TreeSet<T> {
    fn default() -> TreeSet<T> {
        TreeSet::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for TreeSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<T: Ord> Extend<T> for TreeSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| {
            self.insert(item);
        });
    }
}

impl<'a, T: Ord + Copy + 'a> Extend<&'a T> for TreeSet<T> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, items: I) {
        self.extend(items.into_iter().copied());
    }
}

impl<T: Ord> FromIterator<T> for TreeSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> TreeSet<T> {
        let mut set = TreeSet::new();
        set.extend(items);
        set
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for TreeSet<T> {
    fn from(items: [T; N]) -> Self {
        Self::from_iter(items)
    }
}

impl<T> IntoIterator for TreeSet<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> vec::IntoIter<T> {
        self.items.into_iter().map(|(item, ())| item).collect::<Vec<T>>().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_each_item_once_and_in_order() {
        let mut set: TreeSet<u32> = [3, 1, 2, 3, 1].into_iter().collect();
        assert_eq!(set.len(), 3);
        assert!(!set.insert(2) && set.insert(0) && set.remove(&3) && !set.remove(&3));
        assert_eq!((set.first(), set.last(), set.contains(&1), set.contains(&3)), (Some(&0), Some(&2), true, false));
        assert_eq!(set.into_iter().collect::<Vec<u32>>(), [0, 1, 2]);
    }
}
