//! Numbers and truth values in all the forms in which dumps were seen to carry them.

use super::super::float_text::float_of_text;
use super::super::keys;
use super::super::value::Value;
use super::sink::{MAX_NUMBER_LEN, Sink};

/// What a value says when a number was asked for.
enum Number {
    Absent,
    Int(i64),
    Float(f64),
    Wrong,
}

impl Sink {
    /// The integer that the value of `key` says, if it says one.
    #[inline(always)]
    pub(super) fn int(&mut self, key: u32, value: Value) -> Option<i64> {
        match value {
            Value::Int(number) => Some(number),
            Value::None => None,
            other => self.int_of_odd_value(key, other),
        }
    }

    /// The same for a column of 32 bits.
    #[inline(always)]
    pub(super) fn small_int(&mut self, key: u32, value: Value) -> Option<u32> {
        let number = self.int(key, value)?;
        match u32::try_from(number) {
            // The largest one stands for "absent" in the columns.
            Ok(small) if small != u32::MAX => Some(small),
            _ => {
                self.unexpected(key, "a number from 0 to 4294967294", value);
                None
            }
        }
    }

    #[inline(always)]
    pub(super) fn float(&mut self, key: u32, value: Value) -> Option<f64> {
        let number = match self.number(value) {
            Number::Float(number) => number,
            Number::Int(number) => number as f64,
            Number::Absent => return None,
            Number::Wrong => {
                self.unexpected(key, "a number", value);
                return None;
            }
        };
        number.is_finite().then_some(number)
    }

    #[inline(always)]
    pub(super) fn truth(&mut self, key: u32, value: Value) -> Option<bool> {
        match value {
            Value::Bool(truth) => Some(truth),
            Value::Int(number) => Some(number != 0),
            Value::None => None,
            Value::Str(id) if self.symbols.strings.get(id).eq_ignore_ascii_case("true") => Some(true),
            Value::Str(id) if self.symbols.strings.get(id).eq_ignore_ascii_case("false") => Some(false),
            other => {
                self.unexpected(key, "true or false", other);
                None
            }
        }
    }

    #[cold]
    fn int_of_odd_value(&mut self, key: u32, value: Value) -> Option<i64> {
        match self.number(value) {
            Number::Absent => None,
            Number::Int(number) => Some(number),
            // Every integer that a f64 holds exactly and no larger one.
            Number::Float(number) if number.abs() < 9_007_199_254_740_992.0 && number == (number as i64) as f64 => {
                Some(number as i64)
            }
            _ => {
                let expected = if key == keys::LINE { "a line number" } else { "an integer" };
                self.unexpected(key, expected, value);
                None
            }
        }
    }

    fn number(&self, value: Value) -> Number {
        match value {
            Value::None => Number::Absent,
            Value::Int(number) => Number::Int(number),
            Value::Float(number) => Number::Float(number),
            Value::Bool(truth) => Number::Int(i64::from(truth)),
            Value::Str(id) => {
                let text = self.symbols.strings.get(id).trim();
                if text.len() > MAX_NUMBER_LEN {
                    Number::Wrong
                } else if text.is_empty() || text.eq_ignore_ascii_case("none") || text.eq_ignore_ascii_case("null") {
                    Number::Absent
                } else if let Ok(number) = text.parse() {
                    Number::Int(number)
                } else if let Some(number) = float_of_text(text) {
                    Number::Float(number)
                } else {
                    Number::Wrong
                }
            }
            _ => Number::Wrong,
        }
    }
}
