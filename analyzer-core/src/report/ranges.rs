//! Ranks as people write them.

use alloc::string::String;
use core::fmt::Write as _;

/// Sorted ranks as ranges: `0-6,8`. Empty text for none.
pub fn ranges(ranks: impl IntoIterator<Item = u32>) -> String {
    let mut text = String::new();
    let mut open: Option<(u32, u32)> = None;
    let mut close = |(low, high): (u32, u32)| {
        if !text.is_empty() {
            text.push(',');
        }
        // Writing to a String cannot fail.
        let _ = if low == high { write!(text, "{low}") } else { write!(text, "{low}-{high}") };
    };
    for rank in ranks {
        match open {
            Some((_, high)) if rank == high => {}
            Some((low, high)) if high.checked_add(1) == Some(rank) => open = Some((low, rank)),
            _ => {
                if let Some(done) = open.replace((rank, rank)) {
                    close(done);
                }
            }
        }
    }
    if let Some(done) = open {
        close(done);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_joined() {
        for (ranks, text) in [
            (&[][..], ""),
            (&[5], "5"),
            (&[0, 1], "0-1"),
            (&[0, 1, 2, 3, 4, 5, 6, 8], "0-6,8"),
            (&[0, 2, 4], "0,2,4"),
            (&[1, 1, 2], "1-2"),
            (&[u32::MAX], "4294967295"),
        ] {
            assert_eq!(ranges(ranks.iter().copied()), text);
        }
    }
}
