//! The whole table, small: which part of it is in view, and where the bad cells are.

use hangscope_analyzer_core::report::CellCode;

use crate::dataset::Dataset;
use crate::overview::severity::keep_worse;
use crate::table::draw_command::{DrawCommand, Paint};
use crate::table::layout::{RunKind, TableLayout};
use crate::table::scene::{Rect, Scene, TABLE_TOP};
use crate::table::zoom::Zoom;

/// Width of the map.
pub(crate) const MAP_WIDTH: f64 = 112.0;
/// Space around the picture.
const MARGIN: f64 = 8.0;
/// The frame is never smaller than a person can grasp.
const LEAST_FRAME: f64 = 10.0;

/// The picture, made once for each layout.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Minimap {
    columns: usize,
    codes: Vec<u8>,
    /// Size of the picture in pixels.
    width: f64,
    height: f64,
    /// Size of the table in its own pixels.
    table_width: f64,
    table_height: f64,
}

impl Minimap {
    /// Draws the table so small that it fits into a map of this height.
    pub(crate) fn new(dataset: &Dataset, layout: &TableLayout, zoom: Zoom, height: f64) -> Self {
        let (table_width, table_height) = (layout.columns.width(zoom), layout.height());
        let room = (MAP_WIDTH - 2.0 * MARGIN, (height - 2.0 * MARGIN).max(0.0));
        // A table that is smaller than its map is not blown up.
        let (width, height) = (room.0.min(table_width).floor(), room.1.min(table_height).floor());
        let mut map = Self { columns: width as usize, codes: Vec::new(), width, height, table_width, table_height };
        if map.columns == 0 || height < 1.0 {
            return Self::default();
        }
        map.codes = vec![CellCode::NONE.0; map.columns * height as usize];
        // Where few columns share the map, each is several pixels wide.
        let edge = |slot: u32| (layout.columns.x(slot, zoom) / table_width * width).floor() as u32;
        let x_of: Vec<(u32, u32)> = (0..dataset.column_count())
            .map(|column| match layout.columns.slot_of(column) {
                Some(slot) => (edge(slot), edge(slot + 1).max(edge(slot) + 1)),
                None => (u32::MAX, u32::MAX),
            })
            .collect();
        for piece in layout.pieces(0.0, table_height) {
            match piece.kind {
                RunKind::Rows { first, count } => map.add_rows(dataset, &x_of, (first, count), piece.top, piece.height),
                RunKind::Order { at, count } => {
                    for (at, row) in (0..).zip(layout.rows_in_order(at, count)) {
                        let top = piece.top + f64::from(at) * piece.height;
                        map.add_rows(dataset, &x_of, (*row, 1), top, piece.height);
                    }
                }
                _ => {}
            }
        }
        map
    }

    fn add_rows(
        &mut self,
        dataset: &Dataset,
        x_of: &[(u32, u32)],
        (first, count): (u32, u32),
        top: f64,
        row_height: f64,
    ) {
        let Some((index, band)) = dataset.band_of(first) else { return };
        let scale = self.height / self.table_height;
        let rows_per_pixel = 1.0 / (row_height * scale);
        let level = dataset.pyramid().level_for(rows_per_pixel);
        let (start, end) = (first - band.first_row, first - band.first_row + count);
        let mut at = start;
        while at < end {
            // Coarse rows where whole ones are shown, single ones at the ends.
            let coarse = level.filter(|level| {
                let step = level.step();
                at.is_multiple_of(step) && (at + step <= end || end == band.row_count)
            });
            let coarse = coarse.and_then(|level| Some((level.step(), level.row(index, band, at)?)));
            let (step, cells) = coarse.unwrap_or_else(|| (1, dataset.row_cells(band, band.first_row + at)));
            let y = |row: u32| ((top + f64::from(row - start) * row_height) * scale) as usize;
            for line in y(at)..y((at + step).min(end)).max(y(at) + 1) {
                let line = self.codes.get_mut(line * self.columns..(line + 1) * self.columns).unwrap_or_default();
                cells.for_each(&mut |position, code| {
                    let column = band.columns.get(position).and_then(|column| x_of.get(*column as usize));
                    let (first, end) = column.copied().unwrap_or_default();
                    for kept in line.get_mut(first as usize..end as usize).unwrap_or_default() {
                        keep_worse(kept, code);
                    }
                });
            }
            at += step;
        }
    }

    /// The window onto the table, as a frame on the map.
    fn frame(&self, scene: &Scene<'_>) -> Rect {
        let part = |from: f64, size: f64, whole: f64, room: f64| {
            let (start, end) = ((from / whole).clamp(0.0, 1.0) * room, ((from + size) / whole).clamp(0.0, 1.0) * room);
            let grown = (end - start).max(LEAST_FRAME.min(room));
            (start.min(room - grown).max(0.0), grown)
        };
        let (x, width) = part(scene.view.scroll_x, scene.columns_width(), self.table_width, self.width);
        let (y, height) = part(scene.view.scroll_y, scene.view.height - TABLE_TOP, self.table_height, self.height);
        Rect { x: MARGIN + x, y: MARGIN + y, width, height }
    }

    /// The commands for the map and the frame on it.
    pub(crate) fn draw(&self, scene: &Scene<'_>) -> Vec<DrawCommand> {
        let mut commands = vec![DrawCommand::Fill {
            paint: Paint::Surface,
            rects: vec![Rect { x: 0.0, y: 0.0, width: MAP_WIDTH, height: scene.view.height }],
        }];
        if self.columns == 0 {
            return commands;
        }
        let rect = Rect { x: MARGIN, y: MARGIN, width: self.width, height: self.height };
        commands.push(DrawCommand::Picture {
            rect,
            columns: self.columns,
            codes: self.codes.clone(),
            kinds: Vec::new(),
        });
        let mut loud = (Vec::new(), Vec::new());
        for (at, code) in self.codes.iter().map(|code| CellCode(*code)).enumerate() {
            let (x, y) = (MARGIN + (at % self.columns) as f64, MARGIN + (at / self.columns) as f64);
            let mark =
                |size: f64| Rect { x: x - (size - 1.0) / 2.0, y: y - (size - 1.0) / 2.0, width: size, height: size };
            match (code.has(CellCode::DIFFERS), code.has(CellCode::ORIGIN)) {
                (true, true) => loud.0.push(mark(5.0)),
                (true, false) => loud.0.push(mark(3.0)),
                (false, true) if code.state() == CellCode::MISSING => loud.1.push(mark(5.0)),
                (false, _) => {}
            }
        }
        commands.push(DrawCommand::Fill { paint: Paint::Mismatch, rects: loud.0 });
        commands.push(DrawCommand::Fill { paint: Paint::Missing, rects: loud.1 });
        let frame = self.frame(scene);
        let outer = Rect { x: frame.x - 1.0, y: frame.y - 1.0, width: frame.width + 2.0, height: frame.height + 2.0 };
        commands.push(DrawCommand::Outline { rect: outer, paint: Paint::Focus, line: 1.5 });
        commands
    }

    /// How far to scroll for a point of the map to be in the middle of the view.
    pub(crate) fn scroll_for(&self, scene: &Scene<'_>, x: f64, y: f64) -> (f64, f64) {
        let part = |at: f64, room: f64| ((at - MARGIN) / room.max(1.0)).clamp(0.0, 1.0);
        let to_x = part(x, self.width) * self.table_width - scene.columns_width() / 2.0;
        let to_y = part(y, self.height) * self.table_height - (scene.view.height - TABLE_TOP) / 2.0;
        (to_x.max(0.0), to_y.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use hangscope_analyzer_core::tree_set::TreeSet;

    use super::*;
    use crate::example;
    use crate::table::scene::View;
    use crate::table::shown::Shown;

    static NOTHING: TreeSet<u32> = TreeSet::new();

    fn mesh() -> Dataset {
        example::mesh(1024, 8, 619).dataset()
    }

    #[test]
    fn one_bad_cell_is_on_the_map_at_any_zoom() {
        let dataset = mesh();
        let mut zoom = Zoom::default();
        for _ in 0..11 {
            let layout = TableLayout::new(&dataset, &Shown::default(), zoom);
            let map = Minimap::new(&dataset, &layout, zoom, 300.0);
            let origin = CellCode::MISSING.with(CellCode::ORIGIN).0;
            let at = map.codes.iter().position(|code| *code == origin).unwrap();
            assert_eq!(
                map.codes.iter().filter(|code| **code == origin).count(),
                1,
                "not even beside a thousand others"
            );
            assert_eq!(at % map.columns, 619 * map.columns / 1024);
            let line = layout.line_of(dataset.index().findings[0].row.unwrap()).unwrap();
            let expected = layout.extent(line).0 * map.height / layout.height();
            assert!(((at / map.columns) as f64 - expected).abs() <= 1.0, "{zoom:?}");
            zoom = zoom.farther();
        }
    }

    #[test]
    fn one_bad_end_of_many_messages_is_on_the_map() {
        let dataset = example::messages(60).dataset();
        for (zoom, height) in [(Zoom::default(), 2_000.0), (Zoom::default(), 200.0), (Zoom::default().farther(), 30.0)]
        {
            let layout = TableLayout::new(&dataset, &Shown::default(), zoom);
            let map = Minimap::new(&dataset, &layout, zoom, height);
            let (row, rank) = example::BAD_END;
            let bad = CellCode::MISSING.with(CellCode::ORIGIN).0;
            let at = map.codes.iter().position(|code| *code == bad).unwrap();
            assert!((at % map.columns).abs_diff(rank as usize * map.columns / 60) <= 1, "{height}");
            let expected = layout.extent(layout.line_of(row).unwrap()).0 * map.height / layout.height();
            // A row of a level that begins a line above stands there.
            assert!(((at / map.columns) as f64 - expected).abs() < 2.0, "{height}");
        }
    }

    #[test]
    fn the_frame_is_the_window_and_leads_to_it() {
        let dataset = mesh();
        let zoom = Zoom::default();
        let layout = TableLayout::new(&dataset, &Shown::default(), zoom);
        let map = Minimap::new(&dataset, &layout, zoom, 316.0);
        let mut view = View { width: 900.0, height: 500.0, scroll_x: 0.0, scroll_y: 0.0 };
        let mut scene =
            Scene { dataset: &dataset, layout: &layout, zoom, view, active: None, layer: None, contradicted: &NOTHING };
        assert_eq!((map.frame(&scene).x, map.frame(&scene).y), (8.0, 8.0));
        let (x, y) = map.scroll_for(&scene, 56.0, 158.0);
        (view.scroll_x, view.scroll_y) = (x, y);
        scene.view = view;
        let frame = map.frame(&scene);
        assert!((frame.x + frame.width / 2.0 - 56.0).abs() < 4.0 && (frame.y + frame.height / 2.0 - 158.0).abs() < 6.0);
        assert_eq!(map.scroll_for(&scene, -50.0, -50.0), (0.0, 0.0));
    }

    #[test]
    fn a_small_table_is_not_blown_up() {
        let dataset = example::dataset();
        let layout = TableLayout::new(&dataset, &Shown::default(), Zoom::default());
        let map = Minimap::new(&dataset, &layout, Zoom::default(), 1000.0);
        assert_eq!((map.width, map.height), (96.0, layout.height()));
        assert_eq!(Minimap::new(&dataset, &layout, Zoom::default(), 3.0), Minimap::default());
    }
}
