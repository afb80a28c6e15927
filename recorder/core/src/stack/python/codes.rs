//! Code objects that were seen, with their texts, which are copied when one is first seen.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Code objects that are kept; more are rare, and then stay out of stacks.
const CODES: usize = 1 << 14;
/// Places that are tried for one code object.
const PROBES: usize = 32;

/// What tells a code object from others: its address, and what else is known, since an address can be used again.
pub(super) type Identity = [u64; 3];

/// A code object's texts.
#[derive(Debug)]
pub(super) struct Code {
    identity: Identity,
    /// The function.
    pub name: String,
    /// The source file.
    pub filename: String,
}

static KNOWN: [AtomicPtr<Code>; CODES] = [const { AtomicPtr::new(ptr::null_mut()) }; CODES];

/// The code object with this number.
#[expect(unsafe_code, reason = "texts are never freed")]
pub(super) fn known(index: usize) -> Option<&'static Code> {
    // SAFETY: a place holds null or a leaked box that nobody changes.
    unsafe { KNOWN.get(index)?.load(Ordering::Acquire).as_ref() }
}

/// The number of a code object; `texts` gives name and file if it is new. The same object may get two numbers, if two
/// threads see it first at once.
pub(super) fn index(identity: Identity, texts: impl FnOnce() -> Option<(String, String)>) -> Option<usize> {
    let mut hasher = DefaultHasher::new();
    identity.hash(&mut hasher);
    let start = usize::try_from(hasher.finish() % CODES as u64).ok()?;
    for probe in 0..PROBES {
        let index = (start + probe) % CODES;
        match known(index) {
            Some(found) if found.identity == identity => return Some(index),
            Some(_) => {}
            None => {
                let (name, filename) = texts()?;
                let code = Box::into_raw(Box::new(Code { identity, name, filename }));
                let place = &KNOWN[index];
                if place.compare_exchange(ptr::null_mut(), code, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                    return Some(index);
                }
                free(code);
                return None;
            }
        }
    }
    None
}

#[expect(unsafe_code, reason = "it was made as a raw pointer")]
fn free(code: *mut Code) {
    // SAFETY: its maker calls this, and gave it to nobody.
    drop(unsafe { Box::from_raw(code) });
}
