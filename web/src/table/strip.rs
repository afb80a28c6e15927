//! The strip of all ranks above the table: every rank's status at a glance, at any number of ranks. Where there is less than a pixel for
//! each, neighbours share one, which shows the worst of them.

use std::ops::Range;

use hangscope_analyzer_core::report::RankStatus;
use hangscope_analyzer_core::small_sort::SmallSort as _;

use crate::dataset::Dataset;
use crate::rank_status::urgency;
use crate::table::draw_command::{DrawCommand, Mark, Paint};
use crate::table::scene::{Rect, STRIP_HEIGHT, STRIP_TOP, Scene};

/// How far a suspect stands out of the strip.
const OVERHANG: f64 = 3.0;

/// Where the strip is, and how many ranks share a cell of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Strip {
    left: f64,
    width: f64,
    ranks: u32,
    cells: u32,
}

impl Strip {
    pub(crate) fn of(scene: &Scene<'_>) -> Self {
        let ranks = scene.dataset.column_count();
        let width =
            if scene.strip_is_aligned() { scene.layout.columns.width(scene.zoom) } else { scene.columns_width() };
        let cells = ranks.min(width.floor().max(1.0) as u32);
        Self { left: scene.head_width(), width, ranks, cells }
    }

    /// Width of a cell.
    fn step(&self) -> f64 {
        self.width / f64::from(self.cells.max(1))
    }

    /// The columns that share a cell.
    fn columns_of(&self, cell: u32) -> Range<u32> {
        let first = |cell: u32| (u64::from(cell) * u64::from(self.ranks) / u64::from(self.cells.max(1))) as u32;
        first(cell)..first(cell + 1)
    }

    /// The columns that share the cell at `x`.
    pub(crate) fn columns_at(&self, x: f64) -> Option<Range<u32>> {
        let offset = x - self.left;
        if offset < 0.0 || self.cells == 0 {
            return None;
        }
        let cell = (offset / self.step()).floor() as u32;
        (cell < self.cells).then(|| self.columns_of(cell))
    }

    fn cell_of(&self, column: u32) -> u32 {
        let cell = ((u64::from(column) + 1) * u64::from(self.cells)).saturating_sub(1) / u64::from(self.ranks.max(1));
        (cell as u32).min(self.cells.saturating_sub(1))
    }

    /// Where the keyboard's mark on a column is, never smaller than a person can find.
    pub(crate) fn mark(&self, column: u32) -> Rect {
        let width = self.step().max(6.0);
        let middle = self.left + (f64::from(self.cell_of(column)) + 0.5) * self.step();
        Rect { x: middle - width / 2.0, y: STRIP_TOP - OVERHANG, width, height: STRIP_HEIGHT + OVERHANG }
    }
}

/// The column to look at first of several.
pub(crate) fn worst(dataset: &Dataset, columns: Range<u32>) -> Option<u32> {
    let worst = columns.filter_map(|column| Some((urgency(dataset.status(column)?), std::cmp::Reverse(column)))).max();
    worst.map(|(_, column)| column.0)
}

/// The commands for the strip, the quiet cells first.
pub(crate) fn draw(scene: &Scene<'_>, commands: &mut Vec<DrawCommand>) {
    let strip = Strip::of(scene);
    let step = strip.step();
    let mut by_status: Vec<(RankStatus, Vec<Rect>)> = Vec::new();
    for cell in 0..strip.cells {
        let worst = worst(scene.dataset, strip.columns_of(cell)).and_then(|column| scene.dataset.status(column));
        let Some(status) = worst else { continue };
        let gap = if step >= 3.0 { 1.0 } else { 0.0 };
        // The one to look at must be seen even among thousands.
        let least = if status == RankStatus::Suspect { 3.0 } else { 0.0 };
        let (top, height) = extent(status, step);
        let rect =
            Rect { x: strip.left + f64::from(cell) * step, y: STRIP_TOP + top, width: (step - gap).max(least), height };
        match by_status.iter_mut().find(|(known, _)| *known == status) {
            Some((_, rects)) => rects.push(rect),
            None => by_status.push((status, vec![rect])),
        }
    }
    by_status.sort_small_by_key(|(status, _)| urgency(*status));
    for (status, rects) in by_status {
        draw_status(status, rects, step, commands);
    }
    if !scene.strip_is_aligned() && scene.layout.columns.is_plain {
        // Which part of all ranks is in view.
        let columns = scene.slots_in_view();
        let x = |column: u32| strip.left + f64::from(column) / f64::from(strip.ranks.max(1)) * strip.width;
        let rect = Rect {
            x: x(columns.start),
            y: STRIP_TOP + STRIP_HEIGHT + 2.0,
            width: (x(columns.end) - x(columns.start)).max(4.0),
            height: 2.0,
        };
        commands.push(DrawCommand::Fill { paint: Paint::Focus, rects: vec![rect] });
    }
}

/// Upper edge within the strip and height, so that a status is told by its shape as well as by its colour: the louder the higher. A rank
/// without a readable dump is an empty frame, or hangs from the upper edge where there is no room for one.
fn extent(status: RankStatus, step: f64) -> (f64, f64) {
    let from_bottom = |height: f64| (STRIP_HEIGHT - height, height);
    match status {
        RankStatus::Suspect => (-OVERHANG, STRIP_HEIGHT + OVERHANG),
        RankStatus::Victim => (0.0, STRIP_HEIGHT),
        RankStatus::Blocked => from_bottom(8.0),
        RankStatus::Ok => from_bottom(4.0),
        RankStatus::NoDump | RankStatus::Unreadable if step < FRAME => (0.0, STRIP_HEIGHT / 2.0),
        RankStatus::NoDump | RankStatus::Unreadable => (0.0, STRIP_HEIGHT),
    }
}

/// The least width of a cell that is drawn as a frame.
const FRAME: f64 = 6.0;

fn draw_status(status: RankStatus, rects: Vec<Rect>, step: f64, commands: &mut Vec<DrawCommand>) {
    let paint = match status {
        RankStatus::Ok => Paint::Ok,
        RankStatus::Suspect => Paint::Suspect,
        RankStatus::Victim => Paint::Victim,
        RankStatus::Blocked => Paint::Blocked,
        RankStatus::NoDump | RankStatus::Unreadable if step >= FRAME => {
            for rect in rects {
                let inner =
                    Rect { x: rect.x + 0.5, y: rect.y + 0.5, width: rect.width - 1.0, height: rect.height - 1.0 };
                commands.push(DrawCommand::Outline { rect: inner, paint: Paint::Muted, line: 1.0 });
                if status == RankStatus::Unreadable {
                    let (x, y) = (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0);
                    commands.push(DrawCommand::Mark { x, y, size: 7.0, mark: Mark::Cross, paint: Paint::Muted });
                }
            }
            return;
        }
        RankStatus::NoDump | RankStatus::Unreadable => Paint::Muted,
    };
    commands.push(DrawCommand::Fill { paint, rects });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn strip(ranks: u32, cells: u32) -> Strip {
        Strip { left: 100.0, width: 400.0, ranks, cells }
    }

    #[test]
    fn every_rank_has_one_cell_that_holds_it() {
        for (ranks, cells) in [(1, 1), (4, 4), (10_240, 400), (1000, 999), (64, 64), (7, 3)] {
            let strip = strip(ranks, cells);
            let mut next = 0;
            for cell in 0..cells {
                let columns = strip.columns_of(cell);
                assert_eq!(columns.start, next, "no gap");
                assert!(!columns.is_empty());
                assert!(columns.clone().all(|column| strip.cell_of(column) == cell), "{ranks} {cells} {columns:?}");
                next = columns.end;
            }
            assert_eq!(next, ranks);
        }
    }

    #[test]
    fn a_point_leads_to_its_ranks() {
        let many = strip(10_000, 400);
        assert_eq!(many.columns_at(100.0), Some(0..25));
        assert_eq!(many.columns_at(499.5), Some(9975..10_000));
        assert_eq!((many.columns_at(99.0), many.columns_at(500.5)), (None, None));
        assert_eq!(strip(4, 4).columns_at(350.0), Some(2..3));
        assert_eq!(Strip::default().columns_at(0.0), None);
    }

    #[test]
    fn the_mark_can_be_found_among_thousands() {
        let mark = strip(10_000, 400).mark(5_000);
        assert_eq!((mark.x + mark.width / 2.0, mark.width), (300.5, 6.0));
        assert_eq!(strip(4, 4).mark(1).width, 100.0);
    }

    #[test]
    fn a_suspect_comes_before_all_others() {
        let dataset = example::dataset();
        assert_eq!(worst(&dataset, 0..8), Some(5));
        assert_eq!(worst(&dataset, 0..5), Some(4));
        assert_eq!(worst(&dataset, 0..3), Some(0), "the first of equals");
        assert_eq!(worst(&dataset, 3..3), None);
    }
}
