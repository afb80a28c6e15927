//! The bytes of a pickle and the place in them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::super::{Fault, FaultKind};

/// A fault that ends the reading. Boxed, so that the good way passes one word.
pub(super) type Fatal = Box<Fault>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Fatal> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return Err(self.ends_early());
        };
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fatal> {
        let Some(array) = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>()) else {
            return Err(self.ends_early());
        };
        self.at += N;
        Ok(*array)
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Result<u16, Fatal> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, Fatal> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next `len` bytes. A length that the file cannot have is found here, before anything is reserved for it.
    #[inline]
    pub(super) fn slice(&mut self, len: u64) -> Result<&'a [u8], Fatal> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let slice = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let Some(slice) = slice else {
            return Err(self.too_long(len));
        };
        self.at += slice.len();
        Ok(slice)
    }

    /// The bytes up to the next newline, which is skipped.
    pub(super) fn line(&mut self) -> Result<&'a [u8], Fatal> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let Some(end) = rest.iter().position(|&byte| byte == b'\n') else {
            return Err(self.ends_early());
        };
        self.at += end + 1;
        Ok(rest.get(..end).unwrap_or(&[]))
    }

    #[cold]
    fn ends_early(&self) -> Fatal {
        Box::new(Fault {
            kind: FaultKind::Truncated,
            offset: Some(self.bytes.len() as u64),
            message: String::from(
                "the file ends in the middle of the pickle; the process was probably killed while it wrote it, and the entries before \
                 this place are kept",
            ),
        })
    }

    #[cold]
    fn too_long(&self, len: u64) -> Fatal {
        let rest = self.bytes.len().saturating_sub(self.at);
        let mut fault = self.ends_early();
        fault.message = format!(
            "the file ends in the middle of the pickle: {len} bytes should follow offset {}, and there are {rest}; the entries before \
             this place are kept",
            self.at
        );
        fault
    }

    #[cold]
    pub(super) fn malformed(&self, at: usize, message: String) -> Fatal {
        Box::new(Fault { kind: FaultKind::Malformed, offset: Some(at as u64), message })
    }
}
