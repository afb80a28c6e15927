//! The index of a table of symbols: its handles by the hash of what they name.

use hashbrown::HashTable;

/// Handles by hash. What they name is in the table, which says what a handle's hash is.
///
/// All tables share the code that grows an index, so that a page has it once and not for each type of symbol.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableIndex {
    handles: HashTable<u32>,
}

impl TableIndex {
    /// The handle with this hash of which `is_it` is true.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        self.handles.find(hash, |&handle| is_it(handle)).copied()
    }

    /// Adds a handle that is not there.
    #[inline(never)]
    pub(crate) fn insert(&mut self, hash: u64, handle: u32, hash_of: &dyn Fn(u32) -> u64) {
        self.handles.insert_unique(hash, handle, |&handle| hash_of(handle));
    }

    /// Gives back memory that was reserved for growth.
    #[inline(never)]
    pub(crate) fn shrink_to_fit(&mut self, hash_of: &dyn Fn(u32) -> u64) {
        self.handles.shrink_to_fit(|&handle| hash_of(handle));
    }
}
