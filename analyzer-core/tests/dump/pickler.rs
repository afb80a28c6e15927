//! Writes pickles as PyTorch's C++ pickler does, for tests and for the benchmark.
//!
//! Protocol 2. Texts are memoised by value when they are written, dicts that are shared by pointer after their body, nothing else.
//! Integers take the shortest of `BININT1`, `BININT2`, `BININT` and an eight byte `LONG1`. Containers are filled by one `SETITEMS` or
//! `APPENDS`, also when they are empty.

use std::collections::HashMap;
use std::rc::Rc;
// Unit tests of a crate without std use this file, too.
use std::vec;
use std::vec::Vec;

/// A value of a dump.
#[derive(Clone, Debug)]
pub enum Tree {
    #[allow(dead_code, reason = "the benchmark has none")]
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    List(Vec<Tree>),
    Tuple(Vec<Tree>),
    Dict(Vec<(Tree, Tree)>),
    /// A dict that the recorder holds by pointer: a stack frame.
    Shared(Rc<Tree>),
}

impl From<&str> for Tree {
    fn from(text: &str) -> Tree {
        Tree::Str(text.into())
    }
}

impl From<i64> for Tree {
    fn from(number: i64) -> Tree {
        Tree::Int(number)
    }
}

impl From<bool> for Tree {
    fn from(truth: bool) -> Tree {
        Tree::Bool(truth)
    }
}

/// A dict of text keys.
pub fn dict<const N: usize>(pairs: [(&str, Tree); N]) -> Tree {
    Tree::Dict(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// The bytes of a whole dump.
pub fn pickle(tree: &Tree) -> Vec<u8> {
    let mut pickler = Pickler { bytes: vec![0x80, 2], ..Pickler::default() };
    pickler.count(tree);
    pickler.write(tree);
    // The caller of the pickler holds the top-level dict, too.
    pickler.put();
    pickler.bytes.push(b'.');
    pickler.bytes
}

#[derive(Default)]
struct Pickler {
    bytes: Vec<u8>,
    strings: HashMap<Rc<str>, u32>,
    shared: HashMap<*const Tree, u32>,
    uses: HashMap<*const Tree, u32>,
    slots: u32,
}

impl Pickler {
    /// How often each shared dict is used: one that is used once isn't memoised.
    fn count(&mut self, tree: &Tree) {
        match tree {
            Tree::List(items) | Tree::Tuple(items) => items.iter().for_each(|item| self.count(item)),
            Tree::Dict(pairs) => pairs.iter().for_each(|(_, value)| self.count(value)),
            Tree::Shared(shared) => *self.uses.entry(Rc::as_ptr(shared)).or_default() += 1,
            _ => {}
        }
    }

    fn put(&mut self) -> u32 {
        let slot = self.slots;
        self.slots += 1;
        match u8::try_from(slot) {
            Ok(slot) => self.bytes.extend([b'q', slot]),
            Err(_) => self.with_number(b'r', slot),
        }
        slot
    }

    fn get(&mut self, slot: u32) {
        match u8::try_from(slot) {
            Ok(slot) => self.bytes.extend([b'h', slot]),
            Err(_) => self.with_number(b'j', slot),
        }
    }

    fn with_number(&mut self, op: u8, number: u32) {
        self.bytes.push(op);
        self.bytes.extend(number.to_le_bytes());
    }

    fn write(&mut self, tree: &Tree) {
        match tree {
            Tree::None => self.bytes.push(b'N'),
            Tree::Bool(truth) => self.bytes.push(if *truth { 0x88 } else { 0x89 }),
            Tree::Int(number) => self.int(*number),
            Tree::Float(number) => {
                self.bytes.push(b'G');
                self.bytes.extend(number.to_be_bytes());
            }
            Tree::Str(text) => match self.strings.get(text) {
                Some(&slot) => self.get(slot),
                None => {
                    self.with_number(b'X', text.len() as u32);
                    self.bytes.extend(text.as_bytes());
                    let slot = self.put();
                    self.strings.insert(text.clone(), slot);
                }
            },
            Tree::List(items) => {
                self.bytes.extend(b"](");
                items.iter().for_each(|item| self.write(item));
                self.bytes.push(b'e');
            }
            Tree::Tuple(items) => {
                if items.len() > 3 {
                    self.bytes.push(b'(');
                }
                items.iter().for_each(|item| self.write(item));
                self.bytes.push(match items.len() {
                    0 => b')',
                    1 => 0x85,
                    2 => 0x86,
                    3 => 0x87,
                    _ => b't',
                });
            }
            Tree::Dict(pairs) => {
                self.bytes.extend(b"}(");
                for (key, value) in pairs {
                    self.write(key);
                    self.write(value);
                }
                self.bytes.push(b'u');
            }
            Tree::Shared(shared) => {
                let pointer = Rc::as_ptr(shared);
                if let Some(&slot) = self.shared.get(&pointer) {
                    self.get(slot);
                    return;
                }
                self.write(shared);
                if self.uses.get(&pointer).is_some_and(|&uses| uses > 1) {
                    let slot = self.put();
                    self.shared.insert(pointer, slot);
                }
            }
        }
    }

    fn int(&mut self, number: i64) {
        if let Ok(small) = u8::try_from(number) {
            self.bytes.extend([b'K', small]);
        } else if let Ok(short) = u16::try_from(number) {
            self.bytes.push(b'M');
            self.bytes.extend(short.to_le_bytes());
        } else if let Ok(word) = i32::try_from(number) {
            self.bytes.push(b'J');
            self.bytes.extend(word.to_le_bytes());
        } else {
            self.bytes.extend([0x8a, 8]);
            self.bytes.extend(number.to_le_bytes());
        }
    }
}
