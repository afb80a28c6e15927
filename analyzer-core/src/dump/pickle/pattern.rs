//! Entries that an earlier one says already, but for their numbers.
//!
//! A program issues the same operations again and again, and a pickler writes what it has written before as a reference. So most
//! entries of a dump are byte for byte like an earlier one; only ids, times and durations differ. Such an entry is not decoded: its
//! bytes are compared, its numbers are read, and the rest is taken over.
//!
//! It comes to the same as decoding it: a pattern changes nothing in the memo and uses only texts and frames of it, and once one of
//! those was replaced ([`Memo::replaced`]) no pattern is used; equal bytes where an opcode begins are equal steps of the machine; and
//! what could be a fault in one entry and not in the next makes no pattern: unknown keys, stacks with something else in them, numbers
//! out of range.
//!
//! No byte is looked at more than a few times, for the bytes of a pattern begin no other dict.

use alloc::vec::Vec;

use super::super::value::Value;
use super::super::{Entry, keys};
use super::memo::{Memo, Short};
use super::op;

/// Marks that an entry has open at most: its own, and those of lists in lists.
pub(super) const MAX_DEPTH: usize = 3;
/// Patterns that are learnt before they have to prove their use.
const FREE_PATTERNS: usize = 1024;
/// Patterns of one hash that are tried.
const TRIES: usize = 8;
const BUCKETS_LOG2: u32 = 10;
const NO_PATTERN: u32 = u32::MAX;
/// No known word.
const NO_KEY: u16 = 0;

/// What was learnt from the entries so far.
#[derive(Debug, Default)]
pub(super) struct Patterns<'a> {
    all: Vec<Pattern<'a>>,
    /// Of all patterns.
    pieces: Vec<Piece>,
    /// The newest pattern of each hash.
    buckets: Vec<u32>,
    /// The pattern of the entry before this one.
    last: usize,
    hits: usize,
    /// What follows the opcode that began the last dict.
    pub(super) opened: &'a [u8],
}

#[derive(Debug)]
struct Pattern<'a> {
    /// What it was learnt from.
    bytes: &'a [u8],
    entry: Entry,
    /// A range of [`Patterns::pieces`].
    pieces: (u32, u32),
    /// Values that are on the stack at a time while it is decoded.
    height: u32,
    /// The next older one of the same hash.
    older: u32,
    /// The one of the entry that came next, the last time.
    next: u32,
}

/// Bytes of a pattern that stay, and the number behind them.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u16,
    end: u16,
    /// Key of the number.
    key: u16,
}

impl<'a> Patterns<'a> {
    /// The entry that these bytes begin with, which follow the opcode of its dict, and how many they are; `None` when it has to be
    /// decoded. `room` is how many values the stack has place for.
    #[inline(never)]
    pub(super) fn find(&mut self, bytes: &[u8], room: usize) -> Option<(Entry, usize)> {
        // What follows is the same in each step of a training loop.
        let mut at = self.all.get(self.last)?.next;
        let mut found = self.matched(at, bytes, room);
        if found.is_none() {
            at = self.buckets.get(hash(bytes)).copied()?;
            for _ in 0..TRIES {
                found = self.matched(at, bytes, room);
                if found.is_some() {
                    break;
                }
                at = self.all.get(at as usize)?.older;
            }
        }
        let found = found?;
        self.came(at);
        self.hits += 1;
        Some(found)
    }

    /// How many entries were found.
    #[cfg(test)]
    pub(super) fn hits(&self) -> usize {
        self.hits
    }

    fn matched(&self, at: u32, bytes: &[u8], room: usize) -> Option<(Entry, usize)> {
        let pattern = self.all.get(at as usize).filter(|pattern| pattern.height as usize <= room)?;
        let (first, pieces) = self.pieces.get(pattern.pieces.0 as usize..pattern.pieces.1 as usize)?.split_first()?;
        // The first piece has the call stack and tells nearly every other entry.
        let mut rest = behind(pattern.bytes.get(usize::from(first.start)..usize::from(first.end))?, bytes)?;
        let mut entry = pattern.entry;
        if first.key != NO_KEY {
            set(&mut entry, u32::from(first.key), number(&mut rest)?)?;
        }
        for piece in pieces {
            rest = behind(pattern.bytes.get(usize::from(piece.start)..usize::from(piece.end))?, rest)?;
            if piece.key != NO_KEY {
                set(&mut entry, u32::from(piece.key), number(&mut rest)?)?;
            }
        }
        Some((entry, bytes.len() - rest.len()))
    }

    fn came(&mut self, at: u32) {
        if let Some(before) = self.all.get_mut(self.last) {
            before.next = at;
        }
        self.last = at as usize;
    }

    /// Makes a pattern of an entry that was decoded from the bytes between `opened` and `rest`, if it can be one.
    #[inline(never)]
    pub(super) fn learn(&mut self, rest: &[u8], memo: &Memo, entry: Entry) {
        // Taken, for what follows the opcode may be long, and many dicts without one of their own may follow.
        let opened = core::mem::take(&mut self.opened);
        if self.all.len() >= FREE_PATTERNS + self.hits / 8 {
            return;
        }
        let start = self.pieces.len();
        let bytes = opened.get(..opened.len().saturating_sub(rest.len())).unwrap_or(&[]);
        let mut walk = Walk { bytes, start: 0, rest: bytes, height: 1, most: 1, memo };
        if walk.entry(&mut self.pieces).is_none() {
            self.pieces.truncate(start);
            return;
        }
        if self.buckets.is_empty() {
            self.buckets.resize(1 << BUCKETS_LOG2, NO_PATTERN);
        }
        let Some(newest) = self.buckets.get_mut(hash(opened)) else { return };
        let at = self.all.len() as u32;
        let older = core::mem::replace(newest, at);
        let pieces = (start as u32, self.pieces.len() as u32);
        self.all.push(Pattern { bytes, entry, pieces, height: walk.most, older, next: NO_PATTERN });
        self.came(at);
    }
}

/// What follows `prefix` in `bytes`; `None` when they do not begin with it.
///
/// wasm has no instruction that compares memory, and what stands in for it goes byte by byte. Here it is eight bytes at a time.
#[inline(always)]
fn behind<'b>(prefix: &[u8], bytes: &'b [u8]) -> Option<&'b [u8]> {
    if cfg!(not(target_family = "wasm")) {
        return bytes.strip_prefix(prefix);
    }
    let (same, rest) = bytes.split_at_checked(prefix.len())?;
    let ((words, last), (same_words, same_last)) = (prefix.as_chunks::<8>(), same.as_chunks::<8>());
    let mut differ = 0;
    for (word, same_word) in words.iter().zip(same_words) {
        differ |= u64::from_le_bytes(*word) ^ u64::from_le_bytes(*same_word);
    }
    for (byte, same_byte) in last.iter().zip(same_last) {
        differ |= u64::from(byte ^ same_byte);
    }
    (differ == 0).then_some(rest)
}

/// The bucket of an entry, by all references that it begins with: those to its first key and to the frames of its call stack.
#[inline(never)]
fn hash(bytes: &[u8]) -> usize {
    let mut hash = 0u64;
    let mut rest = bytes;
    loop {
        if let Some(slot) = reference(&mut rest) {
            hash = (hash.rotate_left(5) ^ u64::from(slot)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        } else if let Some(&(op::MARK | op::EMPTY_LIST)) = rest.first() {
            rest = rest.get(1..).unwrap_or(&[]);
        } else {
            return (hash >> (64 - BUCKETS_LOG2)) as usize;
        }
    }
}

/// Puts a number into an entry as decoding it would. `None` when there is something to say about it.
fn set(entry: &mut Entry, key: u32, value: Value) -> Option<()> {
    let time = match value {
        Value::Int(number) => number,
        Value::None => 0,
        _ if key == keys::DURATION_MS => 0,
        _ => return None,
    };
    // The largest one stands for "absent" in the columns.
    let id = || match value {
        Value::None => Some(None),
        _ => u32::try_from(time).ok().filter(|&id| id != u32::MAX).map(Some),
    };
    match key {
        keys::RECORD_ID => entry.record_id = id()?,
        keys::COLLECTIVE_SEQ_ID | keys::SEQ_ID => entry.collective_seq = id()?,
        keys::P2P_SEQ_ID => entry.p2p_seq = id()?,
        keys::OP_ID => entry.op_id = id()?,
        keys::TIME_CREATED_NS => entry.created_ns = time,
        keys::TIME_DISCOVERED_STARTED_NS => entry.started_ns = time,
        keys::TIME_DISCOVERED_COMPLETED_NS => entry.completed_ns = time,
        keys::DURATION_MS => {
            entry.duration_ms = match value {
                Value::Float(number) if number.is_finite() => Some(number as f32),
                Value::None => None,
                _ => return None,
            }
        }
        _ => return None,
    }
    Some(())
}

/// The number that the bytes begin with, in the forms that PyTorch writes, or none in its place.
#[inline(always)]
fn number(bytes: &mut &[u8]) -> Option<Value> {
    let (&code, rest) = bytes.split_first()?;
    let (value, len) = match code {
        op::BININT1 => (i64::from(*rest.first()?), 1),
        op::BININT2 => (i64::from(u16::from_le_bytes(*rest.first_chunk()?)), 2),
        op::BININT => (i64::from(i32::from_le_bytes(*rest.first_chunk()?)), 4),
        op::LONG1 if rest.first() == Some(&8) => (i64::from_le_bytes(*rest.get(1..)?.first_chunk()?), 9),
        op::BINFLOAT => {
            let (float, rest) = rest.split_first_chunk()?;
            *bytes = rest;
            return Some(Value::Float(f64::from_be_bytes(*float)));
        }
        op::NONE => {
            *bytes = rest;
            return Some(Value::None);
        }
        _ => return None,
    };
    *bytes = rest.get(len..)?;
    Some(Value::Int(value))
}

/// Goes through the bytes of an entry that can be a pattern.
struct Walk<'a, 'm> {
    bytes: &'a [u8],
    rest: &'a [u8],
    /// Where the last number ended.
    start: u16,
    /// Values on the stack, now and at most.
    height: u32,
    most: u32,
    memo: &'m Memo,
}

impl Walk<'_, '_> {
    fn entry(&mut self, pieces: &mut Vec<Piece>) -> Option<()> {
        self.code(op::MARK)?;
        while self.rest != [op::SETITEMS] {
            let key = self.text()?;
            match key {
                keys::FRAMES => self.list(|walk| match walk.reference()? {
                    Short::Frame(_) => Some(()),
                    _ => None,
                })?,
                keys::RECORD_ID
                | keys::COLLECTIVE_SEQ_ID
                | keys::SEQ_ID
                | keys::P2P_SEQ_ID
                | keys::OP_ID
                | keys::TIME_CREATED_NS
                | keys::DURATION_MS
                | keys::TIME_DISCOVERED_STARTED_NS
                | keys::TIME_DISCOVERED_COMPLETED_NS => {
                    self.cut(key as u16, pieces)?;
                    self.number()?;
                    self.start = self.at()?;
                }
                keys::PROCESS_GROUP => {
                    self.text()?;
                    self.text()?;
                    self.code(op::TUPLE2)?;
                    self.height -= 1;
                }
                keys::PG_ID
                | keys::THREAD_NAME
                | keys::THREAD_ID
                | keys::PROFILING_NAME
                | keys::INPUT_SIZES
                | keys::INPUT_DTYPES
                | keys::OUTPUT_SIZES
                | keys::OUTPUT_DTYPES
                | keys::STATE
                | keys::RETIRED
                | keys::TIMEOUT_MS
                | keys::IS_P2P
                | keys::INPUT_SPLIT_SIZES
                | keys::OUTPUT_SPLIT_SIZES => self.value(1)?,
                _ => return None,
            }
        }
        self.code(op::SETITEMS)?;
        self.cut(NO_KEY, pieces)
    }

    fn at(&self) -> Option<u16> {
        u16::try_from(self.bytes.len() - self.rest.len()).ok()
    }

    /// Ends a piece before a number, or at the end.
    fn cut(&self, key: u16, pieces: &mut Vec<Piece>) -> Option<()> {
        pieces.push(Piece { start: self.start, end: self.at()?, key });
        Some(())
    }

    fn code(&mut self, code: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[code])?;
        Some(())
    }

    fn pushed(&mut self) {
        self.height += 1;
        self.most = self.most.max(self.height);
    }

    fn number(&mut self) -> Option<()> {
        self.pushed();
        number(&mut self.rest).map(drop)
    }

    fn reference(&mut self) -> Option<Short> {
        self.pushed();
        self.memo.short(reference(&mut self.rest)?)
    }

    fn text(&mut self) -> Option<u32> {
        match self.reference()? {
            Short::Str(text) => Some(text.0),
            _ => None,
        }
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.code(op::EMPTY_LIST)?;
        self.code(op::MARK)?;
        self.pushed();
        let height = self.height;
        while self.code(op::APPENDS).is_none() {
            item(self)?;
        }
        self.height = height;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match *self.rest.first()? {
            op::BINGET | op::LONG_BINGET => self.text().map(drop),
            code @ (op::NEWTRUE | op::NEWFALSE) => {
                self.pushed();
                self.code(code)
            }
            op::EMPTY_LIST if depth < MAX_DEPTH => self.list(|walk| walk.value(depth + 1)),
            _ => self.number(),
        }
    }
}

/// The memo slot that the bytes begin with a reference to.
fn reference(bytes: &mut &[u8]) -> Option<u32> {
    let (&code, rest) = bytes.split_first()?;
    let (slot, len) = match code {
        op::BINGET => (u32::from(*rest.first()?), 1),
        op::LONG_BINGET => (u32::from_le_bytes(*rest.first_chunk()?), 4),
        _ => return None,
    };
    *bytes = rest.get(len..)?;
    Some(slot)
}
