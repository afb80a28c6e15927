//! The ring of recordings. Writing takes no lock and no memory: a ticket says which slot, and whoever finds it being
//! written takes the next ticket.

use crate::slot::{Reading, Slot, SlotCopy, Step};
use crate::sync::{AtomicU64, Ordering, TRIES};

/// Recordings of `WORDS` words each, and a stack of up to `depth` words beside each.
#[derive(Debug)]
pub(crate) struct Ring<const WORDS: usize> {
    slots: Box<[Slot<WORDS>]>,
    stacks: Box<[AtomicU64]>,
    depth: usize,
    tickets: AtomicU64,
    lost: AtomicU64,
}

/// All of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RingCopy<const WORDS: usize> {
    pub slot: SlotCopy<WORDS>,
    /// As many words as the ring's depth; the recording knows how many of them it set.
    pub stack: Box<[u64]>,
}

/// All recordings of a ring, the oldest first.
#[derive(Debug)]
pub(crate) struct RingCopies<const WORDS: usize> {
    pub recordings: Vec<RingCopy<WORDS>>,
    /// Slots that were being written at every try.
    pub busy: usize,
}

impl<const WORDS: usize> Ring<WORDS> {
    /// `capacity`: slots, at least one.
    pub(crate) fn new(capacity: usize, depth: usize) -> Self {
        let capacity = capacity.max(1);
        Self {
            slots: (0..capacity).map(|_| Slot::new()).collect(),
            stacks: (0..capacity * depth).map(|_| AtomicU64::new(0)).collect(),
            depth,
            tickets: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Words of stack beside each recording.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// How many tickets were taken: the ticket of the next recording.
    pub(crate) fn tickets(&self) -> u64 {
        self.tickets.load(Ordering::Relaxed)
    }

    /// Recordings that found no slot.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Records; gives the ticket. `None`: every slot was being written, which takes as many threads as there are slots.
    pub(crate) fn put(&self, words: &[u64; WORDS], stack: &[u64]) -> Option<u64> {
        for _ in 0..self.slots.len() {
            let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
            let (index, slot) = self.slot(ticket);
            let Some(claim) = slot.claim(ticket) else { continue };
            slot.fill(&claim, self.tag(ticket), words);
            for (place, word) in self.stack(index).iter().zip(stack) {
                place.store(*word, Ordering::Relaxed);
            }
            slot.publish(claim);
            return Some(ticket);
        }
        self.lost.fetch_add(1, Ordering::Relaxed);
        None
    }

    pub(crate) fn set(&self, ticket: u64, step: Step, value: u64) -> bool {
        self.slot(ticket).1.set(ticket, self.tag(ticket), step, value)
    }

    pub(crate) fn mark(&self, ticket: u64, add: u64, remove: u64) -> bool {
        self.slot(ticket).1.mark(ticket, self.tag(ticket), add, remove)
    }

    pub(crate) fn amend(&self, ticket: u64, change: impl FnOnce(&mut [u64; WORDS])) -> bool {
        self.slot(ticket).1.amend(ticket, change)
    }

    pub(crate) fn word(&self, ticket: u64, index: usize) -> Option<u64> {
        self.slot(ticket).1.word(ticket, index)
    }

    /// Copies every recording that is there. Others go on recording meanwhile: each copy is whole, but the older ones
    /// may be overwritten while the newer ones are read.
    pub(crate) fn copies(&self) -> RingCopies<WORDS> {
        let mut recordings = Vec::with_capacity(self.slots.len());
        let mut busy = 0;
        for index in 0..self.slots.len() {
            match self.copy(index) {
                Reading::Whole(copy) => recordings.push(copy),
                Reading::Busy => busy += 1,
                Reading::Empty => {}
            }
        }
        recordings.sort_unstable_by_key(|copy| copy.slot.ticket);
        RingCopies { recordings, busy }
    }

    fn copy(&self, index: usize) -> Reading<RingCopy<WORDS>> {
        let mut stack = vec![0; self.depth].into_boxed_slice();
        for _ in 0..TRIES {
            let reading = self.slots[index].copy(|| {
                for (word, place) in stack.iter_mut().zip(self.stack(index)) {
                    *word = place.load(Ordering::Relaxed);
                }
            });
            match reading {
                Reading::Empty => return Reading::Empty,
                Reading::Busy => {}
                Reading::Whole(slot) => return Reading::Whole(RingCopy { slot, stack }),
            }
        }
        Reading::Busy
    }

    fn stack(&self, index: usize) -> &[AtomicU64] {
        &self.stacks[index * self.depth..(index + 1) * self.depth]
    }

    #[expect(clippy::cast_possible_truncation, reason = "the remainder of a length fits where the length does")]
    fn slot(&self, ticket: u64) -> (usize, &Slot<WORDS>) {
        let index = (ticket % self.slots.len() as u64) as usize;
        (index, &self.slots[index])
    }

    /// Sixteen bits of the round that a ticket belongs to.
    fn tag(&self, ticket: u64) -> u64 {
        (ticket / self.slots.len() as u64) & 0xffff
    }
}
