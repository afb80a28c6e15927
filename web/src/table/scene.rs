//! What of the table is in view, and what lies under a point of it.

use crate::dataset::{CellPlace, Dataset};
use crate::table::layout::{HEAD_HEIGHT, Line, TableLayout};
use crate::table::strip::Strip;
use crate::table::zoom::Zoom;

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

/// Width of the rows' heads, by that of the window.
pub(crate) fn head_width(view_width: f64) -> f64 {
    match view_width {
        ..560.0 => 148.0,
        560.0..820.0 => 252.0,
        820.0..1200.0 => 300.0,
        _ => 340.0,
    }
}

impl Scene<'_> {
    pub(crate) fn head_width(&self) -> f64 {
        head_width(self.view.width)
    }

    /// How much room there is for columns.
    pub(crate) fn columns_width(&self) -> f64 {
        (self.view.width - self.head_width() - RIGHT_MARGIN).max(1.0)
    }

    /// Left edge of a column in the view.
    pub(crate) fn column_x(&self, column: u32) -> f64 {
        self.head_width() + f64::from(column) * self.zoom.cell_width() - self.view.scroll_x
    }

    /// Upper edge of a height of the table in the view.
    pub(crate) fn y(&self, top: u32) -> f64 {
        TABLE_TOP + f64::from(top) - self.view.scroll_y
    }

    /// The columns in view, those that are cut included.
    pub(crate) fn columns_in_view(&self) -> std::ops::Range<u32> {
        let column = |x: f64| (x / self.zoom.cell_width()).max(0.0);
        let first = column(self.view.scroll_x).floor() as u32;
        let end = column(self.view.scroll_x + self.view.width - self.head_width()).ceil() as u32;
        let end = end.min(self.dataset.column_count());
        first.min(end)..end
    }

    /// The lines in view, those that are cut included.
    pub(crate) fn lines_in_view(&self) -> std::ops::Range<usize> {
        self.layout.lines_between(self.view.scroll_y, self.view.scroll_y + (self.view.height - TABLE_TOP).max(0.0))
    }

    /// Where a cell is in the view; `None` if its row is hidden or folded.
    pub(crate) fn cell_rect(&self, place: CellPlace) -> Option<Rect> {
        let line = self.layout.line_of(place.row)?;
        let Line::Row(_) = self.layout.line(line)? else { return None };
        let (top, height) = self.layout.extent(line);
        Some(Rect {
            x: self.column_x(place.column),
            y: self.y(top),
            width: self.zoom.cell_width(),
            height: height.into(),
        })
    }

    /// The band whose head sticks to the upper edge, and where that head is: the next head pushes it out.
    pub(crate) fn sticky_head(&self) -> Option<(u32, f64)> {
        let first = self.lines_in_view().start;
        let head = self.layout.head_before(first)?;
        let Some(Line::Head(band)) = self.layout.line(head) else { return None };
        if f64::from(self.layout.extent(head).0) >= self.view.scroll_y {
            return None;
        }
        let next = (first + 1..self.layout.line_count())
            .take_while(|line| self.y(self.layout.extent(*line).0) < TABLE_TOP + f64::from(HEAD_HEIGHT))
            .find(|line| matches!(self.layout.line(*line), Some(Line::Head(_))));
        let y =
            next.map_or(TABLE_TOP, |next| (self.y(self.layout.extent(next).0) - f64::from(HEAD_HEIGHT)).min(TABLE_TOP));
        Some((band, y))
    }

    /// Whether the strip's ranks stand above their columns: all of them fit.
    pub(crate) fn strip_is_aligned(&self) -> bool {
        f64::from(self.dataset.column_count()) * self.zoom.cell_width() <= self.columns_width()
    }

    pub(crate) fn target_at(&self, x: f64, y: f64) -> Option<Target> {
        if y < TABLE_TOP {
            return Strip::of(self).columns_at(x).map(|columns| Target::Strip(columns.start, columns.end));
        }
        if let Some((band, top)) = self.sticky_head()
            && y < top + f64::from(HEAD_HEIGHT)
        {
            return Some(Target::Head(band));
        }
        let line = self.layout.line_at(y - TABLE_TOP + self.view.scroll_y)?;
        match self.layout.line(line)? {
            Line::Head(band) => Some(Target::Head(band)),
            Line::Fold(first, _) => Some(Target::Fold(first)),
            Line::Row(row) if x < self.head_width() => Some(Target::RowHead(row)),
            Line::Row(row) => {
                let column = ((x - self.head_width() + self.view.scroll_x) / self.zoom.cell_width()).floor() as u32;
                (column < self.dataset.column_count()).then_some(Target::Cell(CellPlace { row, column }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::table::layout::Shown;

    fn check(view: View, zoom: Zoom, test: impl Fn(&Scene<'_>)) {
        let dataset = example::dataset();
        let layout = TableLayout::new(&dataset, &Shown::default(), zoom);
        test(&Scene { dataset: &dataset, layout: &layout, zoom, view, active: None });
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
            assert_eq!(scene.columns_in_view(), 1..8);
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
