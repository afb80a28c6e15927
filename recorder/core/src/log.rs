//! Lines for the person who reads the job's output.
//!
//! Written at once and past the standard library's streams: a stuck thread may hold the lock of these.

use std::sync::atomic::{AtomicU32, Ordering};

/// The rank that lines begin with; `u32::MAX` is none.
static RANK: AtomicU32 = AtomicU32::new(u32::MAX);

/// Lines begin with this rank from now on.
pub(crate) fn speak_as(rank: u32) {
    RANK.store(rank, Ordering::Relaxed);
}

/// Writes one line to standard error. What cannot be written is lost.
#[expect(unsafe_code, reason = "standard error without a lock")]
pub fn line(text: &str) {
    let line = match RANK.load(Ordering::Relaxed) {
        u32::MAX => format!("hangscope: {text}\n"),
        rank => format!("hangscope: rank {rank}: {text}\n"),
    };
    // SAFETY: the buffer is alive and as long as told.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}
