//! The program's requests, by their handles.

use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::handle_map::HandleMap;
use crate::tracked::Tracked;

/// Requests by handle. A library may give several requests that have ended already one handle, so one handle can stand
/// for several; they have all ended then, and which is which does not matter.
///
/// Only who may wait for a request may take it out, and does so before the library can give its handle to another. The
/// locks are held over memory only, never while MPI is called.
#[derive(Debug)]
pub(crate) struct RequestTable {
    shards: [Mutex<HandleMap<Place>>; SHARDS],
}

#[derive(Debug)]
enum Place {
    One(Tracked),
    Several(Vec<Tracked>),
}

const SHARDS: usize = 64;

impl RequestTable {
    pub(crate) fn new() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()) }
    }

    pub(crate) fn put(&self, handle: usize, tracked: Tracked) {
        match self.shard(handle).entry(handle) {
            Entry::Vacant(vacant) => {
                vacant.insert(Place::One(tracked));
            }
            Entry::Occupied(mut occupied) => {
                let place = occupied.get_mut();
                match place {
                    Place::Several(list) => list.push(tracked),
                    Place::One(first) => *place = Place::Several(vec![first.clone(), tracked]),
                }
            }
        }
    }

    pub(crate) fn take(&self, handle: usize) -> Option<Tracked> {
        let mut shard = self.shard(handle);
        match shard.remove(&handle)? {
            Place::One(tracked) => Some(tracked),
            Place::Several(mut list) => {
                let tracked = list.pop();
                if !list.is_empty() {
                    shard.insert(handle, Place::Several(list));
                }
                tracked
            }
        }
    }

    fn shard(&self, handle: usize) -> MutexGuard<'_, HandleMap<Place>> {
        // Handles are addresses, or numbers that count up.
        let index = (handle ^ (handle >> 7) ^ (handle >> 13)) % SHARDS;
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use hangscope_recorder::Handle;

    use super::*;

    #[test]
    fn one_handle_may_stand_for_several() {
        let table = RequestTable::new();
        for word in 1..=3 {
            table.put(77, Tracked::of(Handle::from_word(word)));
        }
        let mut words: Vec<_> = std::iter::from_fn(|| table.take(77)).map(|one| one.handle.to_word()).collect();
        words.sort_unstable();
        assert_eq!(words, [1, 2, 3]);
        assert!(table.take(77).is_none());
    }
}
