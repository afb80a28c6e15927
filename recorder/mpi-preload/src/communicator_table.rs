//! The program's communicators, by their handles.

use std::sync::{Arc, PoisonError, RwLock};

use crate::handle_map::HandleMap;
use crate::known::Known;

/// Communicators by handle; `None` stands for one that is not recorded. The lock is taken to record an operation, over
/// memory only, and for writing when a communicator is made or freed.
#[derive(Debug, Default)]
pub(crate) struct CommunicatorTable {
    inner: RwLock<HandleMap<Option<Arc<Known>>>>,
}

impl CommunicatorTable {
    /// What stands behind a handle; `None`: it was never seen.
    #[expect(clippy::option_option, reason = "unseen, and seen as one that is not recorded")]
    pub(crate) fn get(&self, handle: usize) -> Option<Option<Arc<Known>>> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).get(&handle).cloned()
    }

    /// Notes what stands behind a handle.
    pub(crate) fn put(&self, handle: usize, known: Option<Arc<Known>>) {
        self.inner.write().unwrap_or_else(PoisonError::into_inner).insert(handle, known);
    }

    /// Forgets a handle.
    pub(crate) fn remove(&self, handle: usize) -> Option<Arc<Known>> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner).remove(&handle).flatten()
    }
}
