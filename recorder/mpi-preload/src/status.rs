//! What MPI tells of a message that came.

#![expect(unsafe_code, reason = "memory in the layout of the MPI library")]

use std::ffi::c_int;

use crate::abi::Abi;

/// Memory for statuses of ours, as large as any interface's.
#[derive(Debug)]
pub(crate) struct StatusBuffer(Vec<u64>);

/// Source and tag of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub source: c_int,
    pub tag: c_int,
}

impl StatusBuffer {
    /// Memory for this many.
    pub(crate) fn new(abi: &Abi, count: usize) -> Self {
        Self(vec![0; (abi.status_bytes * count).div_ceil(8) + 1])
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl Abi {
    /// Whether the program does not want a status.
    pub(crate) fn ignores(&self, status: *const u8) -> bool {
        status as usize == self.status_ignore || status.is_null()
    }

    /// Status number `index` of an array.
    pub(crate) fn status_at(&self, statuses: *mut u8, index: usize) -> *mut u8 {
        statuses.wrapping_add(self.status_bytes * index)
    }

    /// # Safety
    ///
    /// It points to a status that the library filled.
    pub(crate) unsafe fn origin(&self, status: *const u8) -> Origin {
        // SAFETY: the caller promises it.
        unsafe { Origin { source: self.field(status, self.source_at), tag: self.field(status, self.tag_at) } }
    }

    /// # Safety
    ///
    /// As of [`Abi::origin`].
    pub(crate) unsafe fn error(&self, status: *const u8) -> c_int {
        // SAFETY: the caller promises it.
        unsafe { self.field(status, self.error_at) }
    }

    /// # Safety
    ///
    /// It points to a status that may be written.
    pub(crate) unsafe fn set_error(&self, status: *mut u8, error: c_int) {
        // SAFETY: the caller promises it; the field lies within.
        unsafe { status.add(self.error_at).cast::<c_int>().write_unaligned(error) }
    }

    /// Copies all of a status but its error, which calls that succeed as a whole leave alone.
    ///
    /// # Safety
    ///
    /// Both point to statuses, which are not the same.
    pub(crate) unsafe fn copy_status(&self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller promises it.
        unsafe {
            let error = self.error(to);
            std::ptr::copy_nonoverlapping(from, to, self.status_bytes);
            self.set_error(to, error);
        }
    }

    unsafe fn field(&self, status: *const u8, at: usize) -> c_int {
        // SAFETY: callers give a status, in which the field lies.
        unsafe { status.add(at).cast::<c_int>().read_unaligned() }
    }
}
