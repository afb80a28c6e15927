//! The machine: value stack, marks, memo.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::Fault;
use super::super::digest::Sink;
use super::super::value::{NOWHERE, Value};
use super::cursor::{Cursor, Fatal};
use super::memo::{Memo, Short};
use super::number::long;
use super::op;
use super::partials::Partials;
use super::pattern::{MAX_DEPTH, Patterns};

/// Marks that may be open at a time. A dump nests ten deep.
const MAX_MARKS: usize = 1000;

/// Reads one pickle.
#[derive(Debug)]
pub(in super::super) struct Machine<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) stack: Vec<Value>,
    /// Heights of the stack at the open marks.
    pub(super) marks: Vec<u32>,
    pub(super) memo: Memo,
    pub(super) partials: Partials,
    pub(super) patterns: Patterns<'a>,
    max_stack: usize,
    pub(in super::super) sink: Sink,
}

impl<'a> Machine<'a> {
    /// A machine for these bytes.
    pub(in super::super) fn new(bytes: &'a [u8]) -> Self {
        Machine {
            cursor: Cursor::new(bytes),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Memo::new(bytes.len()),
            partials: Partials::default(),
            patterns: Patterns::default(),
            max_stack: (1 << 16) + bytes.len() / 8,
            sink: Sink::new(bytes.len()),
        }
    }

    /// How many bytes were read.
    pub(in super::super) fn position(&self) -> usize {
        self.cursor.at()
    }

    /// Runs to the end of the pickle and answers with the value that it makes.
    pub(in super::super) fn run(&mut self) -> Result<Value, Fault> {
        self.steps().map_err(|fault| *fault)
    }

    /// The sink and what stood on the stack, for a pickle that broke off.
    pub(in super::super) fn into_remains(self) -> (Sink, Vec<Value>) {
        if self.partials.live() == 0 {
            return (self.sink, self.stack);
        }
        let mut flat = Vec::new();
        for value in self.stack {
            match value {
                Value::Partial { index, .. } => {
                    if let Some(partial) = self.partials.get(index) {
                        if partial.is_dict {
                            flat.push(Value::EMPTY_DICT);
                        }
                        flat.extend_from_slice(&partial.items);
                    }
                }
                other => flat.push(other),
            }
        }
        (self.sink, flat)
    }

    fn steps(&mut self) -> Result<Value, Fatal> {
        // Kept out of `self`, so that it lives in registers; everything that looks at the place in the file gets it back first.
        let mut cursor = self.cursor;
        loop {
            let code = cursor.byte()?;
            match code {
                // References come in runs: the frames of a stack.
                op::BINGET | op::LONG_BINGET => {
                    let mut code = code;
                    loop {
                        let slot = if code == op::BINGET { u32::from(cursor.byte()?) } else { cursor.u32()? };
                        self.fetch(slot, &cursor)?;
                        match cursor.peek() {
                            Some(next @ (op::BINGET | op::LONG_BINGET)) => code = next,
                            _ => break,
                        }
                        cursor.skip();
                    }
                }
                op::BININT1 => {
                    let number = cursor.byte()?;
                    self.push_at(Value::Int(i64::from(number)), &cursor)?;
                }
                op::BININT2 => {
                    let number = cursor.u16()?;
                    self.push_at(Value::Int(i64::from(number)), &cursor)?;
                }
                op::BININT => {
                    let number = i32::from_le_bytes(cursor.array()?);
                    self.push_at(Value::Int(i64::from(number)), &cursor)?;
                }
                op::LONG1 => {
                    let len = cursor.byte()?;
                    let bytes = cursor.slice(u64::from(len))?;
                    self.push_at(long(bytes), &cursor)?;
                }
                op::BINFLOAT => {
                    let number = f64::from_be_bytes(cursor.array()?);
                    self.push_at(Value::Float(number), &cursor)?;
                }
                op::NONE => self.push_at(Value::None, &cursor)?,
                op::NEWTRUE => self.push_at(Value::Bool(true), &cursor)?,
                op::NEWFALSE => self.push_at(Value::Bool(false), &cursor)?,
                op::EMPTY_LIST | op::EMPTY_TUPLE | op::EMPTY_SET => self.push_at(Value::EMPTY_LIST, &cursor)?,
                op::EMPTY_DICT => {
                    self.cursor = cursor;
                    if !self.repeats() {
                        self.push(Value::EMPTY_DICT)?;
                    }
                    cursor = self.cursor;
                }
                op::MARK => {
                    if self.marks.len() >= MAX_MARKS {
                        self.cursor = cursor;
                        return Err(self.too_deep());
                    }
                    self.marks.push(self.stack.len() as u32);
                }
                other => {
                    self.cursor = cursor;
                    match other {
                        op::APPENDS => self.appends()?,
                        op::SETITEMS => self.setitems()?,
                        op::TUPLE2 => self.tuple(2)?,
                        op::STOP => return self.result(),
                        other => self.other_step(other)?,
                    }
                    cursor = self.cursor;
                }
            }
        }
    }

    /// Reads an entry that an earlier one says already, up to its end. Else nothing happens, and the dict is to be decoded.
    fn repeats(&mut self) -> bool {
        let bytes = self.cursor.rest();
        self.patterns.opened = bytes;
        // What would be too deep or too much is left to those who say so.
        let room = self.stack.capacity() - self.stack.len();
        if self.memo.replaced || self.marks.len() + MAX_DEPTH > MAX_MARKS {
            return false;
        }
        let Some((entry, len)) = self.patterns.find(bytes, room) else { return false };
        let Some(value) = self.sink.add_entry(&entry) else { return false };
        self.stack.push(value);
        self.cursor.advance(len);
        self.sink.offset = Some(self.cursor.at() as u64);
        true
    }

    /// Opcodes that a dump has often and that are not worth a place in the loop.
    fn other_step(&mut self, code: u8) -> Result<(), Fatal> {
        match code {
            op::BINPUT => {
                let slot = u32::from(self.cursor.byte()?);
                self.put(slot)
            }
            op::LONG_BINPUT => {
                let slot = self.cursor.u32()?;
                self.put(slot)
            }
            op::BINUNICODE => {
                let len = self.cursor.u32()?;
                self.text(u64::from(len))
            }
            op::MEMOIZE => {
                let slot = u32::try_from(self.memo.len()).unwrap_or(NOWHERE);
                self.put(slot)
            }
            op::SHORT_BINUNICODE => {
                let len = self.cursor.byte()?;
                self.text(u64::from(len))
            }
            rare => self.rare_step(rare),
        }
    }

    /// Pushes a value; only the fault needs to know the place.
    #[inline(always)]
    fn push_at(&mut self, value: Value, cursor: &Cursor<'a>) -> Result<(), Fatal> {
        if self.stack.len() == self.stack.capacity() {
            self.cursor = *cursor;
            self.grow()?;
        }
        self.stack.push(value);
        Ok(())
    }

    /// Pushes a value of the memo. A container that was fetched is a copy; what is added to it later is added to the copy.
    #[inline(always)]
    fn fetch(&mut self, slot: u32, cursor: &Cursor<'a>) -> Result<(), Fatal> {
        // Each arm pushes by itself: a value that is put together first and copied as a whole right after stalls the processor.
        match self.memo.short(slot) {
            Some(Short::Str(id)) => self.push_at(Value::Str(id), cursor),
            Some(Short::Frame(id)) => self.push_at(Value::Frame(id), cursor),
            _ => {
                self.cursor = *cursor;
                self.fetch_other(slot)
            }
        }
    }

    #[cold]
    fn fetch_other(&mut self, slot: u32) -> Result<(), Fatal> {
        match self.memo.get(slot) {
            Some(value) => self.push(value),
            None => Err(self.never_put(slot)),
        }
    }

    #[cold]
    pub(super) fn never_put(&self, slot: u32) -> Fatal {
        self.wrong(format!("value {slot} of the memo is used, and was never put there"))
    }

    #[cold]
    fn too_deep(&self) -> Fatal {
        self.wrong(format!("the pickle nests more than {MAX_MARKS} deep; a dump nests ten deep"))
    }

    #[inline(always)]
    pub(super) fn push(&mut self, value: Value) -> Result<(), Fatal> {
        if self.stack.len() == self.stack.capacity() {
            self.grow()?;
        }
        self.stack.push(value);
        Ok(())
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Fatal> {
        if self.stack.len() >= self.max_stack {
            return Err(self.wrong(format!(
                "{} values are open at the same time, more than a dump of this size can have",
                self.stack.len()
            )));
        }
        self.stack.reserve(self.stack.len().max(256));
        Ok(())
    }

    pub(super) fn top(&self) -> Result<Value, Fatal> {
        if self.marks.last().is_some_and(|&mark| mark as usize >= self.stack.len()) {
            return Err(self.underflow());
        }
        self.stack.last().copied().ok_or_else(|| self.underflow())
    }

    #[inline(always)]
    pub(super) fn put(&mut self, slot: u32) -> Result<(), Fatal> {
        let Some(&top) = self.stack.last() else { return Err(self.underflow()) };
        if self.marks.last().is_some_and(|&mark| mark as usize >= self.stack.len()) {
            return Err(self.underflow());
        }
        let kept = match top {
            // It will be filled: its digest then goes to this slot.
            Value::Dict { .. } | Value::List { .. } => {
                if let Some(top) = self.stack.last_mut() {
                    *top = top.with_slot(slot);
                }
                top.with_slot(NOWHERE)
            }
            Value::Partial { .. } => {
                let at = self.stack.len() - 1;
                self.settle(at)?;
                let settled = self.top()?.with_slot(slot);
                if let Some(top) = self.stack.last_mut() {
                    *top = settled;
                }
                settled.with_slot(NOWHERE)
            }
            other => other,
        };
        if !self.memo.put(slot, kept) {
            return Err(self.wrong(String::from("the memo has more values than a dump of this size can have")));
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn unmark(&mut self) -> Result<usize, Fatal> {
        match self.marks.pop() {
            Some(mark) if mark as usize <= self.stack.len() => Ok(mark as usize),
            _ => Err(self.underflow()),
        }
    }

    /// The text of the next `len` bytes.
    #[inline(always)]
    pub(super) fn text(&mut self, len: u64) -> Result<(), Fatal> {
        let bytes = self.cursor.slice(len)?;
        match core::str::from_utf8(bytes) {
            Ok(text) => self.intern(text),
            // Names of threads and of files are bytes to the recorder.
            Err(_) => self.intern(&String::from_utf8_lossy(bytes)),
        }
    }

    #[inline(always)]
    pub(super) fn intern(&mut self, text: &str) -> Result<(), Fatal> {
        let id = self.sink.symbols.strings.intern(text);
        self.push(Value::Str(id))
    }

    pub(super) fn result(&mut self) -> Result<Value, Fatal> {
        let at = self.stack.len().saturating_sub(1);
        self.settle(at)?;
        if !self.marks.is_empty() {
            return Err(self.wrong(String::from("the pickle ends inside a list or a dict")));
        }
        self.stack.pop().ok_or_else(|| self.underflow())
    }

    /// Operands end where the innermost mark is.
    pub(super) fn guard_mark(&self, lowest: usize) -> Result<(), Fatal> {
        match self.marks.last() {
            Some(&mark) if (mark as usize) > lowest => Err(self.underflow()),
            _ => Ok(()),
        }
    }

    #[cold]
    pub(super) fn underflow(&self) -> Fatal {
        self.wrong(String::from("the pickle uses a value that it did not make; the file is damaged"))
    }

    #[cold]
    pub(super) fn wrong(&self, message: String) -> Fatal {
        self.cursor.malformed(self.cursor.at().saturating_sub(1), message)
    }

    #[cold]
    pub(super) fn sink_stopped(&mut self) -> Option<Fatal> {
        self.sink.stop.take().map(alloc::boxed::Box::new)
    }
}
