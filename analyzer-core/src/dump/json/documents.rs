//! Several documents one after another, as people paste them from a debug server's page.

use super::super::rank_of_file_name;

/// Longest line that may stand before a document, such as `Rank 0:`.
const MAX_HEADING: usize = 200;

/// Where the next document of a text is.
#[derive(Debug)]
pub(in super::super) struct Documents<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A place where a document begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Start {
    pub(in super::super) at: usize,
    /// The rank that the line before it says.
    pub(in super::super) rank: Option<u32>,
}

impl<'a> Documents<'a> {
    pub(in super::super) fn new(bytes: &'a [u8]) -> Self {
        Documents { bytes, at: 0 }
    }

    /// Goes on after a document.
    pub(in super::super) fn skip_to(&mut self, at: usize) {
        self.at = at;
    }

    /// The next document. `Ok(None)` at the end of the text; the offset of the first byte that belongs to none otherwise.
    pub(in super::super) fn next_start(&mut self) -> Result<Option<Start>, usize> {
        let mut rank = None;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or(&[]);
            let between = |byte: &u8| byte.is_ascii_whitespace() || self.at > 0 && matches!(byte, b',' | 0);
            let Some(blank) = rest.iter().position(|byte| !between(byte)) else {
                return Ok(None);
            };
            self.at += blank;
            let rest = rest.get(blank..).unwrap_or(&[]);
            if matches!(rest.first(), Some(b'{' | b'[')) {
                return Ok(Some(Start { at: self.at, rank }));
            }
            let end = rest
                .iter()
                .take(MAX_HEADING)
                .position(|byte| matches!(byte, b'\n' | b'{' | b'['))
                .unwrap_or(rest.len().min(MAX_HEADING));
            let heading = rest.get(..end).and_then(|line| core::str::from_utf8(line).ok()).unwrap_or("");
            let heading = heading.trim_end_matches([' ', ':', '=', '-', '\r', '\t']);
            if !heading.to_ascii_lowercase().contains("rank") {
                return Err(self.at);
            }
            rank = rank_of_file_name(heading);
            self.at += end;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn headings_say_the_rank() {
        let text = b" Rank 3:\n{}\n--- rank=12 ---\n[1]{}";
        let mut documents = Documents::new(text);
        let mut starts = Vec::new();
        while let Ok(Some(start)) = documents.next_start() {
            let len = if text[start.at] == b'{' { 2 } else { 3 };
            documents.skip_to(start.at + len);
            starts.push((&text[start.at..start.at + len], start.rank));
        }
        assert_eq!(starts, [(&b"{}"[..], Some(3)), (b"[1]", Some(12)), (b"{}", None)]);
        assert_eq!(Documents::new(b"hello").next_start(), Err(0));
    }
}
