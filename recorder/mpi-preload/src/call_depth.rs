//! Whether the thread is inside of a call of the program already.

use std::cell::Cell;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The outermost call of a thread: what the MPI library calls meanwhile, by whatever name, is a part of it.
#[derive(Debug)]
pub(crate) struct Outermost(());

impl Outermost {
    /// `None`: the thread is inside of one, or is ending.
    pub(crate) fn enter() -> Option<Self> {
        DEPTH
            .try_with(|depth| {
                let is_first = depth.get() == 0;
                if is_first {
                    depth.set(1);
                }
                is_first.then_some(Self(()))
            })
            .ok()
            .flatten()
    }
}

impl Drop for Outermost {
    fn drop(&mut self) {
        // Of a thread that is ending nothing is counted any more.
        let _ = DEPTH.try_with(|depth| depth.set(0));
    }
}
