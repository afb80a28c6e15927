//! Ranks of which each waits for the others.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::{Range, RangeInclusive};

use super::Whom;

/// Ranks of which each waits for the others: all of them as [`super::ranges`] writes them, and their runs with the place of each in the
/// text. A thousand ranks that wait for each other are a million to write, and share the text instead.
pub(super) struct Others {
    text: Arc<str>,
    runs: Vec<(RangeInclusive<u32>, Range<usize>)>,
}

impl Others {
    /// Of sorted ranks.
    pub fn of(ranks: &[u32]) -> Others {
        let (mut text, mut runs) = (String::new(), Vec::new());
        for run in ranks.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
            let (Some(&low), Some(&high)) = (run.first(), run.last()) else { continue };
            push_run(&mut text, low, high);
            let end = text.len();
            runs.push((low..=high, end - run_text(low, high).len()..end));
        }
        Others { text: text.into(), runs }
    }

    /// All but one rank.
    pub fn without(&self, rank: u32) -> Whom {
        let at = self.runs.partition_point(|(run, _)| *run.end() < rank);
        let Some((run, place)) = self.runs.get(at).filter(|(run, _)| run.contains(&rank)) else {
            return Arc::clone(&self.text).into();
        };
        let (mut cut, mut rest) = (place.clone(), String::new());
        if let Some(end) = rank.checked_sub(1) {
            push_run(&mut rest, *run.start(), end);
        }
        if let Some(start) = rank.checked_add(1) {
            push_run(&mut rest, start, *run.end());
        }
        // Where nothing of the run is left, a comma goes too: the one before it, and at the beginning the one after it.
        if rest.is_empty() && cut.start > 0 {
            cut.start -= 1;
        } else if rest.is_empty() && cut.end < self.text.len() {
            cut.end += 1;
        }
        Whom::new(Arc::clone(&self.text), cut, rest)
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
                assert_eq!(others.without(rank).to_string(), expected, "{ranks:?} without {rank}");
            }
        }
    }
}
