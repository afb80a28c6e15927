//! An order of items that stand elsewhere.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// So many places are moved at most to put one in.
const CHUNK: usize = 256;

/// The places of items in the items' order, in chunks, none of which is empty.
#[derive(Clone, Default)]
pub(crate) struct Places {
    chunks: Vec<Vec<u32>>,
}

/// Where in [`Places`] an item is, or would be.
#[derive(Clone, Copy)]
pub(crate) struct Spot {
    chunk: usize,
    at: usize,
}

impl Places {
    pub const fn new() -> Places {
        Places { chunks: Vec::new() }
    }

    /// The places 0 to `len`, in this order.
    pub fn settled(len: usize) -> Places {
        let all: Vec<u32> = (0..len as u32).collect();
        Places { chunks: all.chunks(CHUNK).map(<[u32]>::to_vec).collect() }
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + Clone {
        self.chunks.iter().flatten().copied()
    }

    /// Where the item is to which `compare` says that it is equal; else where it would be.
    #[inline(never)]
    pub fn find(&self, compare: &dyn Fn(u32) -> Ordering) -> Result<(Spot, u32), Spot> {
        let is_less = |place: &u32| compare(*place) == Ordering::Less;
        let last = self.chunks.len().saturating_sub(1);
        let chunk = self.chunks.partition_point(|chunk| chunk.last().is_some_and(is_less)).min(last);
        let Some(places) = self.chunks.get(chunk) else { return Err(Spot { chunk, at: 0 }) };
        let at = places.partition_point(is_less);
        let spot = Spot { chunk, at };
        match places.get(at) {
            Some(&place) if compare(place) == Ordering::Equal => Ok((spot, place)),
            _ => Err(spot),
        }
    }

    #[inline(never)]
    pub fn insert(&mut self, spot: Spot, place: u32) {
        let Some(chunk) = self.chunks.get_mut(spot.chunk) else {
            self.chunks.push(alloc::vec![place]);
            return;
        };
        chunk.insert(spot.at.min(chunk.len()), place);
        if chunk.len() > CHUNK {
            // What comes in order fills its chunks.
            let keep = if spot.at == CHUNK { CHUNK } else { CHUNK / 2 };
            let rest = chunk.split_off(keep);
            self.chunks.insert(spot.chunk + 1, rest);
        }
    }

    /// Takes a place out.
    pub fn remove(&mut self, spot: Spot) {
        let Some(chunk) = self.chunks.get_mut(spot.chunk) else { return };
        chunk.remove(spot.at);
        if chunk.is_empty() {
            self.chunks.remove(spot.chunk);
        }
    }

    /// Puts `place` where another was.
    pub fn set(&mut self, spot: Spot, place: u32) {
        if let Some(there) = self.chunks.get_mut(spot.chunk).and_then(|chunk| chunk.get_mut(spot.at)) {
            *there = place;
        }
    }
}
