//! A map in its keys' order, in few bytes of code.

use alloc::vec;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::iter::FromIterator;

use crate::places::{Places, Spot};
use crate::small_sort::bring_to_order;

/// A map that is iterated in its keys' order.
///
/// The standard library's tree comes anew for each type of key and value, and a page has to load all of them. Here the search is one for
/// all types; the pairs stand in the order in which they came.
#[derive(Clone)]
pub struct TreeMap<K, V> {
    pairs: Vec<(K, V)>,
    places: Places,
}

impl<K, V> TreeMap<K, V> {
    /// A map without pairs.
    pub const fn new() -> TreeMap<K, V> {
        TreeMap { pairs: Vec::new(), places: Places::new() }
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The pairs in their keys' order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> + Clone {
        self.places.iter().filter_map(|place| self.pairs.get(place as usize)).map(|(key, value)| (key, value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// The values in their keys' order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// Keeps those pairs of which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        bring_to_order(&mut self.pairs, self.places.iter().map(|place| place as usize).collect());
        self.pairs.retain_mut(|(key, value)| keep(key, value));
        self.places = Places::settled(self.pairs.len());
    }
}

impl<K: Ord, V> TreeMap<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<(Spot, u32), Spot>
    where
        K: Borrow<Q>,
    {
        let pairs = self.pairs.as_slice();
        self.places.find(&|place| match pairs.get(place as usize) {
            Some((other, _)) => other.borrow().cmp(key),
            None => core::cmp::Ordering::Less,
        })
    }

    /// The value of `key`.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let (_, place) = self.find(key).ok()?;
        self.pairs.get(place as usize).map(|(_, value)| value)
    }

    /// The value of `key`, to change it.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (_, place) = self.find(key).ok()?;
        self.pairs.get_mut(place as usize).map(|(_, value)| value)
    }

    /// Whether `key` has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Gives `key` a value, and back the one that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok((_, place)) => self.pairs.get_mut(place as usize).map(|pair| core::mem::replace(&mut pair.1, value)),
            Err(spot) => {
                self.places.insert(spot, self.pairs.len() as u32);
                self.pairs.push((key, value));
                None
            }
        }
    }

    /// Takes the pair of `key` out.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (spot, place) = self.find(key).ok()?;
        // The last pair takes its place.
        if let Some((last, _)) = self.pairs.last()
            && let Ok((last, _)) = self.find(last.borrow())
        {
            self.places.set(last, place);
        }
        self.places.remove(spot);
        Some(self.pairs.swap_remove(place as usize).1)
    }

    /// The place of `key` in the map, with a value or without.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        let found = self.find(&key);
        Entry { map: self, key, found }
    }
}

/// A place in a map, see [`TreeMap::entry`].
#[allow(missing_debug_implementations)]
pub struct Entry<'map, K, V> {
    map: &'map mut TreeMap<K, V>,
    key: K,
    found: Result<(Spot, u32), Spot>,
}

impl<'map, K, V> Entry<'map, K, V> {
    /// The value that is there; if there is none, `value` after it is put there.
    pub fn or_insert(self, value: V) -> &'map mut V {
        self.or_insert_with_key(|_| value)
    }

    /// The value that is there; if there is none, the default one after it is put there.
    pub fn or_default(self) -> &'map mut V
    where
        V: Default,
    {
        self.or_insert_with_key(|_| V::default())
    }

    /// The value that is there; if there is none, what `value` makes after it is put there.
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'map mut V {
        self.or_insert_with_key(|_| value())
    }

    /// The value that is there; if there is none, what `value` makes of the key after it is put there.
    pub fn or_insert_with_key(self, value: impl FnOnce(&K) -> V) -> &'map mut V {
        let Entry { map, key, found } = self;
        let place = match found {
            Ok((_, place)) => place as usize,
            Err(spot) => {
                let value = value(&key);
                map.places.insert(spot, map.pairs.len() as u32);
                map.pairs.push((key, value));
                map.pairs.len() - 1
            }
        };
        &mut map.pairs[place].1
    }
}

impl<K, V> Default for TreeMap<K, V> {
    fn default() -> TreeMap<K, V> {
        TreeMap::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for TreeMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for TreeMap<K, V> {
    fn eq(&self, other: &TreeMap<K, V>) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for TreeMap<K, V> {}

impl<K: Ord, V> Extend<(K, V)> for TreeMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, pairs: I) {
        pairs.into_iter().for_each(|(key, value)| {
            self.insert(key, value);
        });
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for TreeMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> TreeMap<K, V> {
        let mut map = TreeMap::new();
        map.extend(pairs);
        map
    }
}

impl<K, V> IntoIterator for TreeMap<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    fn into_iter(self) -> vec::IntoIter<(K, V)> {
        let TreeMap { mut pairs, places } = self;
        bring_to_order(&mut pairs, places.iter().map(|place| place as usize).collect());
        pairs.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::string::{String, ToString as _};

    use super::*;

    #[test]
    fn does_what_the_standard_librarys_tree_does() {
        let mut state = 7_u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        // Few keys and many, so that chunks split and become empty.
        for keys in [5, 3000] {
            let (mut map, mut expected) = (TreeMap::new(), BTreeMap::new());
            for _ in 0..6000 {
                let (key, value) = (next(keys), next(100));
                match next(5) {
                    0 => assert_eq!(map.remove(&key), expected.remove(&key)),
                    1 => assert_eq!(map.get(&key), expected.get(&key)),
                    2 => {
                        *map.entry(key).or_default() += value;
                        *expected.entry(key).or_default() += value;
                    }
                    _ => assert_eq!(map.insert(key, value), expected.insert(key, value)),
                }
                assert_eq!(map.len(), expected.len());
            }
            assert!(map.iter().eq(expected.iter()));
            assert!(map.iter().rev().eq(expected.iter().rev()));
            map.retain(|key, value| (*key + *value) % 3 > 0);
            expected.retain(|key, value| (*key + *value) % 3 > 0);
            assert!(map.keys().eq(expected.keys()) && map.values().eq(expected.values()));
            assert_eq!(map.contains_key(&1), expected.contains_key(&1));
            while map.len() > 20 {
                let first = map.keys().next().copied().unwrap();
                assert_eq!(map.remove(&first), expected.remove(&first));
            }
            assert!(map.into_iter().eq(expected));
        }
    }

    #[test]
    fn what_comes_in_order_and_against_it_is_in_order() {
        let up: TreeMap<u32, ()> = (0..2000).map(|key| (key, ())).collect();
        let down: TreeMap<u32, ()> = (0..2000).rev().map(|key| (key, ())).collect();
        assert_eq!(up, down);
        assert!(up.keys().copied().eq(0..2000));
    }

    #[test]
    fn a_key_may_be_looked_up_by_what_it_borrows() {
        let map: TreeMap<String, u8> = [("b".to_string(), 1), ("a".to_string(), 2)].into_iter().collect();
        assert_eq!(map.get("a"), Some(&2));
        assert_eq!(map.get("c"), None);
    }
}
