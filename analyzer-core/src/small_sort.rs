//! Sorting in few bytes of code.
//!
//! The standard library's sorts are fast and come as five kilobytes of code for each type of item, which a page has to load. Here all types
//! share one sort, of places; it is for what is short or sorted once in a job.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Stable sorts.
pub trait SmallSort<T> {
    /// Sorts by `compare`.
    fn sort_small_by(&mut self, compare: impl Fn(&T, &T) -> Ordering);

    /// Sorts by a key.
    fn sort_small_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K) {
        self.sort_small_by(|a, b| key(a).cmp(&key(b)));
    }

    /// Sorts by a key that is worked out once for each item.
    fn sort_small_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);

    /// Sorts by the items' own order.
    fn sort_small(&mut self)
    where
        T: Ord,
    {
        self.sort_small_by(Ord::cmp);
    }
}

impl<T> SmallSort<T> for [T] {
    fn sort_small_by(&mut self, compare: impl Fn(&T, &T) -> Ordering) {
        let order = order(self, compare);
        bring_to_order(self, order);
    }

    fn sort_small_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
        let keys: Vec<K> = self.iter().map(key).collect();
        bring_to_order(self, order(&keys, Ord::cmp));
    }
}

fn order<T>(items: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Vec<usize> {
    sorted_places(items.len(), &|a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    })
}

/// The places of `len` items in the order in which they are to stand.
pub fn sorted_places(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..len).collect();
    places.sort_by(|&a, &b| compare(a, b));
    places
}

/// Brings the items to where they are to stand: first the one at the first of `order`, and so on.
pub(crate) fn bring_to_order<T>(items: &mut [T], order: Vec<usize>) {
    swap_to_order(order, &mut |at, place| items.swap(at, place));
}

/// Asks for the swaps, one after the other, that bring each item to where it is to stand.
fn swap_to_order(order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    let mut target = alloc::vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        target[from] = to;
    }
    drop(order);
    for at in 0..target.len() {
        while target[at] != at {
            let to = target[at];
            swap(at, to);
            target.swap(at, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_as_the_standard_library_does() {
        let mut state = 7_u32;
        for len in 0..60 {
            let mut items: Vec<(u32, usize)> = (0..len)
                .map(|at| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 29, at)
                })
                .collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| core::cmp::Reverse(item.0));
            items.sort_small_by_key(|item| core::cmp::Reverse(item.0));
            assert_eq!(items, expected);
            let by_key = |item: &(u32, usize)| core::cmp::Reverse(item.0);
            items.sort_small();
            assert!(items.is_sorted());
            items.sort_small_by_cached_key(by_key);
            assert_eq!(items, expected);
        }
    }
}
