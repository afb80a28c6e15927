//! Values by number, of which the newest are kept.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// As many values as it has places; a new one takes the place of the oldest. Numbers begin at 1 and are never given
/// again.
///
/// Each place has its own lock, held for as long as a value is looked at: nothing that can wait belongs there.
#[derive(Debug)]
pub(crate) struct Table<T> {
    places: Box<[Mutex<Place<T>>]>,
    given: AtomicU64,
}

/// A value with its number.
type Place<T> = Option<(u64, T)>;

impl<T> Table<T> {
    pub(crate) fn new(places: usize) -> Self {
        Self { places: (0..places.max(1)).map(|_| Mutex::new(None)).collect(), given: AtomicU64::new(0) }
    }

    pub(crate) fn put(&self, value: T) -> u64 {
        let number = self.given.fetch_add(1, Ordering::Relaxed) + 1;
        self.put_at(number, value);
        number
    }

    /// Keeps a value by a number that comes from elsewhere.
    pub(crate) fn put_at(&self, number: u64, value: T) {
        *self.place(number) = Some((number, value));
    }

    /// Looks at a value, if it is still there.
    pub(crate) fn with<R>(&self, number: u64, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        match &mut *self.place(number) {
            Some((own, value)) if *own == number => Some(look(value)),
            _ => None,
        }
    }

    pub(crate) fn take(&self, number: u64) -> Option<T> {
        self.place(number).take_if(|(own, _)| *own == number).map(|(_, value)| value)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the remainder of a length fits where the length does")]
    fn place(&self, number: u64) -> MutexGuard<'_, Place<T>> {
        let index = (number % self.places.len() as u64) as usize;
        self.places[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn the_newest_are_kept_and_the_old_are_not_mistaken_for_them() {
        let table = Table::new(2);
        let numbers = [table.put('a'), table.put('b'), table.put('c')];
        assert_eq!(table.with(numbers[0], |value| *value), None);
        assert_eq!(table.with(numbers[1], |value| *value), Some('b'));
        assert_eq!(table.take(numbers[2]), Some('c'));
        assert_eq!(table.take(numbers[2]), None);
        assert_eq!(table.with(0, |value| *value), None);
    }
}
