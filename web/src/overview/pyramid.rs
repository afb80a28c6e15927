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
    /// The codes of all levels, one after the other.
    codes: Vec<u8>,
    levels: Vec<Level>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Level {
    step: u32,
    /// Where each band begins in the codes.
    starts: Vec<usize>,
}

impl Pyramid {
    /// Makes all levels.
    pub(crate) fn new(bands: &[Band], cells: &[u8]) -> Self {
        let levels = levels(bands);
        let mut codes: Vec<u8> = Vec::with_capacity(size(bands));
        let mut finer: Option<&Level> = None;
        for level in &levels {
            for (index, band) in bands.iter().enumerate() {
                let width = band.columns.len();
                match finer {
                    Some(finer) => {
                        let rows = codes.get(finer.of_band(index, band)).unwrap_or_default().to_vec();
                        put_together(&rows, width, (level.step / finer.step) as usize, &mut codes);
                    }
                    None => put_together(band_cells(cells, band), width, level.step as usize, &mut codes),
                }
            }
            finer = Some(level);
        }
        Self { codes, levels }
    }

    /// All levels as one block of bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.codes
    }

    /// What [`Pyramid::into_bytes`] gave; nothing if the bytes do not belong to the bands.
    pub(crate) fn from_bytes(bands: &[Band], codes: Vec<u8>) -> Option<Self> {
        (codes.len() == size(bands)).then(|| Self { codes, levels: levels(bands) })
    }

    /// The coarsest level whose rows stand for at most `rows` each; `None` where that is the cells themselves.
    pub(crate) fn level_for(&self, rows: f64) -> Option<LevelView<'_>> {
        let level = self.levels.iter().rev().find(|level| f64::from(level.step) <= rows)?;
        Some(LevelView { level, codes: &self.codes })
    }
}

/// One level, for those who draw it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelView<'a> {
    level: &'a Level,
    codes: &'a [u8],
}

impl<'a> LevelView<'a> {
    /// How many rows of the table one of its rows stands for.
    pub(crate) fn step(self) -> u32 {
        self.level.step
    }

    /// The row of this level that holds row `offset` of a band, counted from the band's first.
    pub(crate) fn row(self, index: usize, band: &Band, offset: u32) -> &'a [u8] {
        let width = band.columns.len();
        let at = (offset / self.level.step) as usize * width;
        let of_band = self.codes.get(self.level.of_band(index, band)).unwrap_or_default();
        of_band.get(at..at + width).unwrap_or_default()
    }
}

impl Level {
    /// Where a band's codes are.
    fn of_band(&self, index: usize, band: &Band) -> std::ops::Range<usize> {
        self.starts.get(index).map_or(0..0, |start| *start..*start + band_size(band, self.step))
    }
}

fn band_size(band: &Band, step: u32) -> usize {
    band.row_count.div_ceil(step) as usize * band.columns.len()
}

fn levels(bands: &[Band]) -> Vec<Level> {
    let mut end = 0;
    let mut level = |step: u32| {
        let mut starts = Vec::with_capacity(bands.len());
        for band in bands {
            starts.push(end);
            end += band_size(band, step);
        }
        Level { step, starts }
    };
    STEPS.iter().map(|step| level(*step)).collect()
}

/// Size of all levels.
fn size(bands: &[Band]) -> usize {
    STEPS.iter().flat_map(|step| bands.iter().map(|band| band_size(band, *step))).sum()
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
                let of_level = &pyramid.codes[level.level.of_band(0, &bands[0])];
                assert_eq!(of_level.iter().filter(|found| **found == code).count(), 1);
            }
            assert!(pyramid.level_for(1.9).is_none());
            assert_eq!(Pyramid::from_bytes(&bands, pyramid.clone().into_bytes()), Some(pyramid));
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
        let bytes = pyramid.clone().into_bytes();
        assert_eq!(Pyramid::from_bytes(bands, bytes[1..].to_vec()), None);
        assert_eq!(Pyramid::from_bytes(&bands[..1], bytes), None);
    }
}
