//! The visitor that digests containers when they end.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::super::digest::Sink;
use super::super::value::Value;
use super::super::{Fault, FaultKind};
use crate::symbols::StrId;

/// One document.
#[derive(Debug)]
pub(in super::super) struct Document {
    /// The value it is, or why it broke off.
    pub(in super::super) outcome: Result<Value, Fault>,
    /// How many bytes it takes.
    pub(in super::super) len: usize,
    /// What stood on the stack at its end.
    pub(in super::super) stack: Vec<Value>,
    pub(in super::super) sink: Sink,
}

/// Reads the JSON document at the start of `bytes`. Offsets count from the start of `bytes`.
pub(in super::super) fn read_document(bytes: &[u8]) -> Document {
    let mut reader = Reader { sink: Sink::new(bytes.len()), stack: Vec::new() };
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let result = Item(&mut reader).deserialize(&mut deserializer);
    let len = deserializer.into_iter::<IgnoredAny>().byte_offset();
    let outcome = result.map_err(|error| match reader.sink.stop.take() {
        Some(stop) => stop,
        None => fault_of(&error, bytes),
    });
    Document { outcome, len, stack: reader.stack, sink: reader.sink }
}

fn fault_of(error: &serde_json::Error, bytes: &[u8]) -> Fault {
    let offset = Some(offset_of(error.line(), error.column(), bytes));
    if error.classify() == Category::Eof {
        return Fault {
            kind: FaultKind::Truncated,
            offset: Some(bytes.len() as u64),
            message: String::from("the file ends in the middle of the JSON; the entries before this place are kept"),
        };
    }
    // The place is a field of its own, in bytes.
    let text = format!("{error}");
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    Fault {
        kind: FaultKind::Malformed,
        offset,
        message: format!("this is no JSON from here on ({text}); the entries before this place are kept"),
    }
}

/// The byte that a line, counted from 1, and a column in bytes mean.
fn offset_of(line: usize, column: usize, bytes: &[u8]) -> u64 {
    let mut start = 0;
    for _ in 1..line {
        match bytes.get(start..).and_then(|rest| rest.iter().position(|&byte| byte == b'\n')) {
            Some(at) => start += at + 1,
            None => break,
        }
    }
    (start + column.saturating_sub(1)).min(bytes.len()) as u64
}

struct Reader {
    sink: Sink,
    stack: Vec<Value>,
}

impl Reader {
    fn intern(&mut self, text: &str) -> StrId {
        self.sink.symbols.strings.intern(text)
    }

    fn check<E: serde::de::Error>(&self) -> Result<(), E> {
        match &self.sink.stop {
            None => Ok(()),
            Some(stop) => Err(E::custom(&stop.message)),
        }
    }
}

/// Any JSON value.
struct Item<'a>(&'a mut Reader);

impl<'de> DeserializeSeed<'de> for Item<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Item<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::Huge, Value::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Str(self.0.intern(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let reader = self.0;
        let from = reader.stack.len();
        while let Some(item) = items.next_element_seed(Item(reader))? {
            reader.stack.push(item);
        }
        let value = reader.sink.list(reader.stack.get(from..).unwrap_or(&[]));
        reader.stack.truncate(from);
        reader.check()?;
        Ok(value)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let reader = self.0;
        let open = reader.stack.len();
        // For a file that breaks off: here a dict began.
        reader.stack.push(Value::EMPTY_DICT);
        while let Some(key) = pairs.next_key_seed(Key(reader))? {
            reader.stack.push(Value::Str(key));
            let value = pairs.next_value_seed(Item(reader))?;
            reader.stack.push(value);
        }
        let items = reader.stack.get(open + 1..).unwrap_or(&[]);
        let value = reader.sink.dict(items.as_chunks::<2>().0);
        reader.stack.truncate(open);
        reader.check()?;
        Ok(value)
    }
}

/// The key of a JSON object.
struct Key<'a>(&'a mut Reader);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = StrId;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<StrId, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = StrId;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the key of an object")
    }

    fn visit_str<E>(self, text: &str) -> Result<StrId, E> {
        Ok(self.0.intern(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_to_offsets() {
        let bytes = b"{\n  \"a\": x\n}";
        assert_eq!(offset_of(2, 8, bytes), 9);
        assert_eq!(bytes[9], b'x');
        assert_eq!(offset_of(9, 99, bytes), bytes.len() as u64);
    }
}
