//! Documents as the bytes that are on a disk.

use serde_json::Value;

use crate::pickler::{Tree, pickle};

/// A document as the recorder pickles it.
pub fn pickled(document: &Value) -> Vec<u8> {
    pickle(&tree(document))
}

fn tree(value: &Value) -> Tree {
    match value {
        Value::Null => Tree::None,
        Value::Bool(truth) => Tree::Bool(*truth),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Tree::Int(number),
            None => Tree::Float(number.as_f64().unwrap()),
        },
        Value::String(text) => Tree::from(text.as_str()),
        Value::Array(items) => Tree::List(items.iter().map(tree).collect()),
        Value::Object(pairs) => {
            // The recorder writes the entries after what is short.
            let (last, first): (Vec<_>, Vec<_>) = pairs.iter().partition(|(key, _)| *key == "entries");
            Tree::Dict(first.into_iter().chain(last).map(|(key, value)| (key.as_str().into(), tree(value))).collect())
        }
    }
}

/// A gzip file of some bytes.
pub fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    file.extend(miniz_oxide::deflate::compress_to_vec(bytes, 6));
    file.extend(crc32fast::hash(bytes).to_le_bytes());
    file.extend((bytes.len() as u32).to_le_bytes());
    file
}
