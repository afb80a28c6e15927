//! Integers of any length.

use super::super::value::Value;

/// A little-endian integer of any length.
#[inline(always)]
pub(super) fn long(bytes: &[u8]) -> Value {
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
}
