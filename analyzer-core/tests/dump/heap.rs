//! A counting allocator.

#![expect(unsafe_code, reason = "an allocator is unsafe by its trait; this one only counts and passes on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the bytes that are live and the most that were, for each thread by itself: tests run side by side.
pub struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may be there at the same time.
        add(size as isize);
        add(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn add(size: isize) {
    // A thread that ends has no counters any more.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + size);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
}

/// What `work` gives, the bytes that are live because of it, and the most that were live on the way.
pub fn measure<T>(work: impl FnOnce() -> T) -> (T, usize, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = work();
    let since = |count: isize| usize::try_from(count - before).unwrap_or(0);
    (result, since(LIVE.get()), since(PEAK.get()))
}

/// What `work` gives and the most bytes that were live on the way.
#[allow(dead_code, reason = "the benchmark wants both numbers")]
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let (result, _, peak) = measure(work);
    (result, peak)
}
