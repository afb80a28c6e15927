//! Which lines the table has and where each of them is, from top to bottom.
//!
//! There can be more than a million rows, so lines that follow one another and have one height are kept as one run.

use crate::dataset::{CellPlace, Dataset};
use crate::table::band_lines::{band_lines, order_lines};
use crate::table::columns::Columns;
use crate::table::shown::{RowFilter, Shown};
use crate::table::zoom::Zoom;
use hangscope_analyzer_core::small_sort::SmallSort as _;
use hangscope_analyzer_core::tree_set::TreeSet;

/// Height of a band's head where it can be read.
pub(crate) const HEAD_HEIGHT: f64 = 26.0;
/// Height of a line that stands for rows or groups, where it can be read.
const FOLD_HEIGHT: f64 = 18.0;
/// Fewer groups that are alike are not worth folding.
const LEAST_ALIKE: usize = 3;

/// What a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The head of a band: index of the band.
    Head(u32),
    /// A row: its index.
    Row(u32),
    /// Agreeing rows, folded: index of the first, and how many.
    Fold(u32, u32),
    /// Groups that are like the one above, folded: index of the first one's band, and how many.
    Alike(u32, u32),
}

/// Lines that follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunKind {
    Head(u32),
    Rows {
        first: u32,
        count: u32,
    },
    /// Rows in one order over all groups: places in that order.
    Order {
        at: u32,
        count: u32,
    },
    Fold {
        first: u32,
        count: u32,
    },
    Alike {
        band: u32,
        count: u32,
    },
}

impl RunKind {
    fn lines(self) -> u32 {
        match self {
            RunKind::Rows { count, .. } | RunKind::Order { count, .. } => count,
            _ => 1,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Run {
    kind: RunKind,
    /// Number of its first line.
    line: u32,
    top: f64,
    /// Height of a line.
    height: f64,
}

/// A part of the table that lies between two heights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    /// What of the run is in it.
    pub(crate) kind: RunKind,
    /// The first row of the whole run, if it is one of rows, and the one after its last.
    pub(crate) run: (u32, u32),
    /// Number of its first line.
    pub(crate) line: usize,
    /// Its upper edge, and the height of a line.
    pub(crate) top: f64,
    pub(crate) height: f64,
}

/// The lines and their places.
#[derive(Debug, Default)]
pub(crate) struct TableLayout {
    runs: Vec<Run>,
    height: f64,
    lines: u32,
    /// Rows and the run that shows them or stands for them, ascending: first row, the row after the last, index of the run.
    covered: Vec<(u32, u32, u32)>,
    /// The rows that are shown, where they are in one order over all groups; else empty.
    order: Vec<u32>,
    /// For each row its place in `order`, and for each run the first place of its rows there.
    places: Vec<u32>,
    run_places: Vec<u32>,
    pub(crate) columns: Columns,
    pub(crate) stats: Stats,
    /// How many letters the longest name of a row has.
    pub(crate) name_letters: usize,
}

/// How much of the table is there to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    pub(crate) lines: u32,
    /// Rows that are lines of their own.
    pub(crate) rows: u32,
    /// Columns, and how many of the ranks they stand for.
    pub(crate) columns: u32,
    pub(crate) ranks: u32,
    /// Groups with a head, and those that are folded because they are like one of these.
    pub(crate) bands: u32,
    pub(crate) bands_alike: u32,
}

impl TableLayout {
    pub(crate) fn new(dataset: &Dataset, shown: &Shown, zoom: Zoom) -> Self {
        let filter = shown.filter.rows(dataset);
        let plan = plan(dataset, shown, &filter);
        let own: Vec<u32> = plan.iter().map(|(band, _)| *band).collect();
        let columns = Columns::new(dataset, shown, &own);
        let name_letters = dataset.rows().ops().iter().map(|op| op.chars().count()).max().unwrap_or(0);
        let mut layout = Self { columns, name_letters, ..Self::default() };
        match &shown.order {
            Some(order) => layout.add_order(dataset, shown, zoom, &order.0.rows, &plan),
            None => layout.add_bands(dataset, shown, zoom, plan),
        }
        layout.covered.sort_small();
        layout.stats.lines = layout.lines;
        layout.stats.columns = layout.columns.len();
        let slots = (0..layout.columns.len()).filter_map(|slot| layout.columns.slot(slot));
        layout.stats.ranks = slots.map(|slot| slot.count).sum();
        layout
    }

    /// One band after the other.
    fn add_bands(&mut self, dataset: &Dataset, shown: &Shown, zoom: Zoom, plan: Vec<(u32, Vec<u32>)>) {
        let finding_rows = finding_rows(dataset);
        let filter = shown.filter.rows(dataset);
        let layout = self;
        for (index, alike) in plan {
            let Some(band) = dataset.index().bands.get(index as usize) else { continue };
            let rows = band.first_row..band.first_row.saturating_add(band.row_count);
            let is_closed = shown.closed.contains(&index);
            if is_closed {
                layout.cover(rows.start, rows.end);
            }
            layout.push(RunKind::Head(index), head_height(zoom));
            layout.stats.bands += 1;
            if !is_closed {
                let lines = if filter.is_empty() {
                    band_lines(dataset, shown, &finding_rows, rows)
                } else {
                    band_lines(dataset, shown, &finding_rows, rows.filter(|row| filter.has(*row)))
                };
                for line in lines {
                    match line {
                        RunKind::Fold { first, count } => {
                            layout.cover(first, first + count);
                            layout.push(line, fold_height(zoom));
                        }
                        RunKind::Rows { first, count } => {
                            layout.cover(first, first + count);
                            layout.stats.rows += count;
                            layout.push(line, zoom.row_height());
                        }
                        _ => {}
                    }
                }
            }
            if let Some(first) = alike.first() {
                for band in alike.iter().filter_map(|band| dataset.index().bands.get(*band as usize)) {
                    layout.cover(band.first_row, band.first_row.saturating_add(band.row_count));
                }
                let count = alike.len() as u32;
                layout.stats.bands_alike += count;
                layout.push(RunKind::Alike { band: *first, count }, if zoom.is_tiny() { 3.0 } else { FOLD_HEIGHT });
            }
            layout.height += band_gap(zoom);
        }
    }

    /// All rows in one order.
    fn add_order(&mut self, dataset: &Dataset, shown: &Shown, zoom: Zoom, rows: &[u32], plan: &[(u32, Vec<u32>)]) {
        let filter = shown.filter.rows(dataset);
        let mut is_shown = vec![false; dataset.rows().len()];
        for band in plan.iter().filter_map(|(band, _)| dataset.index().bands.get(*band as usize)) {
            let (first, end) = (band.first_row as usize, band.first_row.saturating_add(band.row_count) as usize);
            is_shown.get_mut(first..end).unwrap_or_default().fill(true);
        }
        let has_row = |row: &u32| is_shown.get(*row as usize).copied().unwrap_or(false) && filter.has(*row);
        self.order = rows.iter().copied().filter(has_row).collect();
        self.places = vec![u32::MAX; dataset.rows().len()];
        for (place, row) in (0..).zip(&self.order) {
            if let Some(of_row) = self.places.get_mut(*row as usize) {
                *of_row = place;
            }
        }
        self.stats.bands = plan.len() as u32;
        self.stats.bands_alike = plan.iter().map(|(_, alike)| alike.len() as u32).sum();
        let mut at = 0;
        for line in order_lines(dataset, shown, &finding_rows(dataset), &self.order) {
            let (count, height) = match line {
                RunKind::Order { count, .. } => (count, zoom.row_height()),
                RunKind::Fold { count, .. } => (count, fold_height(zoom)),
                _ => continue,
            };
            self.run_places.push(at as u32);
            if matches!(line, RunKind::Order { .. }) {
                self.stats.rows += count;
            }
            self.push(line, height);
            at += count as usize;
        }
    }

    /// The rows at these places of the one order over all groups.
    pub(crate) fn rows_in_order(&self, at: u32, count: u32) -> &[u32] {
        self.order.get(at as usize..(at + count) as usize).unwrap_or_default()
    }

    /// Whether rows are in one order over all groups.
    pub(crate) fn is_program_order(&self) -> bool {
        !self.order.is_empty()
    }

    /// The next run that is pushed shows these rows, or stands for them.
    fn cover(&mut self, first: u32, end: u32) {
        self.covered.push((first, end, self.runs.len() as u32));
    }

    fn push(&mut self, kind: RunKind, height: f64) {
        self.runs.push(Run { kind, line: self.lines, top: self.height, height });
        self.lines += kind.lines();
        // Runs begin at whole pixels, so that rows that share one are the same ones everywhere.
        self.height += (f64::from(kind.lines()) * height).ceil();
    }

    /// Height of the whole table.
    pub(crate) fn height(&self) -> f64 {
        self.height
    }

    pub(crate) fn line_count(&self) -> usize {
        self.lines as usize
    }

    fn run_of(&self, line: usize) -> Option<&Run> {
        let line = u32::try_from(line).ok().filter(|line| *line < self.lines)?;
        self.runs.get(self.runs.partition_point(|run| run.line <= line).checked_sub(1)?)
    }

    pub(crate) fn line(&self, index: usize) -> Option<Line> {
        let run = self.run_of(index)?;
        Some(match run.kind {
            RunKind::Head(band) => Line::Head(band),
            RunKind::Rows { first, .. } => Line::Row(first + (index as u32 - run.line)),
            RunKind::Order { at, .. } => Line::Row(self.order.get((at + (index as u32 - run.line)) as usize).copied()?),
            RunKind::Fold { first, count } => Line::Fold(first, count),
            RunKind::Alike { band, count } => Line::Alike(band, count),
        })
    }

    /// Upper edge and height of a line.
    pub(crate) fn extent(&self, index: usize) -> (f64, f64) {
        self.run_of(index)
            .map_or((self.height, 0.0), |run| (run.top + f64::from(index as u32 - run.line) * run.height, run.height))
    }

    /// How many lines begin above a height or at it.
    fn lines_before(&self, y: f64) -> usize {
        let Some(run) = self.runs.partition_point(|run| run.top <= y).checked_sub(1).and_then(|run| self.runs.get(run))
        else {
            return 0;
        };
        let lines = ((y - run.top) / run.height).floor() as u32 + 1;
        (run.line + lines.min(run.kind.lines())) as usize
    }

    /// The lines from `top` to `bottom`, those that are cut included.
    pub(crate) fn lines_between(&self, top: f64, bottom: f64) -> std::ops::Range<usize> {
        let first = self.lines_before(top).saturating_sub(1);
        let end = self.lines_before(bottom);
        let at_end = end.checked_sub(1).is_some_and(|last| self.extent(last).0 >= bottom);
        let end = if at_end { end - 1 } else { end };
        if top >= self.height { end..end } else { first.min(end)..end }
    }

    /// The parts of the runs from `top` to `bottom`, those that are cut included. Rows that share a pixel stay together.
    pub(crate) fn pieces(&self, top: f64, bottom: f64) -> impl Iterator<Item = Piece> {
        let first = self.runs.partition_point(|run| run.top <= top).saturating_sub(1);
        let runs = self.runs.get(first..).unwrap_or_default().iter();
        runs.take_while(move |run| run.top < bottom).filter_map(move |run| {
            let (kind, of_run, skipped) = match run.kind {
                RunKind::Rows { first, count } | RunKind::Order { at: first, count } => {
                    let together = (1.0 / run.height).max(1.0) as u32;
                    let rows = |y: f64| (y - run.top).max(0.0) / run.height;
                    let skipped = rows(top) as u32 / together * together;
                    let end = (rows(bottom).ceil() as u32).next_multiple_of(together).min(count);
                    let left = end.checked_sub(skipped).filter(|left| *left > 0)?;
                    let kind = match run.kind {
                        RunKind::Order { .. } => RunKind::Order { at: first + skipped, count: left },
                        _ => RunKind::Rows { first: first + skipped, count: left },
                    };
                    (kind, (first, first + count), skipped)
                }
                kind => (kind, (0, 0), 0),
            };
            let top = run.top + f64::from(skipped) * run.height;
            Some(Piece { kind, run: of_run, line: (run.line + skipped) as usize, top, height: run.height })
        })
    }

    /// The line at a height, if one is there.
    pub(crate) fn line_at(&self, y: f64) -> Option<usize> {
        let index = self.lines_before(y).checked_sub(1)?;
        let (top, height) = self.extent(index);
        (y < top + height).then_some(index)
    }

    /// The line that shows a row, or that stands for it; `None` if it is hidden.
    pub(crate) fn line_of(&self, row: u32) -> Option<usize> {
        if self.is_program_order() {
            let place = self.places.get(row as usize).copied().filter(|place| *place != u32::MAX)?;
            let index = self.run_places.partition_point(|first| *first <= place).checked_sub(1)?;
            let (run, first) = (self.runs.get(index)?, self.run_places.get(index)?);
            let offset = if matches!(run.kind, RunKind::Order { .. }) { place - first } else { 0 };
            return Some((run.line + offset) as usize);
        }
        let after = self.covered.partition_point(|(first, ..)| *first <= row);
        let (first, end, run) = self.covered.get(after.checked_sub(1)?)?;
        let run = self.runs.get(*run as usize)?;
        let offset = if matches!(run.kind, RunKind::Rows { .. }) { row - first } else { 0 };
        (row < *end).then_some((run.line + offset) as usize)
    }

    /// Whether a cell is there to see, in a line of its own.
    pub(crate) fn has(&self, place: CellPlace) -> bool {
        let line = self.line_of(place.row).and_then(|line| self.line(line));
        matches!(line, Some(Line::Row(_))) && self.columns.slot_of(place.column).is_some()
    }

    /// The head of the band that a line belongs to.
    pub(crate) fn head_before(&self, line: usize) -> Option<usize> {
        let runs = self.runs.partition_point(|run| run.line as usize <= line);
        let head = self.runs.get(..runs)?.iter().rev().find(|run| matches!(run.kind, RunKind::Head(_)))?;
        Some(head.line as usize)
    }

    /// The row that a line shows, or the first that it stands for: where the keyboard is when it is on that line. An open
    /// band's head is none of its places.
    pub(crate) fn row_of(&self, dataset: &Dataset, line: usize) -> Option<u32> {
        let first_of = |band: u32| dataset.index().bands.get(band as usize).map(|band| band.first_row);
        match self.line(line)? {
            Line::Row(row) | Line::Fold(row, _) => Some(row),
            Line::Alike(band, _) => first_of(band),
            Line::Head(band) => first_of(band).filter(|row| self.line_of(*row) == Some(line)),
        }
    }

    /// The next line, from a line on, that the keyboard can be on, downwards or upwards.
    pub(crate) fn stop_from(&self, dataset: &Dataset, line: usize, down: bool) -> Option<u32> {
        let last = self.line_count().checked_sub(1)?;
        if down {
            (line..=last).find_map(|line| self.row_of(dataset, line))
        } else {
            (0..=line.min(last)).rev().find_map(|line| self.row_of(dataset, line))
        }
    }
}

fn finding_rows(dataset: &Dataset) -> TreeSet<u32> {
    TreeSet::from_iter(dataset.index().findings.iter().filter_map(|finding| finding.row))
}

fn head_height(zoom: Zoom) -> f64 {
    match (zoom.names_fit(), zoom.is_tiny()) {
        (true, _) => HEAD_HEIGHT,
        (false, false) => 20.0,
        (false, true) => 3.0,
    }
}

fn fold_height(zoom: Zoom) -> f64 {
    if zoom.names_fit() { FOLD_HEIGHT } else { zoom.row_height().max(3.0) }
}

/// Space below a band.
fn band_gap(zoom: Zoom) -> f64 {
    match (zoom.names_fit(), zoom.is_tiny()) {
        (true, _) => 8.0,
        (false, false) => 4.0,
        (false, true) => 1.0,
    }
}

/// The bands that are shown, each with those that are folded because they are like it.
fn plan(dataset: &Dataset, shown: &Shown, filter: &RowFilter<'_>) -> Vec<(u32, Vec<u32>)> {
    let bands = &dataset.index().bands;
    let ranks_wanted = crate::table::shown::parse_ranks(&shown.filter.ranks).unwrap_or_default();
    let has_rank = |columns: &[u32]| {
        let is_wanted = |rank: u32| ranks_wanted.iter().any(|(first, last)| (*first..=*last).contains(&rank));
        ranks_wanted.is_empty() || columns.iter().any(|column| dataset.rank(*column).is_some_and(is_wanted))
    };
    let passes = |(index, band): &(u32, &hangscope_analyzer_core::report::Band)| {
        let mut rows = band.first_row..band.first_row.saturating_add(band.row_count);
        shown.filter.has_band(dataset, *index)
            && has_rank(&band.columns)
            && (filter.is_empty() || rows.any(|row| filter.has(row)))
    };
    let passing: Vec<u32> = (0..).zip(bands).filter(passes).map(|(index, _)| index).collect();
    let kind_of = |index: u32| dataset.likeness().bands.get(index as usize).copied();
    // Kinds are numbered from 0.
    let kinds = dataset.likeness().bands.iter().max().map_or(0, |last| *last as usize + 1);
    let mut counts: Vec<usize> = vec![0; kinds];
    if shown.groups_folded {
        for kind in passing.iter().filter_map(|index| kind_of(*index)) {
            counts[kind as usize] += 1;
        }
    }
    let folds = |kind: &u32| counts[*kind as usize] >= LEAST_ALIKE && !shown.opened_groups.contains(kind);
    let mut plan: Vec<(u32, Vec<u32>)> = Vec::new();
    let mut first_of: Vec<Option<usize>> = vec![None; kinds];
    for index in passing {
        match kind_of(index).filter(folds) {
            Some(kind) if first_of[kind as usize].is_some() && !shown.single_bands.contains(&index) => {
                if let Some((_, alike)) = first_of[kind as usize].and_then(|first| plan.get_mut(first)) {
                    alike.push(index);
                }
            }
            kind => {
                if let Some(kind) = kind {
                    first_of[kind as usize].get_or_insert(plan.len());
                }
                plan.push((index, Vec::new()));
            }
        }
    }
    plan
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
