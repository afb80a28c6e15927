//! The cells from farther and farther away: each level has one row for several, in which every member keeps the worst of its cells.
//!
//! Only rows are put together here. Which ranks share a pixel depends on the order and the folds that the user chose, and putting these
//! together is quick once there are few rows. A row of messages has two cells, so that few of them are put together where they are seen, and
//! a row of a level holds those ranks that have a part in one of its messages.

use hangscope_analyzer_core::report::{Band, TableIndex};
use hangscope_analyzer_core::small_sort::SmallSort as _;

use super::RowCodes;
use super::row_codes::{pack, unpack};
use super::severity::{is_worse, keep_worse};

/// How many rows are one in each level, the finest first. Each is made from the one before.
const STEPS: [u32; 6] = [2, 4, 16, 64, 256, 1024];
/// The finest level that has messages.
const FINEST_OF_MESSAGES: u32 = 16;

/// All levels of all bands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pyramid {
    parts: Parts,
    levels: Vec<Level>,
}

/// The codes of all levels, as they go over to the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Of collectives, one level after the other.
    pub(crate) codes: Vec<u8>,
    /// Of messages, packed with their places.
    pub(crate) packed: Vec<u32>,
    /// Where each row of messages ends in `packed`.
    pub(crate) ends: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Level {
    step: u32,
    /// Where each band begins in the codes, or of messages in the ends.
    starts: Vec<usize>,
}

impl Pyramid {
    /// Makes all levels.
    pub(crate) fn new(index: &TableIndex, cells: &[u8]) -> Self {
        let bands = &index.bands;
        let levels = levels(bands);
        let mut parts = Parts::default();
        parts.codes.reserve_exact(size(bands));
        let mut finer: Option<&Level> = None;
        for level in &levels {
            for (at, band) in bands.iter().enumerate() {
                if band.p2p {
                    parts.add_messages(index, cells, at, level, finer);
                    continue;
                }
                let width = band.columns.len();
                match finer {
                    Some(finer) => {
                        let rows = parts.codes.get(finer.of_band(at, band)).unwrap_or_default().to_vec();
                        put_together(&rows, width, (level.step / finer.step) as usize, &mut parts.codes);
                    }
                    None => put_together(band_cells(cells, band), width, level.step as usize, &mut parts.codes),
                }
            }
            finer = Some(level);
        }
        Self { parts, levels }
    }

    /// What [`Pyramid::from_parts`] takes.
    pub(crate) fn into_parts(self) -> Parts {
        self.parts
    }

    /// What [`Pyramid::into_parts`] gave; nothing if it does not belong to the bands.
    pub(crate) fn from_parts(bands: &[Band], parts: Parts) -> Option<Self> {
        let rows: usize = STEPS.iter().flat_map(|step| bands.iter().map(|band| message_rows(band, *step))).sum();
        let end = parts.ends.last().map_or(0, |end| *end as usize);
        let fits = parts.codes.len() == size(bands) && parts.ends.len() == rows && parts.packed.len() == end;
        fits.then(|| Self { parts, levels: levels(bands) })
    }

    /// The coarsest level whose rows stand for at most `rows` each; `None` where that is the cells themselves.
    pub(crate) fn level_for(&self, rows: f64) -> Option<LevelView<'_>> {
        let level = self.levels.iter().rev().find(|level| f64::from(level.step) <= rows)?;
        Some(LevelView { level, parts: &self.parts })
    }
}

/// One level, for those who draw it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelView<'a> {
    level: &'a Level,
    parts: &'a Parts,
}

impl<'a> LevelView<'a> {
    /// How many rows of the table one of its rows stands for.
    pub(crate) fn step(self) -> u32 {
        self.level.step
    }

    /// The row of this level that holds row `offset` of a band, counted from the band's first; `None` for messages in a level that has none.
    pub(crate) fn row(self, index: usize, band: &Band, offset: u32) -> Option<RowCodes<'a>> {
        let row = (offset / self.level.step) as usize;
        if band.p2p {
            let is_there = row < message_rows(band, self.level.step);
            let at = self.level.starts.get(index).filter(|_| is_there)? + row;
            return Some(RowCodes::Some(self.parts.messages(at)));
        }
        let width = band.columns.len();
        let of_band = self.parts.codes.get(self.level.of_band(index, band)).unwrap_or_default();
        Some(RowCodes::All(of_band.get(row * width..(row + 1) * width).unwrap_or_default()))
    }
}

impl Parts {
    /// A row of messages.
    fn messages(&self, at: usize) -> &[u32] {
        let end = |at: Option<usize>| at.and_then(|at| self.ends.get(at)).map_or(0, |end| *end as usize);
        self.packed.get(end(at.checked_sub(1))..end(Some(at))).unwrap_or_default()
    }

    /// Appends a level's rows of a band of messages.
    fn add_messages(&mut self, index: &TableIndex, cells: &[u8], at: usize, level: &Level, finer: Option<&Level>) {
        let Some(band) = index.bands.get(at) else { return };
        let finer = finer.filter(|finer| finer.step >= FINEST_OF_MESSAGES);
        let step = finer.map_or(level.step, |finer| level.step / finer.step);
        let rows = finer.map_or(band.row_count, |finer| band.row_count.div_ceil(finer.step));
        let begin = finer.and_then(|finer| finer.starts.get(at)).copied().unwrap_or_default();
        let mut together: Vec<u32> = Vec::new();
        for row in 0..message_rows(band, level.step) as u32 {
            together.clear();
            for inner in row * step..rows.min((row + 1) * step) {
                match finer {
                    Some(_) => together.extend_from_slice(self.messages(begin + inner as usize)),
                    None => RowCodes::of_row(index, band, band.first_row + inner, cells)
                        .for_each(&mut |position, code| together.push(pack(position, code))),
                }
            }
            together.sort_small();
            together.dedup_by(|next, kept| {
                let ((position, code), (kept_position, kept_code)) = (unpack(*next), unpack(*kept));
                if position == kept_position && is_worse(code, kept_code) {
                    *kept = *next;
                }
                position == kept_position
            });
            self.packed.extend_from_slice(&together);
            self.ends.push(self.packed.len() as u32);
        }
    }
}

impl Level {
    /// Where a band's codes are.
    fn of_band(&self, index: usize, band: &Band) -> std::ops::Range<usize> {
        self.starts.get(index).map_or(0..0, |start| *start..*start + band_size(band, self.step))
    }
}

/// How many codes a level has for the collectives of a band.
fn band_size(band: &Band, step: u32) -> usize {
    if band.p2p { 0 } else { band.row_count.div_ceil(step) as usize * band.columns.len() }
}

/// How many rows a level has for the messages of a band.
fn message_rows(band: &Band, step: u32) -> usize {
    if band.p2p && step >= FINEST_OF_MESSAGES { band.row_count.div_ceil(step) as usize } else { 0 }
}

fn levels(bands: &[Band]) -> Vec<Level> {
    let (mut codes, mut rows) = (0, 0);
    let mut level = |step: u32| {
        let mut starts = Vec::with_capacity(bands.len());
        for band in bands {
            starts.push(if band.p2p { rows } else { codes });
            codes += band_size(band, step);
            rows += message_rows(band, step);
        }
        Level { step, starts }
    };
    STEPS.iter().map(|step| level(*step)).collect()
}

/// Size of all levels of collectives.
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
            let index = TableIndex { bands: vec![band.clone()], ..example::index() };
            let bands = &index.bands;
            let pyramid = Pyramid::new(&index, &cells);
            for (rows, step) in [(2.0, 2), (3.9, 2), (4.0, 4), (100.0, 64), (1e9, 1024)] {
                let level = pyramid.level_for(rows).unwrap();
                assert_eq!(level.step(), step);
                let row = level.row(0, &bands[0], bad as u32).unwrap();
                assert_eq!((0..7).find(|position| row.get(*position) == code), Some(3), "{rows} {bad}");
                let of_level = &pyramid.parts.codes[level.level.of_band(0, &bands[0])];
                assert_eq!(of_level.iter().filter(|found| **found == code).count(), 1);
            }
            assert!(pyramid.level_for(1.9).is_none());
            assert_eq!(Pyramid::from_parts(bands, pyramid.clone().into_parts()), Some(pyramid));
        }
    }

    #[test]
    fn every_band_has_its_own_rows() {
        let dataset = example::dataset();
        let bands = &dataset.index().bands;
        let pyramid = Pyramid::new(dataset.index(), dataset.cells());
        let level = pyramid.level_for(4.0).unwrap();
        let row = |index: usize, offset: u32| level.row(index, &bands[index.min(1)], offset).unwrap();
        assert_eq!(row(0, 9).get(1), CellCode::MISSING.with(CellCode::ORIGIN).0);
        assert_eq!(row(0, 0), RowCodes::All(&[CellCode::COMPLETED.0; 4]));
        assert_eq!(row(1, 2).get(7), CellCode::MISSING.0);
        assert_eq!(row(2, 2), RowCodes::All(&[]), "no such band");
        let parts = pyramid.clone().into_parts();
        let cut = Parts { codes: parts.codes[1..].to_vec(), ..parts.clone() };
        assert_eq!(Pyramid::from_parts(bands, cut), None);
        assert_eq!(Pyramid::from_parts(&bands[..1], parts), None);
    }

    #[test]
    fn one_bad_end_of_a_message_is_in_every_level() {
        const RANKS: u32 = 60;
        let messages = example::messages(RANKS);
        let (bands, rows) = (&messages.index.bands, messages.index.rows.len());
        let pyramid = Pyramid::new(&messages.index, &messages.cells);
        let bad = CellCode::MISSING.with(CellCode::ORIGIN).0;
        for step in [16, 64, 256, 1024] {
            let level = pyramid.level_for(f64::from(step)).unwrap();
            let (mut found, mut cells) = (Vec::new(), 0);
            for row in 0..(rows as u32).div_ceil(step) {
                let codes = level.row(0, &bands[0], row * step).unwrap();
                codes.for_each(&mut |position, code| {
                    cells += 1;
                    found.extend((code == bad).then_some((row, position)));
                });
            }
            let (row, rank) = example::BAD_END;
            assert_eq!(found, [(row / step, rank as usize)], "{step}");
            // Each rank once at most.
            assert!(cells <= rows.div_ceil(step as usize) * RANKS as usize && cells > 0);
        }
        assert!(
            pyramid.level_for(4.0).unwrap().row(0, &bands[0], 0).is_none(),
            "these are put together where they are seen"
        );
        let parts = pyramid.clone().into_parts();
        assert_eq!(Pyramid::from_parts(bands, parts.clone()), Some(pyramid));
        let cut = Parts { packed: parts.packed[1..].to_vec(), ..parts };
        assert_eq!(Pyramid::from_parts(bands, cut), None);
    }
}
