//! Maps and sets in few bytes of code.
//!
//! `collect` sorts all items first, by a sort of its own for each type: five kilobytes of code that a page has to load. Here one item is put in
//! after the other.

use alloc::collections::{BTreeMap, BTreeSet};

/// A map of the pairs; of two with the same key, the later one stays.
pub fn tree_map<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(pairs);
    map
}

/// A set of the items.
pub fn tree_set<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}
