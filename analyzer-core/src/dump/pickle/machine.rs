//! The machine: value stack, marks, memo.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::Fault;
use super::super::digest::Sink;
use super::super::value::{NOWHERE, Value};
use super::cursor::{Cursor, Fatal};
use super::memo::Memo;
use super::op;
use super::partials::Partials;

/// Marks that may be open at a time. A dump nests ten deep.
const MAX_MARKS: usize = 1000;

const KEY_WITHOUT_VALUE: &str = "a dict has a key without a value";

/// Reads one pickle.
#[derive(Debug)]
pub(in super::super) struct Machine<'a> {
    cursor: Cursor<'a>,
    stack: Vec<Value>,
    /// Heights of the stack at the open marks.
    marks: Vec<u32>,
    memo: Memo,
    partials: Partials,
    max_stack: usize,
    pub(in super::super) sink: Sink,
}

impl<'a> Machine<'a> {
    /// A machine for these bytes. Faults count offsets from `base`.
    pub(in super::super) fn new(bytes: &'a [u8]) -> Self {
        Machine {
            cursor: Cursor::new(bytes),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Memo::new(bytes.len()),
            partials: Partials::default(),
            max_stack: (1 << 16) + bytes.len() / 8,
            sink: Sink::new(bytes.len()),
        }
    }

    /// How many bytes were read.
    pub(in super::super) fn position(&self) -> usize {
        self.cursor.at
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
        loop {
            let code = self.cursor.byte()?;
            match code {
                op::BINGET => {
                    let slot = u32::from(self.cursor.byte()?);
                    self.fetch(slot)?;
                }
                op::LONG_BINGET => {
                    let slot = self.cursor.u32()?;
                    self.fetch(slot)?;
                }
                op::BININT1 => {
                    let number = self.cursor.byte()?;
                    self.push(Value::Int(i64::from(number)))?;
                }
                op::MARK => self.mark()?,
                op::EMPTY_LIST | op::EMPTY_TUPLE | op::EMPTY_SET => self.push(Value::EMPTY_LIST)?,
                op::EMPTY_DICT => self.push(Value::EMPTY_DICT)?,
                op::APPENDS | op::ADDITEMS => self.appends()?,
                op::SETITEMS => self.setitems()?,
                op::LONG1 => {
                    let len = self.cursor.byte()?;
                    let bytes = self.cursor.slice(u64::from(len))?;
                    self.push(long(bytes))?;
                }
                op::BINPUT => {
                    let slot = u32::from(self.cursor.byte()?);
                    self.put(slot)?;
                }
                op::LONG_BINPUT => {
                    let slot = self.cursor.u32()?;
                    self.put(slot)?;
                }
                op::BINUNICODE => {
                    let len = self.cursor.u32()?;
                    self.text(u64::from(len))?;
                }
                op::BININT => {
                    let number = i32::from_le_bytes(self.cursor.array()?);
                    self.push(Value::Int(i64::from(number)))?;
                }
                op::BININT2 => {
                    let number = self.cursor.u16()?;
                    self.push(Value::Int(i64::from(number)))?;
                }
                op::BINFLOAT => {
                    let number = f64::from_be_bytes(self.cursor.array()?);
                    self.push(Value::Float(number))?;
                }
                op::NONE => self.push(Value::None)?,
                op::NEWTRUE => self.push(Value::Bool(true))?,
                op::NEWFALSE => self.push(Value::Bool(false))?,
                op::TUPLE2 => self.tuple(2)?,
                op::MEMOIZE => {
                    let slot = u32::try_from(self.memo.len()).unwrap_or(NOWHERE);
                    self.put(slot)?;
                }
                op::SHORT_BINUNICODE => {
                    let len = self.cursor.byte()?;
                    self.text(u64::from(len))?;
                }
                op::STOP => return self.result(),
                rare => self.rare_step(rare)?,
            }
        }
    }

    /// Opcodes of which a dump has few or none.
    #[cold]
    fn rare_step(&mut self, code: u8) -> Result<(), Fatal> {
        match code {
            op::PROTO => {
                let version = self.cursor.byte()?;
                if version > 5 {
                    return Err(self.wrong(format!("the pickle has protocol {version}; 0 to 5 are known")));
                }
                Ok(())
            }
            op::FRAME => self.cursor.array::<8>().map(|_| ()),
            op::TUPLE1 => self.tuple(1),
            op::TUPLE3 => self.tuple(3),
            op::TUPLE | op::LIST | op::FROZENSET => {
                let from = self.unmark()?;
                self.tuple_from(from)
            }
            op::DICT => {
                let from = self.unmark()?;
                self.settle(from)?;
                let (pairs, odd) = self.stack.get(from..).unwrap_or(&[]).as_chunks::<2>();
                if !odd.is_empty() {
                    return Err(self.wrong(String::from(KEY_WITHOUT_VALUE)));
                }
                let value = self.sink.dict(pairs);
                self.finish_container(from, value)
            }
            op::APPEND => self.append(),
            op::SETITEM => self.setitem(),
            op::BINUNICODE8 => {
                let len = u64::from_le_bytes(self.cursor.array()?);
                self.text(len)
            }
            op::BINSTRING => {
                let len = self.cursor.u32()?;
                self.text(u64::from(len))
            }
            op::SHORT_BINSTRING => {
                let len = self.cursor.byte()?;
                self.text(u64::from(len))
            }
            op::BINBYTES => {
                let len = self.cursor.u32()?;
                self.blob(u64::from(len))
            }
            op::SHORT_BINBYTES => {
                let len = self.cursor.byte()?;
                self.blob(u64::from(len))
            }
            op::BINBYTES8 | op::BYTEARRAY8 => {
                let len = u64::from_le_bytes(self.cursor.array()?);
                self.blob(len)
            }
            op::LONG4 => {
                let len = self.cursor.u32()?;
                let bytes = self.cursor.slice(u64::from(len))?;
                self.push(long(bytes))
            }
            op::INT | op::LONG | op::FLOAT | op::UNICODE | op::STRING | op::PUT | op::GET => self.text_step(code),
            op::POP => self.pop_value(),
            op::POP_MARK => {
                let from = self.unmark()?;
                self.forget(from);
                Ok(())
            }
            op::DUP => {
                let top = self.stack.len().saturating_sub(1);
                self.settle(top)?;
                let value = self.top()?;
                self.push(value.with_slot(NOWHERE))
            }
            op::GLOBAL => {
                let (module, name) = (self.cursor.line()?, self.cursor.line()?);
                self.global(module, name)
            }
            op::REDUCE => self.reduce(),
            op::STACK_GLOBAL
            | op::INST
            | op::OBJ
            | op::NEWOBJ
            | op::NEWOBJ_EX
            | op::BUILD
            | op::PERSID
            | op::BINPERSID
            | op::EXT1
            | op::EXT2
            | op::EXT4 => {
                let name = op::name(code).unwrap_or("?");
                Err(self.wrong(format!(
                    "the pickle makes a Python object ({name}); a dump has plain data only, so this is no dump or not one to trust"
                )))
            }
            other => {
                Err(self.wrong(format!("there is no pickle opcode {other:#04x}; the file is damaged or no pickle")))
            }
        }
    }

    /// Opcodes of protocol 0, whose argument is a line of text.
    fn text_step(&mut self, code: u8) -> Result<(), Fatal> {
        let at = self.cursor.at;
        let line = self.cursor.line()?;
        let text = core::str::from_utf8(line).unwrap_or("").trim();
        let value = match code {
            op::INT if text == "01" => Value::Bool(true),
            op::INT if text == "00" => Value::Bool(false),
            op::INT | op::LONG => match text.trim_end_matches('L').parse() {
                Ok(number) => Value::Int(number),
                Err(_)
                    if text.len() > 18 && text.bytes().all(|byte| byte.is_ascii_digit() || b"-L".contains(&byte)) =>
                {
                    Value::Huge
                }
                Err(_) => return Err(self.cursor.malformed(at, String::from("an integer should stand here"))),
            },
            op::FLOAT => match text.parse() {
                Ok(number) => Value::Float(number),
                Err(_) => return Err(self.cursor.malformed(at, String::from("a number should stand here"))),
            },
            op::UNICODE => return self.intern(&unescape(line)),
            op::STRING => {
                let inner = line.get(1..line.len().saturating_sub(1)).unwrap_or(&[]);
                return self.intern(&unescape(inner));
            }
            _ => {
                let Ok(slot) = text.parse() else {
                    return Err(self.cursor.malformed(at, String::from("the number of a memo slot should stand here")));
                };
                return if code == op::PUT { self.put(slot) } else { self.fetch(slot) };
            }
        };
        self.push(value)
    }

    #[inline]
    fn push(&mut self, value: Value) -> Result<(), Fatal> {
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

    fn top(&self) -> Result<Value, Fatal> {
        if self.marks.last().is_some_and(|&mark| mark as usize >= self.stack.len()) {
            return Err(self.underflow());
        }
        self.stack.last().copied().ok_or_else(|| self.underflow())
    }

    #[inline]
    fn fetch(&mut self, slot: u32) -> Result<(), Fatal> {
        let Some(value) = self.memo.get(slot) else {
            return Err(self.wrong(format!("value {slot} of the memo is used, and was never put there")));
        };
        // A container that was fetched is a copy; what is added to it later is added to the copy.
        self.push(value)
    }

    #[inline]
    fn put(&mut self, slot: u32) -> Result<(), Fatal> {
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

    #[inline]
    fn mark(&mut self) -> Result<(), Fatal> {
        if self.marks.len() >= MAX_MARKS {
            return Err(self.wrong(format!("the pickle nests more than {MAX_MARKS} deep; a dump nests ten deep")));
        }
        self.marks.push(self.stack.len() as u32);
        Ok(())
    }

    #[inline]
    fn unmark(&mut self) -> Result<usize, Fatal> {
        match self.marks.pop() {
            Some(mark) if mark as usize <= self.stack.len() => Ok(mark as usize),
            _ => Err(self.underflow()),
        }
    }

    /// The text of the next `len` bytes.
    #[inline]
    fn text(&mut self, len: u64) -> Result<(), Fatal> {
        let bytes = self.cursor.slice(len)?;
        match core::str::from_utf8(bytes) {
            Ok(text) => self.intern(text),
            // Names of threads and of files are bytes to the recorder.
            Err(_) => self.intern(&String::from_utf8_lossy(bytes)),
        }
    }

    #[inline]
    fn intern(&mut self, text: &str) -> Result<(), Fatal> {
        let id = self.sink.symbols.strings.intern(text);
        self.push(Value::Str(id))
    }

    /// Bytes are text in dumps that Python 2 style writers made; anything else in them is not kept.
    fn blob(&mut self, len: u64) -> Result<(), Fatal> {
        let bytes = self.cursor.slice(len)?;
        match core::str::from_utf8(bytes) {
            Ok(text) => self.intern(text),
            Err(_) => self.push(Value::Opaque),
        }
    }

    #[inline]
    fn appends(&mut self) -> Result<(), Fatal> {
        let from = self.unmark()?;
        self.settle(from)?;
        let Some(holder) = from.checked_sub(1).and_then(|at| self.stack.get(at)).copied() else {
            return Err(self.underflow());
        };
        self.sink.offset = Some(self.cursor.at as u64);
        let items = self.stack.get(from..).unwrap_or(&[]);
        let value = match holder {
            Value::List { .. } => self.sink.list(items),
            Value::Entries { .. } | Value::Dumps { .. } | Value::Opaque => self.sink.extend_list(holder, items),
            _ => return self.appends_to_digested(from, holder),
        };
        self.stack.truncate(from);
        self.replace_holder(holder, value)
    }

    /// A list of one of the kinds that can't grow once they are digested: it is opened again.
    #[cold]
    fn appends_to_digested(&mut self, from: usize, holder: Value) -> Result<(), Fatal> {
        let slot = holder.slot();
        let items = self.stack.split_off(from);
        if let Value::Partial { index, .. } = holder
            && let Some(partial) = self.partials.get_mut(index)
            && !partial.is_dict
        {
            partial.items.extend_from_slice(&items);
            return Ok(());
        }
        let Some(mut unfolded) = self.sink.unfold(holder) else {
            let found = holder.describe();
            return Err(self.sink_stopped().unwrap_or_else(|| self.wrong(format!("items are appended to {found}"))));
        };
        unfolded.extend_from_slice(&items);
        let index = self.partials.start(false, unfolded);
        self.set_top(Value::Partial { slot, index });
        Ok(())
    }

    fn append(&mut self) -> Result<(), Fatal> {
        let Some(from) = self.stack.len().checked_sub(1) else { return Err(self.underflow()) };
        self.guard_mark(from.saturating_sub(1))?;
        self.settle(from)?;
        let Some(holder) = from.checked_sub(1).and_then(|at| self.stack.get(at)).copied() else {
            return Err(self.underflow());
        };
        let Some(&item) = self.stack.get(from) else { return Err(self.underflow()) };
        self.sink.offset = Some(self.cursor.at as u64);
        let value = match holder {
            // Long lists of entries are never held twice.
            Value::List { .. } if matches!(item, Value::Entry(_) | Value::Dump(_)) => self.sink.list(&[item]),
            Value::Entries { .. } | Value::Dumps { .. } | Value::Opaque => self.sink.extend_list(holder, &[item]),
            Value::List { slot } => {
                let index = self.partials.start(false, alloc::vec![item]);
                self.stack.truncate(from);
                self.set_top(Value::Partial { slot, index });
                return Ok(());
            }
            _ => return self.appends_to_digested(from, holder),
        };
        self.stack.truncate(from);
        self.replace_holder(holder, value)
    }

    #[inline]
    fn setitems(&mut self) -> Result<(), Fatal> {
        let from = self.unmark()?;
        self.settle(from)?;
        let Some(holder) = from.checked_sub(1).and_then(|at| self.stack.get(at)).copied() else {
            return Err(self.underflow());
        };
        self.sink.offset = Some(self.cursor.at as u64);
        let items = self.stack.get(from..).unwrap_or(&[]);
        let (pairs, odd) = items.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(self.wrong(String::from(KEY_WITHOUT_VALUE)));
        }
        let value = match holder {
            Value::Dict { .. } => self.sink.dict(pairs),
            Value::Groups { .. } | Value::Statuses { .. } | Value::Dumps { .. } | Value::Opaque => {
                self.sink.extend_dict(holder, pairs)
            }
            _ => return self.setitems_to_digested(from, holder),
        };
        self.stack.truncate(from);
        self.replace_holder(holder, value)
    }

    #[cold]
    fn setitems_to_digested(&mut self, from: usize, holder: Value) -> Result<(), Fatal> {
        let items = self.stack.split_off(from);
        if let Value::Partial { index, .. } = holder
            && let Some(partial) = self.partials.get_mut(index)
            && partial.is_dict
        {
            partial.items.extend_from_slice(&items);
            return Ok(());
        }
        if items.is_empty() {
            return Ok(());
        }
        let found = holder.describe();
        Err(self.wrong(format!("a key is added to {found}, which was complete already")))
    }

    fn setitem(&mut self) -> Result<(), Fatal> {
        let Some(from) = self.stack.len().checked_sub(2) else { return Err(self.underflow()) };
        self.guard_mark(from.saturating_sub(1))?;
        self.settle(from)?;
        let Some(holder) = from.checked_sub(1).and_then(|at| self.stack.get(at)).copied() else {
            return Err(self.underflow());
        };
        self.sink.offset = Some(self.cursor.at as u64);
        match holder {
            Value::Dict { slot } => {
                let items = self.stack.split_off(from);
                let index = self.partials.start(true, items);
                self.set_top(Value::Partial { slot, index });
                Ok(())
            }
            Value::Groups { .. } | Value::Statuses { .. } | Value::Dumps { .. } | Value::Opaque => {
                let pairs = self.stack.get(from..).unwrap_or(&[]).as_chunks::<2>().0;
                let value = self.sink.extend_dict(holder, pairs);
                self.stack.truncate(from);
                self.replace_holder(holder, value)
            }
            _ => self.setitems_to_digested(from, holder),
        }
    }

    fn tuple(&mut self, len: usize) -> Result<(), Fatal> {
        let Some(from) = self.stack.len().checked_sub(len) else { return Err(self.underflow()) };
        self.guard_mark(from)?;
        self.tuple_from(from)
    }

    #[inline]
    fn tuple_from(&mut self, from: usize) -> Result<(), Fatal> {
        self.settle(from)?;
        self.sink.offset = Some(self.cursor.at as u64);
        let value = self.sink.list(self.stack.get(from..).unwrap_or(&[]));
        self.finish_container(from, value)
    }

    fn finish_container(&mut self, from: usize, value: Value) -> Result<(), Fatal> {
        self.stack.truncate(from);
        self.push(value)?;
        self.sink_stopped().map_or(Ok(()), Err)
    }

    /// Puts the digest of a container in its place on the stack and in the memo.
    #[inline]
    fn replace_holder(&mut self, holder: Value, value: Value) -> Result<(), Fatal> {
        let slot = holder.slot();
        let value = if slot == NOWHERE {
            value
        } else {
            self.memo.update(slot, value.with_slot(NOWHERE));
            value.with_slot(slot)
        };
        self.set_top(value);
        match self.sink.stop {
            None => Ok(()),
            Some(_) => self.sink_stopped().map_or(Ok(()), Err),
        }
    }

    #[inline]
    fn set_top(&mut self, value: Value) {
        if let Some(top) = self.stack.last_mut() {
            *top = value;
        }
    }

    /// Digests the containers above `from` that were filled one item at a time: now something uses them.
    #[inline]
    fn settle(&mut self, from: usize) -> Result<(), Fatal> {
        if self.partials.live() == 0 {
            return Ok(());
        }
        self.settle_each(from)
    }

    #[cold]
    fn settle_each(&mut self, from: usize) -> Result<(), Fatal> {
        for at in from..self.stack.len() {
            let Some(&Value::Partial { slot, index }) = self.stack.get(at) else { continue };
            let partial = self.partials.take(index);
            self.sink.offset = Some(self.cursor.at as u64);
            let value = if partial.is_dict {
                self.sink.dict(partial.items.as_chunks::<2>().0)
            } else {
                self.sink.list(&partial.items)
            };
            if slot != NOWHERE {
                self.memo.update(slot, value.with_slot(NOWHERE));
            }
            if let Some(place) = self.stack.get_mut(at) {
                *place = value.with_slot(slot);
            }
        }
        self.sink_stopped().map_or(Ok(()), Err)
    }

    fn pop_value(&mut self) -> Result<(), Fatal> {
        // `POP` takes a mark when one is on top.
        if self.marks.last().is_some_and(|&mark| mark as usize == self.stack.len()) {
            self.marks.pop();
            return Ok(());
        }
        let Some(at) = self.stack.len().checked_sub(1) else { return Err(self.underflow()) };
        self.forget(at);
        Ok(())
    }

    fn forget(&mut self, from: usize) {
        for value in self.stack.drain(from.min(self.stack.len())..) {
            if let Value::Partial { index, .. } = value {
                self.partials.take(index);
            }
        }
    }

    /// PyTorch names functions for typed lists only.
    fn global(&mut self, module: &[u8], name: &[u8]) -> Result<(), Fatal> {
        let known = module == b"torch.jit._pickle"
            && [&b"build_intlist"[..], b"build_doublelist", b"build_boollist", b"build_tensorlist"].contains(&name);
        if known {
            return self.push(Value::Global);
        }
        let full: String =
            [module, b".", name].iter().flat_map(|part| part.iter()).take(80).map(|&byte| byte as char).collect();
        Err(self.wrong(format!(
            "the pickle names the Python function or class {full:?}; nothing was run. A dump has plain data only, so this is no dump \
             or not one to trust"
        )))
    }

    /// `build_intlist((items,))` and its like are the list itself.
    fn reduce(&mut self) -> Result<(), Fatal> {
        let Some(from) = self.stack.len().checked_sub(2) else { return Err(self.underflow()) };
        self.guard_mark(from)?;
        self.settle(from)?;
        let (Some(&function), Some(&argument)) = (self.stack.get(from), self.stack.get(from + 1)) else {
            return Err(self.underflow());
        };
        if function != Value::Global {
            return Err(self.wrong(format!("{} is called as a function", function.describe())));
        }
        let value = match argument {
            Value::Shapes { id, .. } => match *self.sink.symbols.shape_lists.get(id) {
                [only] if only == crate::symbols::ShapeId::EMPTY => Value::EMPTY_LIST,
                [only] => Value::Shape { slot: NOWHERE, id: only },
                _ => Value::Opaque,
            },
            _ => Value::Opaque,
        };
        self.stack.truncate(from);
        self.push(value)
    }

    fn result(&mut self) -> Result<Value, Fatal> {
        let at = self.stack.len().saturating_sub(1);
        self.settle(at)?;
        if !self.marks.is_empty() {
            return Err(self.wrong(String::from("the pickle ends inside a list or a dict")));
        }
        self.stack.pop().ok_or_else(|| self.underflow())
    }

    /// Operands end where the innermost mark is.
    fn guard_mark(&self, lowest: usize) -> Result<(), Fatal> {
        match self.marks.last() {
            Some(&mark) if (mark as usize) > lowest => Err(self.underflow()),
            _ => Ok(()),
        }
    }

    #[cold]
    fn underflow(&self) -> Fatal {
        self.wrong(String::from("the pickle uses a value that it did not make; the file is damaged"))
    }

    #[cold]
    fn wrong(&self, message: String) -> Fatal {
        self.cursor.malformed(self.cursor.at.saturating_sub(1), message)
    }

    #[cold]
    fn sink_stopped(&mut self) -> Option<Fatal> {
        self.sink.stop.take().map(alloc::boxed::Box::new)
    }
}

/// A little-endian integer of any length.
#[inline]
fn long(bytes: &[u8]) -> Value {
    if let Ok(eight) = <[u8; 8]>::try_from(bytes) {
        return Value::Int(i64::from_le_bytes(eight));
    }
    let Some((&last, _)) = bytes.split_last() else { return Value::Int(0) };
    let fill = if last & 0x80 != 0 { 0xff } else { 0 };
    let mut eight = [fill; 8];
    for (at, &byte) in bytes.iter().enumerate() {
        match eight.get_mut(at) {
            Some(place) => *place = byte,
            None if byte == fill => {}
            None => return Value::Huge,
        }
    }
    let number = i64::from_le_bytes(eight);
    // More bytes than eight must agree with the sign of the first eight.
    if bytes.len() > 8 && (number < 0) != (fill == 0xff) { Value::Huge } else { Value::Int(number) }
}

/// Text of protocol 0: `\uXXXX`, `\xXX` and the usual escapes.
fn unescape(line: &[u8]) -> String {
    let line: String = match core::str::from_utf8(line) {
        Ok(text) => String::from(text),
        // Raw unicode escape is Latin-1 between the escapes.
        Err(_) => line.iter().map(|&byte| byte as char).collect(),
    };
    if !line.contains('\\') {
        return line;
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some(at) = rest.find('\\') {
        text.push_str(rest.get(..at).unwrap_or(""));
        let after = rest.get(at + 1..).unwrap_or("");
        let digits = match after.bytes().next() {
            Some(b'u') => 4,
            Some(b'U') => 8,
            Some(b'x') => 2,
            _ => 0,
        };
        let code = after.get(1..=digits).filter(|_| digits > 0).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        if let Some(c) = code.and_then(char::from_u32) {
            text.push(c);
            rest = after.get(1 + digits..).unwrap_or("");
            continue;
        }
        let (plain, used) = match after.bytes().next() {
            Some(b'n') => ("\n", 1),
            Some(b't') => ("\t", 1),
            Some(b'r') => ("\r", 1),
            Some(b'\\') => ("\\", 1),
            Some(b'\'') => ("'", 1),
            Some(b'"') => ("\"", 1),
            _ => ("\\", 0),
        };
        text.push_str(plain);
        rest = after.get(used..).unwrap_or("");
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longs_of_every_length() {
        for (bytes, value) in [
            (&[][..], Value::Int(0)),
            (&[0xff], Value::Int(-1)),
            (&[0xff, 0x00], Value::Int(255)),
            (&[0x00, 0x80], Value::Int(-32768)),
            (&[0, 0, 0, 0, 0, 0, 0, 0x80], Value::Int(i64::MIN)),
            (&[0, 0, 0, 0, 0, 0, 0, 0x80, 0], Value::Huge),
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0], Value::Int(i64::MAX)),
            (&[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], Value::Int(-2)),
        ] {
            assert_eq!(long(bytes), value, "{bytes:02x?}");
        }
    }

    #[test]
    fn escapes_of_protocol_0() {
        for (line, text) in [
            (&b"plain"[..], "plain"),
            (b"a\\u000ab", "a\nb"),
            (b"\\U0001f600", "\u{1f600}"),
            (b"caf\xe9", "café"),
            (b"back\\slash", "back\\slash"),
            (b"\\", "\\"),
        ] {
            assert_eq!(unescape(line), text);
        }
    }
}
