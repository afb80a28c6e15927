//! The cells of a band as they are seen: one code for each slot or pixel across, the worst of all that share it.

use std::ops::Range;

use hangscope_analyzer_core::report::{Band, CellCode};

use crate::overview::RowCodes;
use crate::overview::severity::SEVERITY;
use crate::table::scene::Scene;

/// Lines of codes.
pub(crate) struct Codes {
    width: usize,
    pub(crate) codes: Vec<u8>,
    /// Of each code the kind by which it is coloured; empty if that is its state.
    pub(crate) kinds: Vec<u8>,
}

impl Codes {
    /// Lines with nothing in them.
    pub(crate) fn new(scene: &Scene<'_>, width: usize, lines: usize) -> Self {
        let kinds = if scene.layer.is_some() { vec![0; width * lines] } else { Vec::new() };
        Self { width, codes: vec![CellCode::NONE.0; width * lines], kinds }
    }

    /// Puts a code where it is, if it is worse than what is there.
    fn keep(&mut self, at: usize, code: u8, kind: u8) {
        let Some(kept) = self.codes.get_mut(at) else { return };
        let (new, old) = (SEVERITY[usize::from(code)], SEVERITY[usize::from(*kept)]);
        match self.kinds.get_mut(at) {
            None if new > old => *kept = code,
            Some(kept_kind) if (new, kind) > (old, *kept_kind) => (*kept, *kept_kind) = (code, kind),
            _ => {}
        }
    }

    /// The codes of a line that are not empty: where they are, code and kind.
    pub(crate) fn of_line(&self, line: usize) -> impl Iterator<Item = (usize, CellCode, u8)> {
        let start = line * self.width;
        let codes = self.codes.get(start..start + self.width).unwrap_or_default();
        codes
            .iter()
            .enumerate()
            .filter(|(_, code)| **code != CellCode::NONE.0)
            .map(move |(at, code)| (at, CellCode(*code), self.kinds.get(start + at).copied().unwrap_or_default()))
    }
}

/// The members of a band that are in view, and the pixel in which each is seen.
pub(crate) struct Pixels<'a> {
    scene: &'a Scene<'a>,
    band_index: usize,
    band: &'a Band,
    /// Position of the member in the band, and its pixel.
    members: Vec<(u32, u32)>,
    /// The first slot or pixel.
    first: u32,
    count: u32,
}

/// The slots in view, in whole pixels, or the first one would lack some of its ranks.
pub(crate) fn pixels_in_view(scene: &Scene<'_>) -> Range<u32> {
    let (together, slots) = (scene.zoom.columns_per_pixel(), scene.slots_in_view());
    slots.start / together..slots.end.div_ceil(together)
}

impl<'a> Pixels<'a> {
    /// Counted from the first member; `None` if no member is in view.
    pub(crate) fn of(scene: &'a Scene<'a>, band_index: usize, band: &'a Band) -> Option<Self> {
        let mut pixels = Self::of_view(scene, band_index, band);
        let first = pixels.members.iter().map(|(_, pixel)| *pixel).min()?;
        let last = pixels.members.iter().map(|(_, pixel)| *pixel).max()?;
        for (_, pixel) in &mut pixels.members {
            *pixel -= first;
        }
        pixels.first += first;
        pixels.count = last - first + 1;
        Some(pixels)
    }

    /// Counted from the first slot in view.
    pub(crate) fn of_view(scene: &'a Scene<'a>, band_index: usize, band: &'a Band) -> Self {
        let (together, in_view) = (scene.zoom.columns_per_pixel(), pixels_in_view(scene));
        let columns = &scene.layout.columns;
        let members: Vec<(u32, u32)> = if columns.is_plain {
            let position = |end: u32| band.columns.partition_point(|column| *column < end) as u32;
            let positions = position(in_view.start * together)..position(in_view.end * together);
            let of_band = band.columns.get(positions.start as usize..positions.end as usize).unwrap_or_default();
            positions.zip(of_band).map(|(position, column)| (position, column / together - in_view.start)).collect()
        } else {
            let of_band = (0..).zip(&band.columns).filter_map(|(position, column)| {
                let pixel = columns.slot_of(*column)? / together;
                in_view.contains(&pixel).then(|| (position, pixel - in_view.start))
            });
            of_band.collect()
        };
        Self { scene, band_index, band, members, first: in_view.start, count: in_view.end - in_view.start }
    }

    /// How many slots or pixels there are.
    pub(crate) fn width(&self) -> usize {
        self.count as usize
    }

    /// The slot of a pixel; the first of several.
    pub(crate) fn slot(&self, pixel: usize) -> u32 {
        (self.first + pixel as u32) * self.scene.zoom.columns_per_pixel()
    }

    /// Puts the worst codes of `rows`, which share a pixel, into a line. `run` is what is shown of the band around them.
    pub(crate) fn add_rows(&self, rows: Range<u32>, run: &Range<u32>, line: usize, target: &mut Codes) {
        let (dataset, first) = (self.scene.dataset, self.band.first_row);
        let end_of_band = first.saturating_add(self.band.row_count);
        let level = dataset.pyramid().level_for(f64::from(rows.end - rows.start)).filter(|level| {
            let step = level.step();
            // Only if the level's row holds these rows and no other that is shown.
            (rows.start - first).is_multiple_of(step) && (rows.end - rows.start == step || rows.end == end_of_band)
        });
        if let Some(level) = level {
            let offset = rows.start - first;
            if let Some(cells) = level.row(self.band_index, self.band, offset) {
                match self.scene.layer {
                    None => return self.add(cells, None, line, target),
                    Some(layer) => {
                        if let Some(kinds) = layer.rows(self.band, self.band_index, offset, level.step()) {
                            return self.add(cells, Some(RowCodes::All(kinds)), line, target);
                        }
                    }
                }
            }
        }
        for row in rows.start..rows.end.min(run.end) {
            self.add_row(row, line, target);
        }
    }

    /// The same with one row.
    pub(crate) fn add_row(&self, row: u32, line: usize, target: &mut Codes) {
        let dataset = self.scene.dataset;
        let kinds = self.scene.layer.map(|layer| layer.row(dataset.index(), self.band, row));
        self.add(dataset.row_cells(self.band, row), kinds, line, target);
    }

    fn add(&self, cells: RowCodes<'_>, kinds: Option<RowCodes<'_>>, line: usize, target: &mut Codes) {
        let start = line * target.width;
        let kind = |position| kinds.map_or(0, |kinds| kinds.get(position));
        if let RowCodes::All(cells) = cells {
            for (position, pixel) in &self.members {
                let position = *position as usize;
                if let Some(code) = cells.get(position) {
                    target.keep(start + *pixel as usize, *code, kind(position));
                }
            }
            return;
        }
        cells.for_each(&mut |position, code| {
            let member = self.members.binary_search_by_key(&position, |member| member.0 as usize).ok();
            if let Some((_, pixel)) = member.and_then(|at| self.members.get(at)) {
                target.keep(start + *pixel as usize, code, kind(position));
            }
        });
    }

    /// Marks the pixels that have a member.
    pub(crate) fn mark_members(&self, target: &mut Codes) {
        for (_, pixel) in &self.members {
            target.keep(*pixel as usize, CellCode::COMPLETED.0, 0);
        }
    }
}
