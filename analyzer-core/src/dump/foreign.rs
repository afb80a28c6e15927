//! What a file that is no dump looks like.

/// Names the kind of a file by its first bytes, for a person.
pub(super) fn describe(bytes: &[u8]) -> &'static str {
    const KINDS: [(&[u8], &str); 22] = [
        (b"PK\x03\x04", "a zip archive (perhaps a PyTorch checkpoint); unpack it first if dumps are in it"),
        (b"PK\x05\x06", "an empty zip archive"),
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF", "a PDF document"),
        (b"\x7fELF", "a Linux program or library"),
        (b"\x00asm", "a WebAssembly module"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive; unpack it first"),
        (b"\xfd7zXZ", "an xz archive; unpack it first"),
        (b"BZh", "a bzip2 archive; unpack it first"),
        (b"7z\xbc\xaf", "a 7z archive; unpack it first"),
        (b"\x04\x22\x4d\x18", "an lz4 archive; unpack it first"),
        (b"\xff\xfe", "text in UTF-16; save it as UTF-8"),
        (b"\xfe\xff", "text in UTF-16; save it as UTF-8"),
        (b"SQLite format 3", "an SQLite database"),
        (b"\x93NUMPY", "a NumPy array"),
        (b"\x89HDF", "an HDF5 file"),
        (b"PAR1", "a Parquet table"),
        (b"\x00\x00\x00\x00", "zero bytes; the disk was perhaps full or the machine went down while it was written"),
        (b"Traceback (most recent", "a Python error message"),
        (b"#!", "a script"),
    ];
    if let Some((_, kind)) = KINDS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return kind;
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return "a tar archive; unpack it first";
    }
    let head = bytes.get(..bytes.len().min(1024)).unwrap_or(&[]);
    let text = head.iter().find(|byte| !byte.is_ascii_whitespace());
    if text == Some(&b'<') {
        return "an HTML or XML page";
    }
    let control = head.iter().any(|&byte| byte < 0x20 && !byte.is_ascii_whitespace() && byte != 0x1b);
    if control { "binary data of another kind" } else { "plain text" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_named() {
        for (bytes, part) in [
            (&b"\x89PNG\r\n\x1a\n"[..], "PNG"),
            (b"PK\x03\x04rest", "zip"),
            (b"<!doctype html>", "HTML"),
            (b"\x7fELF\x02", "Linux program"),
            (b"step 1 loss 2.3\n", "plain text"),
            (b"\x01\x02\x03", "binary data"),
            (b"\xff\xfe{\0", "UTF-16"),
        ] {
            assert!(describe(bytes).contains(part), "{bytes:?}: {}", describe(bytes));
        }
    }
}
