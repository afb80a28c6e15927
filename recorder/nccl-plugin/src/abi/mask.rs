//! NCCL's mask of events that it tells of: one number for the process.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// Where the mask is, once NCCL has told.
#[derive(Debug)]
pub(crate) struct Mask(AtomicPtr<c_int>);

impl Mask {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Keeps the place. NCCL gives the same one each time, and it lives as long as the process.
    pub(crate) fn keep(&self, place: *mut c_int) {
        if !place.is_null() {
            self.0.store(place, Ordering::Relaxed);
        }
    }

    /// Asks NCCL for these events from now on.
    #[expect(unsafe_code, reason = "NCCL reads the number that it told the place of")]
    pub(crate) fn set(&self, events: u64) {
        let place = self.0.load(Ordering::Relaxed);
        if !place.is_null() {
            // SAFETY: NCCL told the address of an int that is aligned, lives as long as NCCL's library, and is read and
            // written as an atomic by NCCL itself. After the library is gone nobody calls here.
            let mask = unsafe { AtomicI32::from_ptr(place) };
            mask.store(i32::try_from(events).unwrap_or(0), Ordering::Relaxed);
        }
    }
}
