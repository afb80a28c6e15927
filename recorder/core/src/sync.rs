//! The atomics that the ring is made of. The model checker's test compiles the ring with its own.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Tries at a slot that changes while it is read.
pub(crate) const TRIES: usize = 64;
