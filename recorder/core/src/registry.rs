//! All communicators of the process, by the number that the ring's words hold.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Communicator, CommunicatorInfo};

/// Communicators by number. One that was freed keeps its number until the ring holds nothing of it any more, so that a
/// program that makes and frees them for days does not grow.
///
/// The lock is taken when one is made or freed and when a dump is written, never to record, and nothing but memory is
/// touched under it.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    places: Vec<Option<Arc<Communicator>>>,
    vacant: Vec<u32>,
    /// Freed ones and the ticket before which all their recordings were made, the oldest first.
    freed: VecDeque<(u64, u32)>,
}

impl Registry {
    /// Makes a communicator when the ring's next ticket is `ticket`; `capacity` is the ring's.
    pub(crate) fn add(&self, info: CommunicatorInfo, ticket: u64, capacity: u64) -> Arc<Communicator> {
        let mut inner = self.lock();
        while let Some(&(freed, index)) = inner.freed.front()
            && freed + capacity <= ticket
        {
            inner.freed.pop_front();
            inner.vacate(index);
        }
        let index = inner.vacant.pop().unwrap_or_else(|| {
            inner.places.push(None);
            u32::try_from(inner.places.len() - 1).unwrap_or(u32::MAX)
        });
        let communicator = Arc::new(Communicator::new(index, ticket, info));
        inner.put(index, &communicator);
        communicator
    }

    /// Notes that the program gave one up when the ring's next ticket was `ticket`.
    pub(crate) fn free(&self, communicator: &Communicator, ticket: u64) {
        if !communicator.is_freed() {
            communicator.free();
            self.lock().freed.push_back((ticket, communicator.index));
        }
    }

    /// All that are known, by number.
    pub(crate) fn all(&self) -> Vec<Option<Arc<Communicator>>> {
        self.lock().places.clone()
    }

    /// A panic elsewhere left nothing half done in here: every step is whole.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn put(&mut self, index: u32, communicator: &Arc<Communicator>) {
        if let Some(place) = self.places.get_mut(index as usize) {
            *place = Some(Arc::clone(communicator));
        }
    }

    fn vacate(&mut self, index: u32) {
        if let Some(place) = self.places.get_mut(index as usize) {
            *place = None;
            self.vacant.push(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str) -> CommunicatorInfo {
        CommunicatorInfo::of_world(name, 0, 1)
    }

    #[test]
    fn a_number_is_given_again_once_the_ring_forgot_it() {
        let registry = Registry::default();
        let first = registry.add(info("a"), 0, 50);
        registry.free(&first, 100);
        registry.free(&first, 200);
        assert_eq!(registry.add(info("b"), 149, 50).index, 1);
        assert_eq!(registry.add(info("c"), 150, 50).index, 0);
        let names: Vec<_> = registry.all().iter().flatten().map(|one| one.info().name.clone()).collect();
        assert_eq!(names, ["c", "b"]);
    }

    #[test]
    fn ten_thousand_made_and_freed_take_the_places_of_a_few() {
        let registry = Registry::default();
        for ticket in 0..10_000 {
            let one = registry.add(info("x"), ticket, 50);
            registry.free(&one, ticket);
        }
        assert!(registry.all().len() < 60);
    }
}
