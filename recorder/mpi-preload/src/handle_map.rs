//! Maps by handle.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by handles of the MPI library, which nobody chooses so that they collide.
pub(crate) type HandleMap<T> = HashMap<usize, T, BuildHasherDefault<HandleHasher>>;

/// Spreads addresses and small numbers over all bits, by the golden ratio.
#[derive(Debug, Default)]
pub(crate) struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let spread = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ (spread >> 32);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}
