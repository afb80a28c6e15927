//! The lines of one band, or of all rows in one order: rows, and lines that stand for rows that agree.

use hangscope_analyzer_core::tree_set::TreeSet;

use crate::dataset::Dataset;
use crate::table::layout::RunKind;
use crate::table::shown::{Order, Shown};

/// How many agreeing rows stay in view before a row that does not agree, and before a finding's row.
const ROWS_BEFORE_ODD: u32 = 2;
const ROWS_BEFORE_FINDING: u32 = 8;
/// Fewer rows are not worth folding.
const LEAST_FOLDED: u32 = 3;

/// Rows in one order over all groups, as stretches of places in that order and folds. As in a band, what agrees is folded, but for the
/// rows that lead to one that does not.
pub(crate) fn order_lines(dataset: &Dataset, shown: &Shown, finding_rows: &TreeSet<u32>, rows: &[u32]) -> Vec<RunKind> {
    let contradicted: TreeSet<u32> = TreeSet::from_iter(shown.order.iter().flat_map(Order::contradicted));
    let mut is_kept = vec![!shown.folded; rows.len()];
    let mut kept = 1;
    for (row, is_kept) in rows.iter().zip(&mut is_kept).rev() {
        let is_finding = finding_rows.contains(row);
        let is_odd = is_finding || !dataset.agrees(*row) || contradicted.contains(row);
        *is_kept |= is_odd || kept > 0;
        kept = match (is_finding, is_odd) {
            (true, _) => ROWS_BEFORE_FINDING,
            (false, true) => kept.max(ROWS_BEFORE_ODD),
            (false, false) => kept.saturating_sub(1),
        };
    }
    let mut lines: Vec<RunKind> = Vec::new();
    let mut at = 0;
    for run in is_kept.chunk_by(|left, right| left == right) {
        let count = run.len() as u32;
        let first = rows.get(at as usize).copied().unwrap_or_default();
        let is_fold = run.first() == Some(&false) && count >= LEAST_FOLDED && !shown.opened.contains(&first);
        match lines.last_mut() {
            _ if is_fold => lines.push(RunKind::Fold { first, count }),
            Some(RunKind::Order { count: before, .. }) => *before += count,
            _ => lines.push(RunKind::Order { at, count }),
        }
        at += count;
    }
    lines
}

/// The rows of a band that are shown, ascending, as stretches of rows and folds.
pub(crate) fn band_lines(
    dataset: &Dataset,
    shown: &Shown,
    finding_rows: &TreeSet<u32>,
    rows: impl DoubleEndedIterator<Item = u32>,
) -> Vec<RunKind> {
    let mut lines = Upwards::default();
    if !shown.folded {
        rows.rev().for_each(|row| lines.add_row(row));
        return lines.finish();
    }
    // From the last row up: `kept` counts how many more rows are to stay in view.
    let mut kept = 1;
    for row in rows.rev() {
        let is_finding = finding_rows.contains(&row);
        let is_odd = is_finding || !dataset.agrees(row);
        if is_odd || kept > 0 {
            lines.end_fold(shown);
            lines.add_row(row);
            kept = match (is_finding, is_odd) {
                (true, _) => ROWS_BEFORE_FINDING,
                (false, true) => kept.max(ROWS_BEFORE_ODD),
                (false, false) => kept - 1,
            };
        } else {
            // A fold stands for rows that follow one another.
            if lines.fold.is_some_and(|(first, _)| first != row + 1) {
                lines.end_fold(shown);
            }
            lines.fold = Some((row, lines.fold.map_or(1, |(_, count)| count + 1)));
        }
    }
    lines.end_fold(shown);
    lines.finish()
}

/// Lines in the making, from the last one up.
#[derive(Default)]
struct Upwards {
    lines: Vec<RunKind>,
    /// Rows that may be folded: the first of them, and how many.
    fold: Option<(u32, u32)>,
}

impl Upwards {
    fn add_row(&mut self, row: u32) {
        match self.lines.last_mut() {
            Some(RunKind::Rows { first, count }) if *first == row + 1 => {
                *first = row;
                *count += 1;
            }
            _ => self.lines.push(RunKind::Rows { first: row, count: 1 }),
        }
    }

    fn end_fold(&mut self, shown: &Shown) {
        let Some((first, count)) = self.fold.take() else { return };
        if count >= LEAST_FOLDED && !shown.opened.contains(&first) {
            self.lines.push(RunKind::Fold { first, count });
        } else {
            (first..first + count).rev().for_each(|row| self.add_row(row));
        }
    }

    fn finish(mut self) -> Vec<RunKind> {
        self.lines.reverse();
        self.lines
    }
}
