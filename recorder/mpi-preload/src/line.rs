//! Lines for the person who reads the job's output.

/// Writes one line to standard error, past the streams whose locks a stuck thread may hold.
#[expect(unsafe_code, reason = "standard error without a lock")]
pub(crate) fn say(text: &str) {
    let line = format!("hangscope: {text}\n");
    // SAFETY: the buffer is alive and as long as told.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}
