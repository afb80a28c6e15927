//! Text as protocol 0 writes it.

use alloc::string::String;

/// Text of protocol 0: `\uXXXX`, `\xXX` and the usual escapes.
pub(super) fn unescape(line: &[u8]) -> String {
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
