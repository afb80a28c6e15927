//! Every distinct text of a dump, once.

use alloc::string::String;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::TableIndex;

/// Names a text in a [`StringTable`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StrId(pub(crate) u32);

impl StrId {
    /// The empty text, present in every table.
    pub const EMPTY: StrId = StrId(0);

    /// Its place in the table, for columns beside the table.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Interned texts: one buffer for all of them and the end of each.
///
/// The index holds handles only, no second copy of the texts.
#[derive(Clone, Debug)]
pub struct StringTable {
    buffer: String,
    ends: Vec<u32>,
    index: TableIndex,
    hasher: DefaultHashBuilder,
}

impl Default for StringTable {
    fn default() -> Self {
        let mut table = StringTable {
            buffer: String::new(),
            ends: Vec::new(),
            index: TableIndex::default(),
            hasher: DefaultHashBuilder::default(),
        };
        table.intern("");
        table
    }
}

impl StringTable {
    /// The handle of `text`, which is stored if it is new.
    ///
    /// A table holds at most 4 GiB of text; what comes after that is the empty text.
    pub fn intern(&mut self, text: &str) -> StrId {
        let hash = self.hasher.hash_one(text);
        let (buffer, ends) = (&self.buffer, &self.ends);
        if let Some(found) = self.index.find(hash, |id| slice(buffer, ends, id) == text) {
            return StrId(found);
        }
        let Ok(end) = u32::try_from(self.buffer.len() + text.len()) else {
            return StrId::EMPTY;
        };
        let id = self.ends.len() as u32;
        self.buffer.push_str(text);
        self.ends.push(end);
        let (buffer, ends, hasher) = (&self.buffer, &self.ends, &self.hasher);
        self.index.insert(hash, id, &|id| hasher.hash_one(slice(buffer, ends, id)));
        StrId(id)
    }

    /// The handle of `text` if the table holds it.
    pub fn find(&self, text: &str) -> Option<StrId> {
        let hash = self.hasher.hash_one(text);
        self.index.find(hash, |id| slice(&self.buffer, &self.ends, id) == text).map(StrId)
    }

    /// The text of a handle; empty for a handle of another table.
    pub fn get(&self, id: StrId) -> &str {
        slice(&self.buffer, &self.ends, id.0)
    }

    /// All texts in the order of their handles.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|id| slice(&self.buffer, &self.ends, id))
    }

    /// How many distinct texts there are, the empty one included.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never true: the empty text is always there.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Gives back memory that was reserved for growth.
    pub fn shrink_to_fit(&mut self) {
        self.buffer.shrink_to_fit();
        self.ends.shrink_to_fit();
        let (buffer, ends, hasher) = (&self.buffer, &self.ends, &self.hasher);
        self.index.shrink_to_fit(&|id| hasher.hash_one(slice(buffer, ends, id)));
    }
}

fn slice<'a>(buffer: &'a str, ends: &[u32], id: u32) -> &'a str {
    let id = id as usize;
    let Some(&end) = ends.get(id) else { return "" };
    let start = if id == 0 { 0 } else { ends.get(id - 1).copied().unwrap_or(0) };
    buffer.get(start as usize..end as usize).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_a_handle() {
        let mut table = StringTable::default();
        let first = table.intern("all_reduce");
        let other = table.intern("broadcast");
        assert_eq!(table.intern("all_reduce"), first);
        assert_ne!(first, other);
        assert_eq!((table.get(first), table.get(other)), ("all_reduce", "broadcast"));
        assert_eq!(table.intern(""), StrId::EMPTY);
        assert_eq!(table.find("send"), None);
    }

    #[test]
    fn a_foreign_handle_is_empty() {
        assert_eq!(StringTable::default().get(StrId(77)), "");
    }
}
