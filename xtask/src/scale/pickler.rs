//! Writes pickles as PyTorch's C++ pickler does.
//!
//! Protocol 2. Texts are memoised by value when they are written, frames that are used more than once after their body, nothing
//! else but the top level. Integers take the shortest of `BININT1`, `BININT2`, `BININT` and an eight byte `LONG1`. Containers are
//! filled by one `SETITEMS` or `APPENDS`, also when they are empty.

use super::symbols::{FrameId, Symbols, TextId};

const NOT_WRITTEN: u32 = u32::MAX;

/// A pickle that is being written.
#[derive(Debug)]
pub(super) struct Pickler<'symbols> {
    symbols: &'symbols Symbols,
    keys: FrameKeys,
    bytes: Vec<u8>,
    text_slots: Vec<u32>,
    frame_slots: Vec<u32>,
    /// How often each frame is used in the whole dump: one that is used once is not memoised.
    frame_uses: Vec<u32>,
    slots: u32,
}

/// The keys of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameKeys {
    pub(super) name: TextId,
    pub(super) filename: TextId,
    pub(super) line: TextId,
}

impl<'symbols> Pickler<'symbols> {
    /// Begins a pickle in `bytes`, which are cleared.
    pub(super) fn new(symbols: &'symbols Symbols, keys: FrameKeys, frame_uses: Vec<u32>, mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        bytes.extend([0x80, 2]);
        Self {
            symbols,
            keys,
            bytes,
            text_slots: vec![NOT_WRITTEN; symbols.text_count()],
            frame_slots: vec![NOT_WRITTEN; symbols.frame_count()],
            frame_uses,
            slots: 0,
        }
    }

    /// Ends the pickle.
    pub(super) fn finish(mut self) -> Vec<u8> {
        // The caller of the pickler holds the top-level dict, too.
        self.put();
        self.bytes.push(b'.');
        self.bytes
    }

    pub(super) fn dict(&mut self, fill: impl FnOnce(&mut Self)) {
        self.bytes.extend(b"}(");
        fill(self);
        self.bytes.push(b'u');
    }

    pub(super) fn list(&mut self, fill: impl FnOnce(&mut Self)) {
        self.bytes.extend(b"](");
        fill(self);
        self.bytes.push(b'e');
    }

    pub(super) fn pair(&mut self, first: TextId, second: TextId) {
        self.text(first);
        self.text(second);
        self.bytes.push(0x86);
    }

    pub(super) fn none(&mut self) {
        self.bytes.push(b'N');
    }

    pub(super) fn bool(&mut self, truth: bool) {
        self.bytes.push(if truth { 0x88 } else { 0x89 });
    }

    pub(super) fn float(&mut self, number: f64) {
        self.bytes.push(b'G');
        self.bytes.extend(number.to_be_bytes());
    }

    pub(super) fn int(&mut self, number: i64) {
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

    pub(super) fn text(&mut self, id: TextId) {
        let slot = self.text_slots[id.0 as usize];
        if slot != NOT_WRITTEN {
            return self.get(slot);
        }
        let text = self.symbols.text_of(id);
        self.with_number(b'X', text.len() as u32);
        self.bytes.extend(text.as_bytes());
        self.text_slots[id.0 as usize] = self.put();
    }

    pub(super) fn frame(&mut self, id: FrameId) {
        let at = id.0 as usize;
        let slot = self.frame_slots[at];
        if slot != NOT_WRITTEN {
            return self.get(slot);
        }
        let (function, file, line) = self.symbols.frame_of(id);
        let keys = self.keys;
        self.dict(|pickler| {
            pickler.text(keys.name);
            pickler.text(function);
            pickler.text(keys.filename);
            pickler.text(file);
            pickler.text(keys.line);
            pickler.int(line.into());
        });
        if self.frame_uses[at] > 1 {
            self.frame_slots[at] = self.put();
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
}
