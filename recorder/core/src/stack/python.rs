//! Python's frames, where the interpreter is in the process and the caller holds its lock.

use super::Frame;

/// Takes the frames of the calling thread; gives how many words they took.
pub(super) fn capture(_: &mut [u64]) -> usize {
    0
}

/// Gives a word its names.
pub(super) fn resolve(_: u64) -> Option<Frame> {
    None
}
