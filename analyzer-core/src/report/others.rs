//! Ranks of which each waits for the others.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::{Range, RangeInclusive};

/// Ranks of which each waits for the others: all of them as [`super::ranges`] writes them, and their runs with the place of each in the
/// text. A thousand ranks that wait for each other are a million to write, and are copied instead.
pub(super) struct Others {
    text: String,
    runs: Vec<(RangeInclusive<u32>, Range<usize>)>,
}

impl Others {
    /// Of sorted ranks.
    pub fn of(ranks: &[u32]) -> Others {
        let mut others = Others { text: String::new(), runs: Vec::new() };
        for run in ranks.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
            let (Some(&low), Some(&high)) = (run.first(), run.last()) else { continue };
            push_run(&mut others.text, low, high);
            let end = others.text.len();
            others.runs.push((low..=high, end - run_text(low, high).len()..end));
        }
        others
    }

    /// All but one rank.
    pub fn without(&self, rank: u32) -> String {
        let at = self.runs.partition_point(|(run, _)| *run.end() < rank);
        let Some((run, place)) = self.runs.get(at).filter(|(run, _)| run.contains(&rank)) else {
            return self.text.clone();
        };
        let before = self.text.get(..place.start).unwrap_or_default();
        let after = self.text.get(place.end..).unwrap_or_default();
        let mut text = String::with_capacity(self.text.len() + 16);
        text.push_str(before.strip_suffix(',').unwrap_or(before));
        if let Some(end) = rank.checked_sub(1) {
            push_run(&mut text, *run.start(), end);
        }
        if let Some(start) = rank.checked_add(1) {
            push_run(&mut text, start, *run.end());
        }
        text.push_str(if text.is_empty() { after.strip_prefix(',').unwrap_or(after) } else { after });
        text
    }
}

/// Appends a run of ranks, unless it is empty.
fn push_run(text: &mut String, low: u32, high: u32) {
    if low <= high {
        text.push_str(if text.is_empty() { "" } else { "," });
        text.push_str(&run_text(low, high));
    }
}

fn run_text(low: u32, high: u32) -> String {
    if low == high { low.to_string() } else { format!("{low}-{high}") }
}

#[cfg(test)]
mod tests {
    use super::super::ranges;
    use super::*;

    #[test]
    fn all_but_one() {
        for ranks in [&[][..], &[7], &[0, u32::MAX], &[1, 2, 3, 5, 7, 8], &[0, 8, 16, 24], &[0, 1, 2, 3], &[4, 6, 7]] {
            let others = Others::of(ranks);
            for rank in (0..30).chain([u32::MAX]) {
                let expected = ranges(ranks.iter().copied().filter(|&other| other != rank));
                assert_eq!(others.without(rank), expected, "{ranks:?} without {rank}");
            }
        }
    }
}
