//! The opcodes of which a dump has few or none.

use alloc::format;
use alloc::string::String;

use super::super::float_text::float_of_text;
use super::super::value::{NOWHERE, Value};
use super::cursor::Fatal;
use super::escape::unescape;
use super::fill::KEY_WITHOUT_VALUE;
use super::machine::Machine;
use super::number::long;
use super::op;

impl Machine<'_> {
    /// Opcodes of which a dump has few or none.
    #[cold]
    pub(super) fn rare_step(&mut self, code: u8) -> Result<(), Fatal> {
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
            op::ADDITEMS => self.appends(),
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
        let at = self.cursor.at();
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
            op::FLOAT => match float_of_text(text) {
                Some(number) => Value::Float(number),
                None => return Err(self.cursor.malformed(at, String::from("a number should stand here"))),
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
                return match (code, self.memo.get(slot)) {
                    (op::PUT, _) => self.put(slot),
                    (_, Some(value)) => self.push(value),
                    (_, None) => Err(self.never_put(slot)),
                };
            }
        };
        self.push(value)
    }

    /// Bytes are text in dumps that Python 2 style writers made; anything else in them is not kept.
    fn blob(&mut self, len: u64) -> Result<(), Fatal> {
        let bytes = self.cursor.slice(len)?;
        match core::str::from_utf8(bytes) {
            Ok(text) => self.intern(text),
            Err(_) => self.push(Value::Opaque),
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
}
