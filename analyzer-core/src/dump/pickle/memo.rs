//! The memo: values that the file uses again.

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::super::value::Value;
use crate::symbols::{FrameId, StrId};

/// Values by their number. Picklers count from 0, so they lie in a row; a number that jumps ahead goes to a map, because a file of a
/// few bytes could ask for a row of 2^32 otherwise.
///
/// Nearly all of them are texts and frames. Those take 8 bytes, so that the memo of a whole dump stays near the processor; the rest
/// lies elsewhere.
#[derive(Debug)]
pub(super) struct Memo {
    row: Vec<Short>,
    others: Vec<Value>,
    far: HashMap<u32, Value>,
    limit: usize,
    /// Whether a text or a frame was ever replaced by something else, which no pickler does.
    pub(super) replaced: bool,
}

/// A value of the memo.
#[derive(Clone, Copy, Debug)]
pub(super) enum Short {
    Str(StrId),
    Frame(FrameId),
    /// An index into `others`.
    Other(u32),
}

impl Memo {
    /// A memo for a file of `size` bytes. What is put there takes bytes in the file, too.
    pub(super) fn new(size: usize) -> Memo {
        Memo { row: Vec::new(), others: Vec::new(), far: HashMap::new(), limit: (1 << 16) + size / 4, replaced: false }
    }

    /// The short form of a value that lies in the row.
    #[inline(always)]
    pub(super) fn short(&self, slot: u32) -> Option<Short> {
        self.row.get(slot as usize).copied()
    }

    pub(super) fn get(&self, slot: u32) -> Option<Value> {
        match self.row.get(slot as usize) {
            Some(&Short::Str(id)) => Some(Value::Str(id)),
            Some(&Short::Frame(id)) => Some(Value::Frame(id)),
            Some(&Short::Other(index)) => self.others.get(index as usize).copied(),
            None => self.get_far(slot),
        }
    }

    #[cold]
    fn get_far(&self, slot: u32) -> Option<Value> {
        self.far.get(&slot).copied()
    }

    /// Stores a value; false when there are more than a file of this size can need.
    #[inline(always)]
    pub(super) fn put(&mut self, slot: u32, value: Value) -> bool {
        if slot as usize == self.row.len() && self.len() < self.limit {
            let short = self.shorten(value, None);
            self.row.push(short);
            return true;
        }
        self.put_out_of_order(slot, value)
    }

    #[cold]
    fn put_out_of_order(&mut self, slot: u32, value: Value) -> bool {
        if self.update(slot, value) {
            return true;
        }
        if self.len() >= self.limit {
            return false;
        }
        self.far.insert(slot, value);
        true
    }

    /// Replaces a value, as the digest of a container replaces the empty container. False when the slot has none.
    pub(super) fn update(&mut self, slot: u32, value: Value) -> bool {
        if let Some(&known) = self.row.get(slot as usize) {
            self.replaced |= !matches!(known, Short::Other(_));
            let short = self.shorten(value, Some(known));
            if let Some(place) = self.row.get_mut(slot as usize) {
                *place = short;
            }
            return true;
        }
        match self.far.get_mut(&slot) {
            Some(place) => {
                *place = value;
                true
            }
            None => false,
        }
    }

    /// The short form of a value, which takes the place of `before`.
    #[inline(always)]
    fn shorten(&mut self, value: Value, before: Option<Short>) -> Short {
        match (value, before) {
            (Value::Str(id), _) => Short::Str(id),
            (Value::Frame(id), _) => Short::Frame(id),
            (_, Some(Short::Other(index))) => {
                if let Some(place) = self.others.get_mut(index as usize) {
                    *place = value;
                }
                Short::Other(index)
            }
            _ => {
                self.others.push(value);
                Short::Other(self.others.len() as u32 - 1)
            }
        }
    }

    /// How many values there are: the number that the next `MEMOIZE` takes.
    pub(super) fn len(&self) -> usize {
        self.row.len() + self.far.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_numbers_cost_one_place_each() {
        let mut memo = Memo::new(0);
        for (slot, value) in [(0, 7), (u32::MAX, 8), (1, 9), (u32::MAX, 10), (1, 11)] {
            assert!(memo.put(slot, Value::Int(value)));
        }
        assert_eq!(memo.get(0), Some(Value::Int(7)));
        assert_eq!(memo.get(1), Some(Value::Int(11)));
        assert_eq!(memo.get(u32::MAX), Some(Value::Int(10)));
        assert_eq!(memo.get(2), None);
        assert_eq!(memo.len(), 3);
    }

    #[test]
    fn a_digest_takes_the_place_of_the_empty_container() {
        let mut memo = Memo::new(0);
        assert!(memo.put(0, Value::EMPTY_DICT));
        assert!(memo.update(0, Value::Frame(FrameId(3))));
        assert_eq!(memo.get(0), Some(Value::Frame(FrameId(3))));
        assert!(!memo.update(1, Value::None));
    }

    #[test]
    fn a_small_file_has_a_small_memo() {
        let mut memo = Memo::new(0);
        let kept = (0..100_000).filter(|&slot| memo.put(slot, Value::None)).count();
        assert_eq!(kept, 1 << 16);
    }
}
