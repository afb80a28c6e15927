//! The ring under a model checker: every order in which threads can come to its atomics, as far as the memory model
//! lets them differ.

// The ring's own files, with the checker's atomics in place of the processor's. What they offer and no model needs is
// not used here.
#[path = "../src/ring.rs"]
#[allow(dead_code)]
mod ring;
#[path = "../src/slot.rs"]
#[allow(dead_code)]
mod slot;

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};

    /// Each try doubles the orders that there are.
    pub(crate) const TRIES: usize = 2;
}

use std::sync::Arc;

use loom::thread;
use ring::{Ring, RingCopy};
use slot::Step;

/// All orders in which a thread is interrupted at most three times; more find nothing new and take hours.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// A recording whose words and stack all say the same.
fn put(ring: &Ring<2>, value: u64) -> Option<u64> {
    ring.put(&[value, value], &[value])
}

fn assert_whole(copy: &RingCopy<2>) {
    let [first, second] = copy.slot.words;
    assert_eq!(first, second);
    assert_eq!(copy.stack[0], first);
}

#[test]
fn a_reader_sees_one_recording_or_none() {
    check(|| {
        let ring = Arc::new(Ring::<2>::new(1, 1));
        put(&ring, 7);
        let writer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || put(&ring, 8))
        };
        for copy in ring.copies().recordings {
            assert_whole(&copy);
            assert!([7, 8].contains(&copy.slot.words[0]));
            assert_eq!(copy.slot.ticket, copy.slot.words[0] - 7);
        }
        assert_eq!(writer.join().unwrap(), Some(1));
        assert_eq!(ring.copies().recordings.len(), 1);
    });
}

#[test]
fn two_writers_never_mix() {
    check(|| {
        let ring = Arc::new(Ring::<2>::new(1, 1));
        let writer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || put(&ring, 8))
        };
        let mine = put(&ring, 7);
        let other = writer.join().unwrap();
        // At most one of them found the only slot taken.
        assert!(mine.is_some() || other.is_some());
        let recordings = ring.copies().recordings;
        assert_eq!(recordings.len(), 1);
        assert_whole(&recordings[0]);
    });
}

#[test]
fn an_end_that_comes_late_is_nobody_elses() {
    check(|| {
        let ring = Arc::new(Ring::<2>::new(1, 1));
        let old = put(&ring, 7).unwrap();
        let finisher = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || ring.set(old, Step::Completed, 5))
        };
        let new = put(&ring, 8);
        finisher.join().unwrap();
        let recordings = ring.copies().recordings;
        assert_eq!(new, Some(1));
        assert_whole(&recordings[0]);
        assert_eq!(recordings[0].slot.words[0], 8);
        assert_eq!(recordings[0].slot.progress.completed, 0);
    });
}

#[test]
fn a_change_is_seen_whole_or_not_at_all() {
    check(|| {
        let ring = Arc::new(Ring::<2>::new(1, 1));
        let ticket = put(&ring, 7).unwrap();
        let owner = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                assert!(ring.amend(ticket, |words| *words = [9, 9]));
                assert!(ring.set(ticket, Step::Completed, 5));
                assert!(ring.mark(ticket, 1, 0));
            })
        };
        for copy in ring.copies().recordings {
            let [first, second] = copy.slot.words;
            assert_eq!(first, second);
            // What was told after the change is not seen without it.
            if copy.slot.progress.marks == 1 || copy.slot.progress.completed == 5 {
                assert_eq!(first, 9);
            }
        }
        owner.join().unwrap();
        assert_eq!(ring.word(ticket, 0), Some(9));
    });
}

#[test]
fn an_end_finds_its_recording_while_that_is_changed() {
    check(|| {
        let ring = Arc::new(Ring::<2>::new(1, 1));
        let ticket = put(&ring, 7).unwrap();
        let finisher = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || ring.set(ticket, Step::Completed, 5))
        };
        assert!(ring.amend(ticket, |words| words[1] = 7));
        assert!(finisher.join().unwrap());
        assert_eq!(ring.copies().recordings[0].slot.progress.completed, 5);
    });
}
