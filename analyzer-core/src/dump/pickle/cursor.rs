//! The bytes of a pickle and the place in them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::super::{Fault, FaultKind};

/// A fault that ends the reading. Boxed, so that the good way passes one word.
pub(super) type Fatal = Box<Fault>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    len: usize,
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { len: bytes.len(), rest: bytes }
    }

    /// How many bytes were read.
    #[inline(always)]
    pub(super) fn at(&self) -> usize {
        self.len - self.rest.len()
    }

    /// The bytes that were not read yet.
    #[inline(always)]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes past bytes that were looked at.
    pub(super) fn advance(&mut self, len: usize) {
        self.rest = self.rest.get(len..).unwrap_or(&[]);
    }

    #[inline(always)]
    pub(super) fn byte(&mut self) -> Result<u8, Fatal> {
        let Some((&byte, rest)) = self.rest.split_first() else {
            return Err(self.ends_early());
        };
        self.rest = rest;
        Ok(byte)
    }

    /// The next byte, which stays where it is.
    #[inline(always)]
    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Goes past a byte that was looked at.
    #[inline(always)]
    pub(super) fn skip(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or(&[]);
    }

    #[inline(always)]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fatal> {
        let Some((array, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(self.ends_early());
        };
        self.rest = rest;
        Ok(*array)
    }

    #[inline(always)]
    pub(super) fn u16(&mut self) -> Result<u16, Fatal> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline(always)]
    pub(super) fn u32(&mut self) -> Result<u32, Fatal> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next `len` bytes. A length that the file cannot have is found here, before anything is reserved for it.
    #[inline(always)]
    pub(super) fn slice(&mut self, len: u64) -> Result<&'a [u8], Fatal> {
        let parts = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let Some((slice, rest)) = parts else {
            return Err(self.too_long(len));
        };
        self.rest = rest;
        Ok(slice)
    }

    /// The bytes up to the next newline, which is skipped.
    pub(super) fn line(&mut self) -> Result<&'a [u8], Fatal> {
        let mut parts = self.rest.splitn(2, |&byte| byte == b'\n');
        let (Some(line), Some(rest)) = (parts.next(), parts.next()) else {
            return Err(self.ends_early());
        };
        self.rest = rest;
        Ok(line)
    }

    #[cold]
    fn ends_early(&self) -> Fatal {
        Box::new(Fault {
            kind: FaultKind::Truncated,
            offset: Some(self.len as u64),
            message: String::from(
                "the file ends in the middle of the pickle; the process was probably killed while it wrote it, and the entries before \
                 this place are kept",
            ),
        })
    }

    #[cold]
    fn too_long(&self, len: u64) -> Fatal {
        let rest = self.rest.len();
        let mut fault = self.ends_early();
        fault.message = format!(
            "the file ends in the middle of the pickle: {len} bytes should follow offset {}, and there are {rest}; the entries before \
             this place are kept",
            self.at()
        );
        fault
    }

    #[cold]
    pub(super) fn malformed(&self, at: usize, message: String) -> Fatal {
        Box::new(Fault { kind: FaultKind::Malformed, offset: Some(at as u64), message })
    }
}
