//! Call stacks: captured as words when an operation is recorded, given names when a dump is written.

mod frame;
mod native;
mod python;
mod resolve;

pub(crate) use frame::Frame;
pub(crate) use resolve::resolve_all;

use crate::Stacks;

/// Frames that are kept of a stack, the innermost ones.
pub(crate) const DEPTH: usize = 32;

/// Marks a word that stands for a Python frame: no address of a program has it set.
const PYTHON: u64 = 1 << 63;

/// Captures the caller's stack, Python's frames before the native ones; gives how many words it took.
pub(crate) fn capture(stacks: Stacks, words: &mut [u64; DEPTH]) -> usize {
    let python = if stacks.python { python::capture(words) } else { 0 };
    match words.get_mut(python..) {
        Some(rest) if stacks.native => python + native::capture(rest),
        _ => python,
    }
}

/// Prepares for capturing; called again whenever the process may have changed.
pub(crate) fn prepare(stacks: Stacks) {
    if stacks.native {
        native::find_own_range();
    }
    if stacks.python {
        python::look_for_interpreter();
    }
}
