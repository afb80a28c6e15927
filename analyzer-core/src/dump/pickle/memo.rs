//! The memo: values that the file uses again.

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::super::value::Value;

/// Values by their number. Picklers count from 0, so they lie in a row; a number that jumps ahead goes to a map, because a file of a
/// few bytes could ask for a row of 2^32 otherwise.
#[derive(Debug)]
pub(super) struct Memo {
    row: Vec<Value>,
    far: HashMap<u32, Value>,
    limit: usize,
}

impl Memo {
    /// A memo for a file of `size` bytes. What is put there takes bytes in the file, too.
    pub(super) fn new(size: usize) -> Memo {
        Memo { row: Vec::new(), far: HashMap::new(), limit: (1 << 16) + size / 4 }
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<Value> {
        match self.row.get(slot as usize) {
            Some(&value) => Some(value),
            None => self.far.get(&slot).copied(),
        }
    }

    /// Stores a value; false when there are more than a file of this size can need.
    #[inline]
    pub(super) fn put(&mut self, slot: u32, value: Value) -> bool {
        if let Some(known) = self.row.get_mut(slot as usize) {
            *known = value;
            return true;
        }
        if self.row.len() + self.far.len() >= self.limit {
            return false;
        }
        if slot as usize == self.row.len() {
            self.row.push(value);
        } else {
            self.far.insert(slot, value);
        }
        true
    }

    /// Stores the digest of a container in the slot that the container was put in when it was empty.
    #[inline]
    pub(super) fn update(&mut self, slot: u32, value: Value) {
        if let Some(known) = self.row.get_mut(slot as usize) {
            *known = value;
        } else if let Some(known) = self.far.get_mut(&slot) {
            *known = value;
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
        assert!(memo.put(0, Value::Int(7)));
        assert!(memo.put(u32::MAX, Value::Int(8)));
        assert!(memo.put(1, Value::Int(9)));
        assert!(memo.put(u32::MAX, Value::Int(10)));
        assert_eq!(memo.get(0), Some(Value::Int(7)));
        assert_eq!(memo.get(1), Some(Value::Int(9)));
        assert_eq!(memo.get(u32::MAX), Some(Value::Int(10)));
        assert_eq!(memo.get(2), None);
        assert_eq!(memo.len(), 3);
    }
}
