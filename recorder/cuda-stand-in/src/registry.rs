//! What was made, by number: a handle is never a pointer here, so that a wrong one is noticed.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

/// Things of one kind, by handles that begin at `base`.
#[derive(Debug)]
pub(crate) struct Registry<T> {
    base: usize,
    things: Mutex<Option<HashMap<usize, Arc<T>>>>,
}

impl<T> Registry<T> {
    pub(crate) const fn new(base: usize) -> Self {
        Self { base, things: Mutex::new(None) }
    }

    pub(crate) fn add(&self, thing: Arc<T>) -> *mut c_void {
        let mut things = self.things.lock().unwrap_or_else(PoisonError::into_inner);
        let things = things.get_or_insert_default();
        let handle = self.base + things.len();
        things.insert(handle, thing);
        std::ptr::without_provenance_mut(handle)
    }

    pub(crate) fn get(&self, handle: *mut c_void) -> Option<Arc<T>> {
        self.things.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(&handle.addr()).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        let things = self.things.lock().unwrap_or_else(PoisonError::into_inner);
        things.iter().flat_map(|things| things.values().cloned()).collect()
    }
}
