//! One place of the ring.
//!
//! All words are atomics, so that a reader who comes while they are written sees old or new ones, never undefined
//! behaviour; the sequence tells him whether they belong together. For the recording with ticket `n` it is `n + 1` in
//! the upper bits, and below a phase that is odd while the words are written and even when they are whole; 0 is a slot
//! that was never used. A change of the words takes two phases, so that a reader notices it.

use crate::sync::{AtomicU64, Ordering, fence};

/// What belongs to one recording and is set once, as words. `ticket` numbers the recordings of a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SlotCopy<const WORDS: usize> {
    pub ticket: u64,
    pub words: [u64; WORDS],
    pub progress: Progress,
}

/// What happens to a recording after it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Nanoseconds from its making to its start; 0 is never.
    pub started: u64,
    /// Nanoseconds from its making to its end; 0 is never.
    pub completed: u64,
    /// Bits that its maker gives a meaning.
    pub marks: u64,
}

/// These belong to one recording and change later. The upper bits of each hold the recording's tag, so that who comes
/// late, with the handle of a recording that is gone, changes nothing.
#[repr(align(128))]
#[derive(Debug)]
pub(crate) struct Slot<const WORDS: usize> {
    sequence: AtomicU64,
    started: AtomicU64,
    completed: AtomicU64,
    marks: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// Bits of a changing word that hold its value: 78 hours in nanoseconds.
const VALUE_BITS: u32 = 48;
/// The largest value of a changing word.
pub(crate) const MAX_VALUE: u64 = (1 << VALUE_BITS) - 1;

/// Bits of the sequence that hold the phase.
const PHASE_BITS: u32 = 8;
/// The phase of a recording that is whole, and was never changed.
const WHOLE: u64 = 2;
/// The last phase from which a change still goes up; the next one begins again at [`WHOLE`].
const LAST: u64 = (1 << PHASE_BITS) - 4;

/// The sequence of a recording that is whole, and was never changed.
fn whole(ticket: u64) -> u64 {
    (ticket + 1) << PHASE_BITS | WHOLE
}

/// Which of the changing words.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Started,
    Completed,
}

/// A recording that is being written: nobody else writes in this slot until it is published.
#[derive(Debug)]
pub(crate) struct Claim(u64);

impl<const WORDS: usize> Slot<WORDS> {
    pub(crate) fn new() -> Self {
        Self {
            sequence: AtomicU64::new(0),
            started: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            marks: AtomicU64::new(0),
            words: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Takes the slot for a new recording. `None`: somebody is in the middle of writing here, or a later recording has
    /// come first.
    pub(crate) fn claim(&self, ticket: u64) -> Option<Claim> {
        let writing = whole(ticket) - 1;
        let seen = self.sequence.load(Ordering::Relaxed);
        if !seen.is_multiple_of(2) || seen > writing {
            return None;
        }
        self.sequence.compare_exchange(seen, writing, Ordering::Acquire, Ordering::Relaxed).ok()?;
        // No word may be seen changed by whoever still sees the old sequence.
        fence(Ordering::Release);
        Some(Claim(ticket))
    }

    /// Fills a claimed slot. `tag` is the ring's for this ticket.
    pub(crate) fn fill(&self, _: &Claim, tag: u64, words: &[u64; WORDS]) {
        for (place, word) in self.words.iter().zip(words) {
            place.store(*word, Ordering::Relaxed);
        }
        for word in [&self.started, &self.completed, &self.marks] {
            // An exchange, for whoever is late with the last recording's progress does one too.
            word.swap(tag << VALUE_BITS, Ordering::Relaxed);
        }
    }

    /// Makes a filled slot visible.
    pub(crate) fn publish(&self, claim: Claim) {
        self.sequence.store(whole(claim.0), Ordering::Release);
    }

    /// Changes the words of the recording with this ticket. False: it is gone, or somebody is changing it.
    pub(crate) fn amend(&self, ticket: u64, change: impl FnOnce(&mut [u64; WORDS])) -> bool {
        let seen = self.sequence.load(Ordering::Relaxed);
        if seen >> PHASE_BITS != ticket + 1 || !seen.is_multiple_of(2) {
            return false;
        }
        if self.sequence.compare_exchange(seen, seen + 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return false;
        }
        fence(Ordering::Release);
        let mut words = std::array::from_fn(|index| self.words[index].load(Ordering::Relaxed));
        change(&mut words);
        for (place, word) in self.words.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        let phase = seen & ((1 << PHASE_BITS) - 1);
        let next = if phase > LAST { whole(ticket) } else { seen + 2 };
        self.sequence.store(next, Ordering::Release);
        true
    }

    /// Sets a changing word once. False: the recording is gone, or it was set before.
    ///
    /// Between the look at the sequence and the exchange the slot can be given to another recording; then the tag
    /// differs. For it to be equal again, 65,536 rounds of the ring would have to pass in between.
    pub(crate) fn set(&self, ticket: u64, tag: u64, step: Step, value: u64) -> bool {
        let word = match step {
            Step::Started => &self.started,
            Step::Completed => &self.completed,
        };
        let unset = tag << VALUE_BITS;
        self.holds(ticket)
            && word
                .compare_exchange(unset, unset | value.clamp(1, MAX_VALUE), Ordering::Release, Ordering::Relaxed)
                .is_ok()
    }

    /// Adds and removes bits of the marks. False: the recording is gone.
    pub(crate) fn mark(&self, ticket: u64, tag: u64, add: u64, remove: u64) -> bool {
        loop {
            if !self.holds(ticket) {
                return false;
            }
            let seen = self.marks.load(Ordering::Relaxed);
            if seen >> VALUE_BITS != tag {
                return false;
            }
            let next = (seen & !(remove & MAX_VALUE)) | (add & MAX_VALUE);
            if self.marks.compare_exchange(seen, next, Ordering::Release, Ordering::Relaxed).is_ok() {
                return true;
            }
        }
    }

    /// The word with this index, of the recording with this ticket; one that amending leaves alone. `None`: it is gone.
    pub(crate) fn word(&self, ticket: u64, index: usize) -> Option<u64> {
        if !self.holds(ticket) {
            return None;
        }
        let word = self.words.get(index)?.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        self.holds(ticket).then_some(word)
    }

    fn holds(&self, ticket: u64) -> bool {
        self.sequence.load(Ordering::Acquire) >> PHASE_BITS == ticket + 1
    }

    /// One try at a whole copy; `extra` copies what else belongs to the recording.
    pub(crate) fn copy(&self, extra: impl FnOnce()) -> Reading<SlotCopy<WORDS>> {
        let before = self.sequence.load(Ordering::Acquire);
        if before == 0 {
            return Reading::Empty;
        }
        if !before.is_multiple_of(2) {
            return Reading::Busy;
        }
        let words = std::array::from_fn(|index| self.words[index].load(Ordering::Relaxed));
        let [started, completed, marks] =
            [&self.started, &self.completed, &self.marks].map(|word| word.load(Ordering::Relaxed) & MAX_VALUE);
        extra();
        fence(Ordering::Acquire);
        if self.sequence.load(Ordering::Relaxed) != before {
            return Reading::Busy;
        }
        Reading::Whole(SlotCopy {
            ticket: (before >> PHASE_BITS) - 1,
            words,
            progress: Progress { started, completed, marks },
        })
    }
}

/// What a look at a slot gave.
#[derive(Debug)]
pub(crate) enum Reading<T> {
    /// Nothing was ever recorded here.
    Empty,
    /// Somebody was writing.
    Busy,
    /// All of one recording.
    Whole(T),
}
