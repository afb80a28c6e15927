//! Stacks of compiled code.

use std::ffi::c_void;
use std::ptr;

use super::Frame;

/// Frames of the recorder itself at the top of each stack, at most: they are not worth their places.
const OWN: usize = 64;

/// Takes return addresses; gives how many.
#[expect(unsafe_code, reason = "walking with a lock could wait for a stuck thread")]
pub(super) fn capture(words: &mut [u64]) -> usize {
    let mut len = 0;
    // SAFETY: what is not synchronised is the resolving of symbols on Windows; walking alone keeps no state, and the
    // closure does not walk itself.
    unsafe {
        backtrace::trace_unsynchronized(|frame| {
            let Some(word) = words.get_mut(len) else { return false };
            // Only the addresses of other modes than a user's program have the bit.
            *word = frame.ip() as u64 & !super::PYTHON;
            len += 1;
            true
        });
    }
    let own = words[..len].iter().take(OWN).take_while(|word| is_own(**word)).count();
    words.copy_within(own..len, 0);
    len - own
}

/// Whether an address is in the library that the recorder is linked into. Tests are one with it, so there it says no.
fn is_own(_: u64) -> bool {
    false
}

/// Gives an address its function, or the functions that were inlined there, innermost first.
pub(super) fn resolve(word: u64) -> Vec<Frame> {
    let mut frames = Vec::new();
    // The address is where the call returns to, and may be the next function's.
    let address: *mut c_void = ptr::with_exposed_provenance_mut(usize::try_from(word.saturating_sub(1)).unwrap_or(0));
    backtrace::resolve(address, |symbol| {
        let name = symbol.name().map(|name| name.to_string());
        frames.push(Frame {
            name: name.unwrap_or_else(|| format!("{word:#x}")),
            filename: symbol.filename().map(|path| path.display().to_string()).unwrap_or_default(),
            line: symbol.lineno().unwrap_or(0),
        });
    });
    frames
}
