//! Reading the process's own memory: safely, where an address may be wrong, and directly, where it cannot be.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// A way to read 64-bit words of this process.
pub(super) trait Memory {
    /// The word at an address; `None`: there is none.
    fn word(&self, address: u64) -> Option<u64>;
}

/// Asks the system, which answers for any address.
pub(super) struct Careful(File);

impl Careful {
    pub(super) fn open() -> Option<Self> {
        File::open("/proc/self/mem").ok().map(Self)
    }
}

impl Memory for Careful {
    fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.0.read_exact_at(&mut bytes, address).ok()?;
        Some(u64::from_ne_bytes(bytes))
    }
}

/// Reads where it is told to.
pub(super) struct Direct(());

impl Direct {
    /// # Safety
    ///
    /// Every address that is asked for later must be readable.
    #[expect(unsafe_code, reason = "its maker vouches for the addresses")]
    pub(super) unsafe fn new() -> Self {
        Self(())
    }
}

impl Memory for Direct {
    #[expect(unsafe_code, reason = "reading another library's memory")]
    fn word(&self, address: u64) -> Option<u64> {
        let Self(()) = self;
        let address = usize::try_from(address).ok().filter(|address| *address != 0)?;
        let place: *const u64 = std::ptr::with_exposed_provenance(address);
        // SAFETY: whoever made this vouched for the address. It need not be aligned.
        Some(unsafe { place.read_unaligned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn careful_reading_survives_any_address() {
        let memory = Careful::open().unwrap();
        let value = 0x1234_5678_9abc_def0_u64;
        assert_eq!(memory.word((&raw const value).expose_provenance() as u64), Some(value));
        for address in [0, 8, u64::MAX - 4, 1 << 62] {
            assert_eq!(memory.word(address), None, "{address:#x}");
        }
    }
}
