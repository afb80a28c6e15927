//! The cells in view as draw commands.

use std::collections::HashMap;

use hangscope_analyzer_core::report::CellCode;

use crate::table::cell_batch::CellBatch;
use crate::table::draw_command::{DrawCommand, Paint};
use crate::table::layout::{Piece, RunKind};
use crate::table::pixels::{Codes, Pixels, pixels_in_view};
use crate::table::scene::{Rect, Scene};

/// What a finding points at is drawn at least so large, however small its cell is; what differs, at least so.
pub(crate) const LEAST_ORIGIN: f64 = 4.0;
const LEAST_DIFFERS: f64 = 2.0;

/// Draws all cells in view.
pub(crate) fn draw(scene: &Scene<'_>, commands: &mut Vec<DrawCommand>) {
    let mut cells = Cells { scene, batch: CellBatch::default(), commands };
    let (top, bottom) = scene.heights_in_view();
    for piece in scene.layout.pieces(top, bottom) {
        match piece.kind {
            RunKind::Rows { first, count } => cells.rows(&piece, first, count),
            RunKind::Order { at, count } => cells.order(&piece, at, count),
            RunKind::Fold { first, .. } => {
                if let Some((index, _)) = scene.dataset.band_of(first) {
                    cells.fold_bars(index, &piece);
                }
            }
            RunKind::Alike { .. } | RunKind::Head(_) => {}
        }
    }
    cells.batch.draw(cells.commands);
}

struct Cells<'a> {
    scene: &'a Scene<'a>,
    batch: CellBatch,
    commands: &'a mut Vec<DrawCommand>,
}

impl Cells<'_> {
    /// Rows of one band.
    fn rows(&mut self, piece: &Piece, first: u32, count: u32) {
        let scene = self.scene;
        let Some((index, band)) = scene.dataset.band_of(first) else { return };
        let Some(pixels) = Pixels::of(scene, index, band) else { return };
        let together = scene.zoom.rows_per_pixel();
        let lines = count.div_ceil(together);
        let mut codes = Codes::new(scene, pixels.width(), lines as usize);
        let run = piece.run.0..piece.run.1;
        for line in 0..lines {
            let start = first + line * together;
            pixels.add_rows(start..(start + together).min(run.end), &run, line as usize, &mut codes);
        }
        self.draw_codes(piece, codes, pixels.slot(0), pixels.width(), lines);
    }

    /// Rows in one order over all groups.
    fn order(&mut self, piece: &Piece, at: u32, count: u32) {
        let scene = self.scene;
        let in_view = pixels_in_view(scene);
        let (width, together) = (in_view.len(), scene.zoom.rows_per_pixel());
        let lines = count.div_ceil(together);
        let mut codes = Codes::new(scene, width, lines as usize);
        let mut bands: HashMap<usize, Pixels<'_>> = HashMap::new();
        let rows = scene.layout.rows_in_order(at, count);
        for (line, rows) in rows.chunks(together as usize).enumerate() {
            for row in rows {
                let Some((index, band)) = scene.dataset.band_of(*row) else { continue };
                let pixels = bands.entry(index).or_insert_with(|| Pixels::of_view(scene, index, band));
                pixels.add_row(*row, line, &mut codes);
            }
        }
        self.draw_codes(piece, codes, in_view.start * scene.zoom.columns_per_pixel(), width, lines);
    }

    fn draw_codes(&mut self, piece: &Piece, codes: Codes, first_slot: u32, width: usize, lines: u32) {
        if self.scene.zoom.is_picture() {
            self.picture(piece, codes, first_slot, width, lines);
        } else {
            self.cells(piece, &codes, first_slot, lines);
        }
    }

    fn cells(&mut self, piece: &Piece, codes: &Codes, first_slot: u32, lines: u32) {
        let scene = self.scene;
        for line in 0..lines {
            let y = scene.y(piece.top + f64::from(line) * piece.height) + 1.0;
            for (at, code, kind) in codes.of_line(line as usize) {
                let slot = first_slot + at as u32;
                let width = scene.layout.columns.slot_width(slot, scene.zoom) - 1.0;
                let rect = Rect { x: scene.slot_x(slot), y, width, height: piece.height - 2.0 };
                self.batch.add_cell(code, kind, rect);
            }
        }
    }

    /// A pixel for each cell, or for several.
    fn picture(&mut self, piece: &Piece, codes: Codes, first_slot: u32, width: usize, lines: u32) {
        let scene = self.scene;
        let (cell_width, cell_height) = (scene.zoom.cell_width().max(1.0), piece.height.max(1.0));
        let (left, top) = (scene.slot_x(first_slot), scene.y(piece.top));
        for line in 0..lines {
            let y = top + f64::from(line) * cell_height;
            for (at, code, _) in codes.of_line(line as usize) {
                let x = left + at as f64 * cell_width;
                self.add_enlarged(code, Rect { x, y, width: cell_width, height: cell_height });
            }
        }
        let rect = Rect { x: left, y: top, width: width as f64 * cell_width, height: f64::from(lines) * cell_height };
        let Codes { codes, kinds, .. } = codes;
        self.commands.push(DrawCommand::Picture { rect, columns: width, codes, kinds });
    }

    /// What must be seen even where a cell is a pixel or less.
    fn add_enlarged(&mut self, code: CellCode, rect: Rect) {
        let least = match (code.has(CellCode::ORIGIN), code.has(CellCode::DIFFERS)) {
            (true, _) => LEAST_ORIGIN,
            (false, true) => LEAST_DIFFERS,
            (false, false) => return,
        };
        let paint = match (code.has(CellCode::DIFFERS), code.state()) {
            (true, _) => Paint::Mismatch,
            (false, CellCode::MISSING) => Paint::Missing,
            // It belongs to a finding, but nothing is wrong with it.
            (false, _) => return,
        };
        let (width, height) = (rect.width.max(least), rect.height.max(least));
        // Around the cell, so that it is not taken for its neighbour.
        let (x, y) = (rect.x - ((width - rect.width) / 2.0).floor(), rect.y - ((height - rect.height) / 2.0).floor());
        self.batch.add(paint, Rect { x, y, width, height });
    }

    /// Folded rows: a thin bar where the group's ranks are, or where any are if the rows are of several groups.
    fn fold_bars(&mut self, index: usize, piece: &Piece) {
        let scene = self.scene;
        let bar = (piece.height / 4.0).clamp(1.0, 4.0);
        let y = scene.y(piece.top) + ((piece.height - bar) / 2.0).floor();
        let columns = &scene.layout.columns;
        let mut add = |first: u32, last: u32| {
            let (x, end) = (scene.slot_x(first), scene.slot_x(last) + columns.slot_width(last, scene.zoom));
            self.batch.add(Paint::Completed, Rect { x, y, width: (end - x - 1.0).max(1.0), height: bar });
        };
        if scene.layout.is_program_order() {
            let slots = scene.slots_in_view();
            if !slots.is_empty() {
                add(slots.start, slots.end - 1);
            }
            return;
        }
        let Some(band) = scene.dataset.index().bands.get(index) else { return };
        let Some(pixels) = Pixels::of(scene, index, band) else { return };
        let mut here = Codes::new(scene, pixels.width(), 1);
        pixels.mark_members(&mut here);
        let mut at = 0;
        for run in here.codes.chunk_by(|left, right| left == right) {
            if run.first().is_some_and(|code| *code != CellCode::NONE.0) {
                add(pixels.slot(at), pixels.slot(at + run.len() - 1));
            }
            at += run.len();
        }
    }
}
