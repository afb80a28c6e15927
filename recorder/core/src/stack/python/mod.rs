//! Python's frames.
//!
//! Most libraries give the interpreter's lock away around a blocking call, and taking it could wait for ever. For the
//! Pythons whose frames' layout is known ([`layout`]) a thread's own frames are read without it: nobody else changes
//! them while the thread is here. For others the public functions are used, where the caller holds the lock.
//!
//! A frame is kept as a number for its code object and a line.

mod codes;
mod held;
mod layout;
mod memory;
mod own;

use super::{Frame, PYTHON};

/// Looks whether there is an interpreter in the process by now.
pub(crate) fn look_for_interpreter() {
    own::look_for_interpreter();
    if !own::is_there() {
        held::look_for_interpreter();
    }
}

/// Takes the frames of the calling thread; gives how many words they took.
pub(super) fn capture(words: &mut [u64]) -> usize {
    if own::is_there() { own::capture(words) } else { held::capture(words) }
}

/// Gives a word its names.
pub(super) fn resolve(word: u64) -> Option<Frame> {
    let index = usize::try_from((word & !PYTHON) >> 32).ok()?;
    let line = u32::try_from(word & u64::from(u32::MAX)).unwrap_or(0);
    let code = codes::known(index)?;
    Some(Frame { name: code.name.clone(), filename: code.filename.clone(), line })
}

/// The word of a frame.
fn word(index: usize, line: i32) -> Option<u64> {
    Some(PYTHON | u64::try_from(index).ok()? << 32 | u64::from(u32::try_from(line).unwrap_or(0)))
}
