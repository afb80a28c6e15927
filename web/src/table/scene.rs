//! What of the table is in view, and what lies under a point of it.

use std::ops::Range;

use hangscope_analyzer_core::tree_set::TreeSet;

use crate::dataset::{CellPlace, Dataset};
use crate::overview::LayerData;
use crate::overview::severity::SEVERITY;
use crate::table::layout::{HEAD_HEIGHT, Line, RunKind, TableLayout};
use crate::table::strip::Strip;
use crate::table::zoom::Zoom;
use crate::text::length;

/// The strip of all ranks, above everything.
pub(crate) const STRIP_TOP: f64 = 6.0;
pub(crate) const STRIP_HEIGHT: f64 = 12.0;
/// Where the rows begin: below the strip and the numbers of the ranks.
pub(crate) const TABLE_TOP: f64 = 40.0;
/// Space to the right of the last column.
pub(crate) const RIGHT_MARGIN: f64 = 12.0;

/// The window onto the table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct View {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) scroll_x: f64,
    pub(crate) scroll_y: f64,
}

/// Everything that decides what is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) dataset: &'a Dataset,
    pub(crate) layout: &'a TableLayout,
    pub(crate) zoom: Zoom,
    pub(crate) view: View,
    pub(crate) active: Option<CellPlace>,
    /// What the cells are coloured by, if not by their state.
    pub(crate) layer: Option<&'a LayerData>,
    /// Rows that ranks issued in different orders, where rows are in one order.
    pub(crate) contradicted: &'a TreeSet<u32>,
}

/// What lies under a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A cell of the strip: the first column that it shows, and the one after the last.
    Strip(u32, u32),
    /// The head of a band.
    Head(u32),
    /// Folded rows: index of the first.
    Fold(u32),
    /// Folded groups: index of the first.
    Alike(u32),
    /// The number above a column, which may stand for many ranks: where it is shown.
    Number(u32),
    /// The name of a row.
    RowHead(u32),
    /// A cell. It may be one where the rank has no part in the row.
    Cell(CellPlace),
}

/// A rectangle in pixels of the view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    /// The style of an element that lies there.
    pub(crate) fn style(&self) -> String {
        let Rect { x, y, width, height } = *self;
        let [x, y, width, height] = [x, y, width, height].map(length);
        format!("left:{x}px;top:{y}px;width:{width}px;height:{height}px")
    }
}

/// Width of the rows' heads: more than the least where the columns leave room that names can use.
pub(crate) fn head_width(layout: &TableLayout, view_width: f64, zoom: Zoom) -> f64 {
    let least = least_head_width(view_width, zoom, layout.is_program_order());
    let room = view_width - layout.columns.width(zoom) - RIGHT_MARGIN;
    if zoom.names_fit() { room.floor().min(named_head_width(layout, view_width)).max(least) } else { least }
}

/// The width in which the longest name is not cut. One that is out of all proportion is: cells stay near the other names.
pub(crate) fn named_head_width(layout: &TableLayout, view_width: f64) -> f64 {
    const LETTER: f64 = 7.25;
    const MOST: f64 = 0.6;
    let of_groups = if layout.is_program_order() { GROUP_WIDTH + 8.0 } else { 0.0 };
    (layout.name_letters as f64 * LETTER + 78.0 + of_groups).min(view_width * MOST).ceil()
}

/// The least width of the rows' heads, by that of the window. Where rows are too low for their names there is no need for much; where they are in
/// one order, each has its group beside it.
pub(crate) fn least_head_width(view_width: f64, zoom: Zoom, has_groups: bool) -> f64 {
    if !zoom.names_fit() {
        return 96.0;
    }
    let of_groups = if has_groups { GROUP_WIDTH } else { 0.0 };
    match view_width {
        ..560.0 => 148.0,
        560.0..820.0 => 252.0 + of_groups / 2.0,
        820.0..1200.0 => 300.0 + of_groups,
        _ => 340.0 + of_groups,
    }
}

/// Room for the label of a group beside a row.
pub(crate) const GROUP_WIDTH: f64 = 96.0;

impl Scene<'_> {
    pub(crate) fn head_width(&self) -> f64 {
        head_width(self.layout, self.view.width, self.zoom)
    }

    /// How much room there is for columns.
    pub(crate) fn columns_width(&self) -> f64 {
        (self.view.width - self.head_width() - RIGHT_MARGIN).max(1.0)
    }

    /// Left edge of a slot in the view.
    pub(crate) fn slot_x(&self, slot: u32) -> f64 {
        self.head_width() + self.layout.columns.x(slot, self.zoom) - self.view.scroll_x
    }

    /// Upper edge of a height of the table in the view.
    pub(crate) fn y(&self, top: f64) -> f64 {
        TABLE_TOP + top - self.view.scroll_y
    }

    /// The slots in view, those that are cut included.
    pub(crate) fn slots_in_view(&self) -> Range<u32> {
        let (left, width) = (self.view.scroll_x, self.view.width - self.head_width());
        self.layout.columns.between(left, left + width.max(0.0), self.zoom)
    }

    /// The heights of the table between which the view is.
    pub(crate) fn heights_in_view(&self) -> (f64, f64) {
        (self.view.scroll_y, self.view.scroll_y + (self.view.height - TABLE_TOP).max(0.0))
    }

    /// The lines in view, those that are cut included.
    pub(crate) fn lines_in_view(&self) -> Range<usize> {
        let (top, bottom) = self.heights_in_view();
        self.layout.lines_between(top, bottom)
    }

    /// Where a cell is in the view, or what stands for it; `None` if it is hidden.
    pub(crate) fn cell_rect(&self, place: CellPlace) -> Option<Rect> {
        let (top, height) = self.layout.extent(self.layout.line_of(place.row)?);
        let slot = self.layout.columns.slot_of(place.column)?;
        Some(Rect {
            x: self.slot_x(slot),
            y: self.y(top),
            width: self.layout.columns.slot_width(slot, self.zoom),
            height,
        })
    }

    /// The band whose head sticks to the upper edge, and where that head is: the next head pushes it out.
    pub(crate) fn sticky_head(&self) -> Option<(u32, f64)> {
        let first = self.lines_in_view().start;
        let head = self.layout.head_before(first)?;
        let Some(Line::Head(band)) = self.layout.line(head) else { return None };
        if self.layout.extent(head).0 >= self.view.scroll_y {
            return None;
        }
        // A head that cannot be read pushes nothing.
        let (top, _) = self.heights_in_view();
        let next = self
            .layout
            .pieces(top + 0.5, top + HEAD_HEIGHT)
            .find(|piece| matches!(piece.kind, RunKind::Head(_)) && piece.top > top && !self.zoom.is_tiny());
        let y = next.map_or(TABLE_TOP, |next| (self.y(next.top) - HEAD_HEIGHT).min(TABLE_TOP));
        Some((band, y))
    }

    /// Whether the strip's ranks stand above their columns: all of them are there, in order, and fit.
    pub(crate) fn strip_is_aligned(&self) -> bool {
        let columns = &self.layout.columns;
        columns.is_plain && columns.width(self.zoom) <= self.columns_width()
    }

    pub(crate) fn target_at(&self, x: f64, y: f64) -> Option<Target> {
        let table_x = x - self.head_width() + self.view.scroll_x;
        if y < STRIP_TOP + STRIP_HEIGHT + 4.0 {
            return Strip::of(self).columns_at(x).map(|columns| Target::Strip(columns.start, columns.end));
        }
        if y < TABLE_TOP {
            let slot = self.layout.columns.at(table_x, self.zoom).filter(|_| x >= self.head_width());
            return slot.map(Target::Number);
        }
        if let Some((band, top)) = self.sticky_head()
            && y < top + HEAD_HEIGHT
        {
            return Some(Target::Head(band));
        }
        let line = self.layout.line_at(y - TABLE_TOP + self.view.scroll_y)?;
        match self.layout.line(line)? {
            Line::Head(band) => Some(Target::Head(band)),
            Line::Fold(first, _) => Some(Target::Fold(first)),
            Line::Alike(band, _) => Some(Target::Alike(band)),
            Line::Row(row) if x < self.head_width() => Some(Target::RowHead(row)),
            Line::Row(row) => self.layout.columns.at(table_x, self.zoom).map(|slot| self.worst_at(line, row, slot)),
        }
    }

    /// Of the cells that share a pixel, or a column that stands for many, the one that is seen there.
    fn worst_at(&self, line: usize, row: u32, slot: u32) -> Target {
        let together = |at: u32, count: u32| at / count * count..(at / count + 1) * count;
        let slots = together(slot, self.zoom.columns_per_pixel());
        let rows_together = self.zoom.rows_per_pixel() as usize;
        let pixel = |line: usize| self.layout.extent(line).0.floor();
        // Runs begin at whole pixels of the table, so these are the rows that the pixel was made of.
        let (mut worst, here) = ((0, None), pixel(line));
        for near in line.saturating_sub(rows_together - 1)..line + rows_together {
            if pixel(near) != here {
                continue;
            }
            let Some(Line::Row(near)) = self.layout.line(near) else { continue };
            let Some((_, band)) = self.dataset.band_of(near) else { continue };
            self.dataset.row_cells(band, near).for_each(&mut |position, code| {
                let severity = SEVERITY[usize::from(code)];
                let column = band.columns.get(position).copied().filter(|_| severity > worst.0);
                let is_here = |column| self.layout.columns.slot_of(column).is_some_and(|slot| slots.contains(&slot));
                if let Some(column) = column.filter(|column| is_here(*column)) {
                    worst = (severity, Some(CellPlace { row: near, column }));
                }
            });
        }
        let column = self.layout.columns.slot(slot).map_or(0, |slot| slot.column);
        Target::Cell(worst.1.unwrap_or(CellPlace { row, column }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::table::shown::Shown;

    static NOTHING: TreeSet<u32> = TreeSet::new();

    fn check(view: View, zoom: Zoom, test: impl Fn(&Scene<'_>)) {
        let dataset = example::dataset();
        let layout = TableLayout::new(&dataset, &Shown::default(), zoom);
        test(&Scene {
            dataset: &dataset,
            layout: &layout,
            zoom,
            view,
            active: None,
            layer: None,
            contradicted: &NOTHING,
        });
    }

    const VIEW: View = View { width: 800.0, height: 400.0, scroll_x: 0.0, scroll_y: 0.0 };

    #[test]
    fn targets() {
        check(VIEW, Zoom::default(), |scene| {
            let cell_y = TABLE_TOP + 26.0 + 9.0 * 18.0 + 5.0;
            let target = |x, y| scene.target_at(x, y);
            assert_eq!(target(252.0 + 5.0 * 16.0 + 3.0, cell_y), Some(Target::Cell(example::ORIGIN)));
            assert_eq!(target(10.0, cell_y), Some(Target::RowHead(9)));
            assert_eq!(target(10.0, TABLE_TOP + 3.0), Some(Target::Head(0)));
            assert_eq!(target(252.0 + 17.0, 10.0), Some(Target::Strip(1, 2)));
            assert_eq!(target(790.0, 10.0), None, "right of the last rank");
            assert_eq!(target(790.0, cell_y), None);
            assert_eq!(target(400.0, 390.0), None, "below the table");
        });
    }

    #[test]
    fn scrolled() {
        let view = View { scroll_x: 16.0, scroll_y: 100.0, ..VIEW };
        check(view, Zoom::default(), |scene| {
            assert_eq!(scene.slots_in_view(), 1..8);
            assert_eq!(scene.sticky_head(), Some((0, TABLE_TOP)));
            assert_eq!(scene.target_at(300.0, TABLE_TOP + 3.0), Some(Target::Head(0)), "the head that sticks");
            assert_eq!(
                scene.cell_rect(example::ORIGIN).map(|rect| (rect.x, rect.y)),
                Some((252.0 + 64.0, 40.0 + 88.0))
            );
        });
        let view = View { scroll_y: 200.0, ..VIEW };
        check(view, Zoom::default(), |scene| {
            assert_eq!(scene.sticky_head(), Some((0, TABLE_TOP - 12.0)), "pushed by the next head");
        });
        let view = View { scroll_y: 214.0, ..VIEW };
        check(view, Zoom::default(), |scene| assert_eq!(scene.sticky_head(), None, "the head itself is there"));
    }

    #[test]
    fn the_strip_holds_all_ranks_at_any_zoom() {
        let narrow = View { width: 320.0, ..VIEW };
        let mut zoom = Zoom::default();
        for _ in 0..9 {
            zoom = zoom.closer();
        }
        check(narrow, zoom, |scene| {
            assert!(!scene.strip_is_aligned());
            assert_eq!(scene.target_at(149.0, 8.0), Some(Target::Strip(0, 1)));
            assert_eq!(scene.target_at(307.0, 8.0), Some(Target::Strip(7, 8)));
        });
    }
}
