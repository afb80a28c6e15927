//! The cells from farther and farther away: each level has one row for several, in which every member keeps the worst of its cells.
//!
//! Only rows are put together here. Which ranks share a pixel depends on the order and the folds that the user chose, and putting these
//! together is quick once there are few rows.

use hangscope_analyzer_core::report::Band;

use super::severity::keep_worse;

/// How many rows are one in each level, the finest first. Each is made from the one before.
const STEPS: [u32; 6] = [2, 4, 16, 64, 256, 1024];

/// All levels of all bands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pyramid {
    levels: Vec<Level>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Level {
    step: u32,
    codes: Vec<u8>,
    /// Where each band begins in `codes`.
    starts: Vec<usize>,
}

impl Pyramid {
    /// Makes all levels.
    pub(crate) fn new(bands: &[Band], cells: &[u8]) -> Self {
        let mut levels: Vec<Level> = Vec::new();
        for step in STEPS {
            let mut codes = Vec::with_capacity(level_size(bands, step));
            for (index, band) in bands.iter().enumerate() {
                let (finer, factor) = match levels.last() {
                    Some(finer) => (finer.band(index, band), step / finer.step),
                    None => (band_cells(cells, band), step),
                };
                put_together(finer, band.columns.len(), factor as usize, &mut codes);
            }
            levels.push(Level { step, codes, starts: starts(bands, step) });
        }
        Self { levels }
    }

    /// All levels as one block of bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.levels.iter().flat_map(|level| level.codes.iter().copied()).collect()
    }

    /// What [`Pyramid::to_bytes`] gave; nothing if the bytes do not belong to the bands.
    pub(crate) fn from_bytes(bands: &[Band], mut bytes: &[u8]) -> Option<Self> {
        let mut levels = Vec::new();
        for step in STEPS {
            let (codes, rest) = bytes.split_at_checked(level_size(bands, step))?;
            levels.push(Level { step, codes: codes.to_vec(), starts: starts(bands, step) });
            bytes = rest;
        }
        bytes.is_empty().then_some(Self { levels })
    }

    /// The coarsest level whose rows stand for at most `rows` each; `None` where that is the cells themselves.
    pub(crate) fn level_for(&self, rows: f64) -> Option<LevelView<'_>> {
        self.levels.iter().rev().find(|level| f64::from(level.step) <= rows).map(LevelView)
    }
}

/// One level, for those who draw it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelView<'a>(&'a Level);

impl<'a> LevelView<'a> {
    /// How many rows of the table one of its rows stands for.
    pub(crate) fn step(self) -> u32 {
        self.0.step
    }

    /// The row of this level that holds row `offset` of a band, counted from the band's first.
    pub(crate) fn row(self, index: usize, band: &Band, offset: u32) -> &'a [u8] {
        let width = band.columns.len();
        let at = (offset / self.0.step) as usize * width;
        self.0.band(index, band).get(at..at + width).unwrap_or_default()
    }
}

impl Level {
    fn band(&self, index: usize, band: &Band) -> &[u8] {
        let size = band_size(band, self.step);
        self.starts.get(index).and_then(|start| self.codes.get(*start..start + size)).unwrap_or_default()
    }
}

fn band_size(band: &Band, step: u32) -> usize {
    band.row_count.div_ceil(step) as usize * band.columns.len()
}

fn level_size(bands: &[Band], step: u32) -> usize {
    bands.iter().map(|band| band_size(band, step)).sum()
}

fn starts(bands: &[Band], step: u32) -> Vec<usize> {
    let sizes = bands.iter().map(|band| band_size(band, step));
    sizes.scan(0, |end, size| Some(std::mem::replace(end, *end + size))).collect()
}

fn band_cells<'a>(cells: &'a [u8], band: &Band) -> &'a [u8] {
    let size = band.row_count as usize * band.columns.len();
    usize::try_from(band.cells_at).ok().and_then(|start| cells.get(start..start + size)).unwrap_or_default()
}

/// Appends to `target` one row for every `factor` rows of `width` codes.
fn put_together(finer: &[u8], width: usize, factor: usize, target: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    for rows in finer.chunks(width * factor) {
        let (first, others) = rows.split_at(width.min(rows.len()));
        let start = target.len();
        target.extend_from_slice(first);
        let Some(kept) = target.get_mut(start..) else { continue };
        for row in others.chunks(width) {
            for (kept, code) in kept.iter_mut().zip(row) {
                keep_worse(kept, *code);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hangscope_analyzer_core::report::CellCode;

    use super::*;
    use crate::example;

    #[test]
    fn one_bad_cell_is_in_every_level() {
        let (rows, width) = (5_000_u32, 7_usize);
        let band = Band { columns: (0..7).collect(), row_count: rows, ..example::dataset().index().bands[0].clone() };
        for bad in [0, 1, 2_499, 4_999] {
            let mut cells = vec![CellCode::COMPLETED.0; rows as usize * width];
            let code = CellCode::STARTED.with(CellCode::DIFFERS).0;
            cells[bad * width + 3] = code;
            let bands = [band.clone()];
            let pyramid = Pyramid::new(&bands, &cells);
            for (rows, step) in [(2.0, 2), (3.9, 2), (4.0, 4), (100.0, 64), (1e9, 1024)] {
                let level = pyramid.level_for(rows).unwrap();
                assert_eq!(level.step(), step);
                let row = level.row(0, &bands[0], bad as u32);
                assert_eq!(row.iter().position(|found| *found == code), Some(3), "{rows} {bad}");
                let bad_cells = pyramid.levels.iter().find(|level| level.step == step).unwrap();
                assert_eq!(bad_cells.codes.iter().filter(|found| **found == code).count(), 1);
            }
            assert!(pyramid.level_for(1.9).is_none());
            assert_eq!(Pyramid::from_bytes(&bands, &pyramid.to_bytes()), Some(pyramid));
        }
    }

    #[test]
    fn every_band_has_its_own_rows() {
        let dataset = example::dataset();
        let bands = &dataset.index().bands;
        let pyramid = Pyramid::new(bands, dataset.cells());
        let level = pyramid.level_for(4.0).unwrap();
        assert_eq!(level.row(0, &bands[0], 9)[1], CellCode::MISSING.with(CellCode::ORIGIN).0);
        assert_eq!(level.row(0, &bands[0], 0), [CellCode::COMPLETED.0; 4]);
        assert_eq!(level.row(1, &bands[1], 2)[7], CellCode::MISSING.0);
        assert_eq!(level.row(2, &bands[1], 2), [0_u8; 0], "no such band");
        let bytes = pyramid.to_bytes();
        assert_eq!(Pyramid::from_bytes(bands, &bytes[1..]), None);
        assert_eq!(Pyramid::from_bytes(&bands[..1], &bytes), None);
    }
}
