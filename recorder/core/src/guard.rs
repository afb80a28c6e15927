//! Keeps the recorder's own misfortunes away from the program that it runs in.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static INERT: AtomicBool = AtomicBool::new(false);

/// Runs a part of the recorder that a C library called. A panic ends here: the recorder does nothing from then on, and
/// the program goes on.
///
/// `None`: it panicked, or the recorder was inert before.
pub fn guard<T>(work: impl FnOnce() -> T) -> Option<T> {
    if is_inert() {
        return None;
    }
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(value) => Some(value),
        Err(_) => {
            INERT.store(true, Ordering::Relaxed);
            crate::log::line("the recorder failed inside (the lines above say where); it records nothing from here on");
            None
        }
    }
}

/// Whether the recorder has given up in this process: after a panic of its own, or since the process is a forked child,
/// which has none of the recorder's threads.
#[must_use]
pub fn is_inert() -> bool {
    INERT.load(Ordering::Relaxed)
}

/// From now on a child that this process forks is left alone.
#[expect(unsafe_code, reason = "only the C library tells of forks")]
pub(crate) fn stay_out_of_children() {
    extern "C" fn in_child() {
        INERT.store(true, Ordering::Relaxed);
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler only stores an atomic, which is allowed in a forked child of a program with threads. The
        // libraries that hold it are linked so that they are never unloaded.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}
