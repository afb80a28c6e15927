//! Who records: the thread's number and name, asked for once.

use std::cell::Cell;

/// A thread, as it is kept in the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadTag {
    /// The system's number of the thread.
    pub id: u64,
    /// Its name, 15 bytes at most, ended by zeros.
    pub name: [u64; 2],
}

impl ThreadTag {
    /// The calling thread. A name that it gets after its first recording is not seen.
    pub(crate) fn current() -> Self {
        thread_local! {
            static TAG: Cell<Option<ThreadTag>> = const { Cell::new(None) };
        }
        // A thread that is ending has no tag any more, and asks each time.
        TAG.try_with(|tag| {
            tag.get().unwrap_or_else(|| {
                let asked = Self::ask();
                tag.set(Some(asked));
                asked
            })
        })
        .unwrap_or_else(|_| Self::ask())
    }

    /// The name as text.
    pub(crate) fn name(self) -> String {
        let bytes = self.name.map(u64::to_ne_bytes).concat();
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }

    #[expect(unsafe_code, reason = "the C library is the only one to ask")]
    fn ask() -> Self {
        let mut bytes = [0_u8; 16];
        // SAFETY: pthread_self has no conditions; the other writes a name with its final zero into the buffer whose
        // length it is given, which on Linux is never longer than 16 bytes.
        unsafe { libc::pthread_getname_np(libc::pthread_self(), bytes.as_mut_ptr().cast(), bytes.len()) };
        let [a, b] = [0, 8].map(|from| u64::from_ne_bytes(std::array::from_fn(|index| bytes[from + index])));
        Self { id: system_id(), name: [a, b] }
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the C library is the only one to ask")]
fn system_id() -> u64 {
    // SAFETY: it has no arguments and cannot fail.
    u64::try_from(unsafe { libc::gettid() }).unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
#[expect(unsafe_code, reason = "the C library is the only one to ask")]
fn system_id() -> u64 {
    // SAFETY: it has no arguments and cannot fail.
    unsafe { libc::pthread_self() as u64 }
}

#[cfg(test)]
mod tests {
    use super::ThreadTag;

    #[test]
    fn a_thread_has_its_name_and_number() {
        let named = std::thread::Builder::new().name("loader-7".to_owned()).spawn(ThreadTag::current);
        let tag = named.unwrap().join().unwrap();
        assert_eq!(tag.name(), "loader-7");
        assert_ne!(tag.id, ThreadTag::current().id);
        assert_eq!(ThreadTag::current(), ThreadTag::current());
    }
}
