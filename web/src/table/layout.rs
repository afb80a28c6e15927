//! Which lines the table has and where each of them is, from top to bottom.

use std::collections::BTreeSet;

use crate::dataset::Dataset;
use crate::table::zoom::Zoom;

/// Height of a band's head.
pub(crate) const HEAD_HEIGHT: u32 = 26;
/// Space below a band.
const BAND_GAP: u32 = 8;
/// Height of a line that stands for folded rows, where rows are high enough to read.
const FOLD_HEIGHT: u32 = 18;
/// How many agreeing rows stay in view before a row that does not agree, and before a finding's row.
const ROWS_BEFORE_ODD: u32 = 2;
const ROWS_BEFORE_FINDING: u32 = 8;
/// Fewer rows are not worth folding.
const LEAST_FOLDED: u32 = 3;

/// What a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The head of a band: index of the band.
    Head(u32),
    /// A row: its index.
    Row(u32),
    /// Agreeing rows, folded: index of the first, and how many.
    Fold(u32, u32),
}

/// What the user chose to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Whether agreeing rows are folded.
    pub(crate) folded: bool,
    /// First rows of the folds that the user opened.
    pub(crate) opened: BTreeSet<u32>,
    /// Bands that the user closed.
    pub(crate) closed: BTreeSet<u32>,
    /// The only band to show.
    pub(crate) band: Option<u32>,
    /// The only operation to show.
    pub(crate) op: Option<String>,
}

/// The lines and their places.
#[derive(Debug, Default)]
pub(crate) struct TableLayout {
    lines: Vec<Line>,
    /// Upper edge of each line, and of the end.
    tops: Vec<u32>,
    heights: Vec<u8>,
    /// How many rows are in view as lines of their own.
    pub(crate) rows_shown: u32,
}

impl TableLayout {
    pub(crate) fn new(dataset: &Dataset, shown: &Shown, zoom: Zoom) -> Self {
        let mut layout = Self { tops: vec![0], ..Self::default() };
        let finding_rows: BTreeSet<u32> = dataset.index.findings.iter().filter_map(|finding| finding.row).collect();
        let row_height = zoom.row_height();
        let fold_height = if zoom.names_fit() { FOLD_HEIGHT } else { row_height };
        for (index, band) in dataset.index.bands.iter().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            if shown.band.is_some_and(|only| only != index) {
                continue;
            }
            let all_rows = band.first_row..band.first_row.saturating_add(band.row_count);
            let rows: Vec<u32> = match &shown.op {
                None => all_rows.collect(),
                Some(op) => {
                    all_rows.filter(|row| dataset.row(*row).is_some_and(|head| op_name(head.op) == op)).collect()
                }
            };
            if rows.is_empty() && shown.op.is_some() {
                continue;
            }
            layout.push(Line::Head(index), HEAD_HEIGHT);
            if !shown.closed.contains(&index) {
                for line in band_lines(dataset, shown, &finding_rows, &rows) {
                    layout.push(line, if matches!(line, Line::Fold(..)) { fold_height } else { row_height });
                }
            }
            layout.add_space(BAND_GAP);
        }
        layout
    }

    fn push(&mut self, line: Line, height: u32) {
        self.rows_shown += u32::from(matches!(line, Line::Row(_)));
        self.lines.push(line);
        self.heights.push(u8::try_from(height).unwrap_or(u8::MAX));
        self.tops.push(self.height() + height);
    }

    fn add_space(&mut self, space: u32) {
        if let Some(end) = self.tops.last_mut() {
            *end += space;
        }
    }

    /// Height of the whole table.
    pub(crate) fn height(&self) -> u32 {
        self.tops.last().copied().unwrap_or_default()
    }

    pub(crate) fn line(&self, index: usize) -> Option<Line> {
        self.lines.get(index).copied()
    }

    pub(crate) fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// Upper edge and height of a line.
    pub(crate) fn extent(&self, index: usize) -> (u32, u32) {
        let top = self.tops.get(index).copied().unwrap_or_default();
        (top, self.heights.get(index).copied().unwrap_or_default().into())
    }

    /// The lines from `top` to `bottom`, those that are cut included.
    pub(crate) fn lines_between(&self, top: f64, bottom: f64) -> std::ops::Range<usize> {
        let first = self.tops.partition_point(|edge| f64::from(*edge) <= top).saturating_sub(1);
        let end = self.tops.partition_point(|edge| f64::from(*edge) < bottom).min(self.lines.len());
        first.min(end)..end
    }

    /// The line at a height, if one is there.
    pub(crate) fn line_at(&self, y: f64) -> Option<usize> {
        let index = self.tops.partition_point(|edge| f64::from(*edge) <= y).checked_sub(1)?;
        let (top, height) = self.extent(index);
        (index < self.lines.len() && y < f64::from(top + height)).then_some(index)
    }

    /// The line that shows a row, or the fold that holds it; `None` if it is hidden.
    pub(crate) fn line_of(&self, row: u32) -> Option<usize> {
        // Rows come in ascending order, and heads come before the rows of their band.
        let first_row = |line: &Line| match *line {
            Line::Row(first) | Line::Fold(first, _) => Some(first),
            Line::Head(_) => None,
        };
        let (mut low, mut high) = (0, self.lines.len());
        while low < high {
            let middle = low + (high - low) / 2;
            // A head has no row: the next line that has one stands for it.
            let probe = (middle..high).find_map(|index| Some((index, first_row(self.lines.get(index)?)?)));
            match probe {
                Some((index, first)) if first <= row => low = index + 1,
                _ => high = middle,
            }
        }
        let index = (0..low).rev().find(|index| !matches!(self.lines.get(*index), Some(Line::Head(_))))?;
        match self.line(index)? {
            Line::Row(found) if found == row => Some(index),
            Line::Fold(first, count) if row - first < count => Some(index),
            _ => None,
        }
    }

    /// The head of the band that a line belongs to.
    pub(crate) fn head_before(&self, line: usize) -> Option<usize> {
        (0..=line.min(self.lines.len().checked_sub(1)?))
            .rev()
            .find(|index| matches!(self.line(*index), Some(Line::Head(_))))
    }

    /// The next row that is a line of its own, from a line on, downwards or upwards.
    pub(crate) fn row_from(&self, line: usize, down: bool) -> Option<u32> {
        let row = |index: usize| match self.line(index) {
            Some(Line::Row(row)) => Some(row),
            _ => None,
        };
        if down {
            (line..self.lines.len()).find_map(row)
        } else {
            (0..=line.min(self.lines.len().checked_sub(1)?)).rev().find_map(row)
        }
    }
}

/// The operation of a row's head, without its sizes.
pub(crate) fn op_name(op: &str) -> &str {
    op.split_once(" [").map_or(op, |(name, _)| name)
}

fn band_lines(dataset: &Dataset, shown: &Shown, finding_rows: &BTreeSet<u32>, rows: &[u32]) -> Vec<Line> {
    if !shown.folded {
        return rows.iter().copied().map(Line::Row).collect();
    }
    let mut lines = Vec::new();
    // From the last row up: `kept` counts how many more rows are to stay in view.
    let mut kept = 1;
    let mut run: Vec<u32> = Vec::new();
    let end_run = |run: &mut Vec<u32>, lines: &mut Vec<Line>| {
        let count = u32::try_from(run.len()).unwrap_or(u32::MAX);
        // Upwards: the run's last item is its first row.
        let first = run.last().copied().unwrap_or_default();
        let contiguous = run.first().is_some_and(|last| last - first + 1 == count);
        if count >= LEAST_FOLDED && contiguous && !shown.opened.contains(&first) {
            lines.push(Line::Fold(first, count));
        } else {
            lines.extend(run.iter().copied().map(Line::Row));
        }
        run.clear();
    };
    for row in rows.iter().copied().rev() {
        let is_finding = finding_rows.contains(&row);
        let is_odd = is_finding || dataset.row(row).is_none_or(|head| !head.agrees);
        if is_odd || kept > 0 {
            end_run(&mut run, &mut lines);
            lines.push(Line::Row(row));
            kept = match (is_finding, is_odd) {
                (true, _) => ROWS_BEFORE_FINDING,
                (false, true) => kept.max(ROWS_BEFORE_ODD),
                (false, false) => kept - 1,
            };
        } else {
            run.push(row);
        }
    }
    end_run(&mut run, &mut lines);
    lines.reverse();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn lines(shown: &Shown) -> Vec<Line> {
        let layout = TableLayout::new(&example::dataset(), shown, Zoom::default());
        (0..layout.line_count()).filter_map(|index| layout.line(index)).collect()
    }

    #[test]
    fn every_row_under_its_head() {
        let mut expected = vec![Line::Head(0)];
        expected.extend((0..10).map(Line::Row));
        expected.push(Line::Head(1));
        expected.extend((10..13).map(Line::Row));
        assert_eq!(lines(&Shown::default()), expected);
    }

    #[test]
    fn closed_and_filtered_bands() {
        let closed = Shown { closed: [0].into(), ..Shown::default() };
        assert_eq!(lines(&closed), [Line::Head(0), Line::Head(1), Line::Row(10), Line::Row(11), Line::Row(12)]);
        let one_band = Shown { band: Some(1), ..Shown::default() };
        assert_eq!(lines(&one_band)[0], Line::Head(1));
        let no_such_op = Shown { op: Some("barrier".to_owned()), ..Shown::default() };
        assert_eq!(lines(&no_such_op), []);
        let op = Shown { op: Some("all_reduce".to_owned()), ..Shown::default() };
        assert_eq!(lines(&op).len(), 15);
    }

    #[test]
    fn folds_what_agrees_but_not_what_leads_to_a_finding() {
        let mut dataset = example::dataset();
        // 20 rows in the first band instead of ten: ten more that agree at the front.
        let agreeing = dataset.index.rows.get(0);
        dataset.index.rows = std::iter::repeat_n(agreeing, 10).flatten().chain(dataset.index.rows.iter()).collect();
        dataset.index.bands[0].row_count = 20;
        dataset.index.bands[1].first_row = 20;
        dataset.index.findings[0].row = Some(19);

        let shown = Shown { folded: true, ..Shown::default() };
        let layout = TableLayout::new(&dataset, &shown, Zoom::default());
        assert_eq!(layout.line(1), Some(Line::Fold(0, 11)));
        assert_eq!(layout.line(2), Some(Line::Row(11)), "eight rows before the finding");
        assert_eq!(layout.line(10), Some(Line::Row(19)));
        assert_eq!(layout.line(12), Some(Line::Row(20)), "two rows are not worth folding");
        assert_eq!(layout.line_of(5), Some(1));
        assert_eq!(layout.line_of(19), Some(10));
        assert_eq!(layout.rows_shown, 12);

        let opened = Shown { opened: [0].into(), ..shown };
        assert_eq!(TableLayout::new(&dataset, &opened, Zoom::default()).line_of(5), Some(6));
    }

    #[test]
    fn places() {
        let layout = TableLayout::new(&example::dataset(), &Shown::default(), Zoom::default());
        let second_head = HEAD_HEIGHT + 10 * 18 + BAND_GAP;
        assert_eq!(layout.extent(11), (second_head, HEAD_HEIGHT));
        assert_eq!(layout.height(), second_head + HEAD_HEIGHT + 3 * 18 + BAND_GAP);
        assert_eq!(layout.line_at(0.0), Some(0));
        assert_eq!(layout.line_at(26.0), Some(1));
        assert_eq!(layout.line_at(f64::from(second_head) - 1.0), None, "between bands");
        assert_eq!(layout.line_at(1e9), None);
        assert_eq!(layout.lines_between(0.0, 27.0), 0..2);
        assert_eq!(layout.lines_between(27.0, 28.0), 1..2);
        assert_eq!(layout.lines_between(0.0, 1e9), 0..15);
        assert_eq!(layout.lines_between(1e9, 2e9), 15..15);
        for row in 0..13 {
            let line = layout.line_of(row).unwrap();
            assert_eq!(layout.line(line), Some(Line::Row(row)));
        }
        assert_eq!(layout.line_of(13), None);
        assert_eq!(layout.head_before(14), Some(11));
        assert_eq!(layout.row_from(11, true), Some(10));
        assert_eq!(layout.row_from(11, false), Some(9));
        assert_eq!(layout.row_from(0, false), None);
    }

    #[test]
    fn an_empty_table() {
        let mut dataset = example::dataset();
        dataset.index.bands.clear();
        let layout = TableLayout::new(&dataset, &Shown::default(), Zoom::default());
        assert_eq!((layout.height(), layout.line_at(0.0), layout.line_of(0)), (0, None, None));
        assert_eq!(layout.lines_between(0.0, 100.0), 0..0);
        assert_eq!(layout.head_before(0), None);
    }
}
