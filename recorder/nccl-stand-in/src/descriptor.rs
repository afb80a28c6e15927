//! Descriptors as bytes, by the offsets of NCCL's headers.

use std::ffi::{CStr, c_void};

use crate::plugin::Version;

/// A descriptor that is being filled. It is cleared at first, as NCCL does.
#[repr(C, align(8))]
#[derive(Debug, Clone)]
pub struct Descriptor {
    bytes: [u8; 112],
}

impl Descriptor {
    /// The head: the kind takes one byte in version 4, and the rest of its eight is noise there.
    #[must_use]
    pub fn new(version: Version, kind: u64, parent: *mut c_void, rank: u32) -> Self {
        let mut new = Self { bytes: [0; 112] };
        match version {
            Version::V4 => {
                new.bytes[..8].fill(0xa5);
                new.bytes[0] = kind.to_le_bytes()[0];
            }
            Version::V5 | Version::V6 => new = new.word(0, kind),
        }
        new.word(8, parent.addr() as u64).bytes(16, &rank.to_ne_bytes())
    }

    /// Eight bytes.
    #[must_use]
    pub fn word(self, at: usize, value: u64) -> Self {
        self.bytes(at, &value.to_ne_bytes())
    }

    /// Four bytes.
    #[must_use]
    pub fn int(self, at: usize, value: i32) -> Self {
        self.bytes(at, &value.to_ne_bytes())
    }

    /// One byte.
    #[must_use]
    pub fn byte(self, at: usize, value: u8) -> Self {
        self.bytes(at, &[value])
    }

    /// The address of a text.
    #[must_use]
    pub fn text(self, at: usize, value: &'static CStr) -> Self {
        self.word(at, value.as_ptr().expose_provenance() as u64)
    }

    /// The address of anything.
    #[must_use]
    pub fn pointer(self, at: usize, value: *mut c_void) -> Self {
        self.word(at, value.expose_provenance() as u64)
    }

    fn bytes(mut self, at: usize, value: &[u8]) -> Self {
        self.bytes[at..at + value.len()].copy_from_slice(value);
        self
    }

    /// For the plugin.
    #[must_use]
    pub fn as_pointer(&self) -> *const c_void {
        self.bytes.as_ptr().cast()
    }
}
