//! Ranks as people write them.

use alloc::format;
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

/// The ranks that a text of [`ranges`] names; parts that are none are left out.
pub fn ranks_in(ranges: &str) -> impl Iterator<Item = u32> + '_ {
    ranges
        .split(',')
        .filter_map(|part| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            Some(low.parse::<u32>().ok()?..=high.parse().ok()?)
        })
        .flatten()
}

/// Longest list that a sentence writes out.
const READABLE: usize = 48;

/// Sorted ranks for a sentence: as [`ranges`], but a long irregular list is cut in the middle and counted: `0,8,…,1016 (128 ranks)`.
pub fn readable_ranges(ranks: &[u32]) -> String {
    let text = ranges(ranks.iter().copied());
    match ranks {
        [first, second, .., last] if text.len() > READABLE => {
            format!("{first},{second},…,{last} ({} ranks)", ranks.len())
        }
        _ => text,
    }
}

/// Sorted ranks with their noun: `rank 5`, `ranks 0-2,5`.
pub fn rank_words(ranks: &[u32]) -> String {
    let noun = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{noun} {}", readable_ranges(ranks))
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
            let mut distinct = ranks.to_vec();
            distinct.dedup();
            assert_eq!(ranks_in(text).collect::<alloc::vec::Vec<_>>(), distinct);
        }
    }

    #[test]
    fn sentences_are_spared_long_lists() {
        let strided: alloc::vec::Vec<u32> = (0..128).map(|at| at * 8).collect();
        assert_eq!(readable_ranges(&strided), "0,8,…,1016 (128 ranks)");
        assert_eq!(readable_ranges(&[0, 1, 2, 5]), "0-2,5");
    }
}
