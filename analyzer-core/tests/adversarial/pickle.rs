//! Dumps as the recorder writes them: pickle, protocol 2.

use serde_json::Value;

/// A whole file: the members of its top level in this order.
pub fn document(members: &[(&str, &Value)]) -> Vec<u8> {
    let mut out = b"\x80\x02}(".to_vec();
    for (key, value) in members {
        text(&mut out, key);
        item(&mut out, value);
    }
    out.extend(b"u.");
    out
}

fn item(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(b'N'),
        Value::Bool(yes) => out.push(if *yes { 0x88 } else { 0x89 }),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => integer(out, whole),
            None => {
                out.push(b'G');
                out.extend(number.as_f64().unwrap().to_be_bytes());
            }
        },
        Value::String(words) => text(out, words),
        Value::Array(items) => {
            out.extend(b"](");
            items.iter().for_each(|inner| item(out, inner));
            out.push(b'e');
        }
        Value::Object(members) => {
            out.extend(b"}(");
            for (key, inner) in members {
                text(out, key);
                match (key.as_str(), inner) {
                    ("process_group", Value::Array(pair)) => {
                        pair.iter().for_each(|half| item(out, half));
                        out.push(0x86);
                    }
                    _ => item(out, inner),
                }
            }
            out.push(b'u');
        }
    }
}

fn integer(out: &mut Vec<u8>, whole: i64) {
    if let Ok(byte) = u8::try_from(whole) {
        out.extend([b'K', byte]);
    } else if let Ok(short) = u16::try_from(whole) {
        out.push(b'M');
        out.extend(short.to_le_bytes());
    } else if let Ok(int) = i32::try_from(whole) {
        out.push(b'J');
        out.extend(int.to_le_bytes());
    } else {
        out.extend([0x8a, 8]);
        out.extend(whole.to_le_bytes());
    }
}

fn text(out: &mut Vec<u8>, words: &str) {
    out.push(b'X');
    out.extend(u32::try_from(words.len()).unwrap().to_le_bytes());
    out.extend(words.as_bytes());
}
