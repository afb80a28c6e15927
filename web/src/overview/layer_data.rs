//! A colour for each cell by something else than its state, and the same from afar.

use hangscope_analyzer_core::report::{Band, ColourBy, Layer, LegendItem, TableIndex};

use super::RowCodes;
use super::severity::SEVERITY;

/// How many rows are one in each level: as many as share a pixel where the table is smallest.
const STEPS: [u32; 2] = [2, 4];

/// Codes of all cells, and what they mean.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayerData {
    pub(crate) by: ColourBy,
    pub(crate) legend: Vec<LegendItem>,
    codes: Vec<u8>,
    levels: Vec<Vec<u8>>,
    /// Where each band begins in each level.
    starts: Vec<Vec<usize>>,
}

impl LayerData {
    /// `cells` are the codes by state: where several cells become one, it has the colour of the worst.
    pub(crate) fn new(by: ColourBy, layer: Layer, bands: &[Band], cells: &[u8]) -> Self {
        let Layer { codes, legend } = layer;
        let levels = STEPS.map(|step| level(bands, cells, &codes, step as usize));
        Self { by, legend, codes, levels: levels.into(), starts: starts(bands) }
    }

    /// As blocks of bytes: all codes, then the levels. The legend goes over beside them.
    pub(crate) fn into_blocks(self) -> (Vec<LegendItem>, Vec<Vec<u8>>) {
        let mut blocks = vec![self.codes];
        blocks.extend(self.levels);
        (self.legend, blocks)
    }

    /// What [`LayerData::into_blocks`] gave.
    pub(crate) fn from_blocks(
        by: ColourBy,
        legend: Vec<LegendItem>,
        bands: &[Band],
        mut blocks: Vec<Vec<u8>>,
    ) -> Option<Self> {
        let levels = blocks.split_off(1.min(blocks.len()));
        Some(Self { by, legend, codes: blocks.pop()?, levels, starts: starts(bands) })
    }

    /// The codes of a row.
    pub(crate) fn row(&self, index: &TableIndex, band: &Band, row: u32) -> RowCodes<'_> {
        RowCodes::of_row(index, band, row, &self.codes)
    }

    /// The codes of several rows together; `None` if there are none for so many, and of messages, which have two cells each and are as well
    /// put together where they are seen.
    pub(crate) fn rows(&self, band: &Band, index: usize, offset: u32, step: u32) -> Option<&[u8]> {
        let level = STEPS.iter().position(|known| *known == step).filter(|_| !band.p2p)?;
        let width = band.columns.len();
        let start = self.starts.get(level)?.get(index)? + (offset / step) as usize * width;
        self.levels.get(level)?.get(start..start + width)
    }

    /// What a code means.
    pub(crate) fn label(&self, code: u8) -> Option<&str> {
        self.legend.iter().find(|item| item.code == code).map(|item| item.label.as_str())
    }
}

fn size(band: &Band, step: usize) -> usize {
    if band.p2p {
        return 0;
    }
    (band.row_count as usize).div_ceil(step) * band.columns.len()
}

fn starts(bands: &[Band]) -> Vec<Vec<usize>> {
    let of_step = |step: &u32| {
        let sizes = bands.iter().map(|band| size(band, *step as usize));
        sizes.scan(0, |end, size| Some(std::mem::replace(end, *end + size))).collect()
    };
    STEPS.iter().map(of_step).collect()
}

fn level(bands: &[Band], cells: &[u8], codes: &[u8], step: usize) -> Vec<u8> {
    let mut level = Vec::with_capacity(bands.iter().map(|band| size(band, step)).sum());
    for band in bands.iter().filter(|band| !band.p2p) {
        let width = band.columns.len();
        let start = usize::try_from(band.cells_at).unwrap_or(usize::MAX);
        let end = start.saturating_add(width * band.row_count as usize);
        let (cells, codes) = (cells.get(start..end).unwrap_or_default(), codes.get(start..end).unwrap_or_default());
        for (cells, codes) in cells.chunks(width.max(1) * step).zip(codes.chunks(width.max(1) * step)) {
            for position in 0..width {
                let column = cells.iter().skip(position).step_by(width).zip(codes.iter().skip(position).step_by(width));
                let worst = column.max_by_key(|(cell, code)| (SEVERITY[usize::from(**cell)], **code));
                level.push(worst.map_or(0, |(_, code)| *code));
            }
        }
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn the_worst_cell_gives_the_colour() {
        let (index, cells) = (example::index(), example::cells());
        let codes: Vec<u8> = (0..cells.len()).map(|at| (at % 7) as u8).collect();
        let legend = vec![LegendItem { code: 3, label: "all_reduce".to_owned(), cells: 9 }];
        let layer = Layer { codes: codes.clone(), legend };
        let data = LayerData::new(ColourBy::Signature, layer, &index.bands, &cells);
        let origin = 9 * 4 + 1;
        assert_eq!(data.row(&index, &index.bands[0], 9).get(1), codes[origin]);
        for step in STEPS {
            let rows = data.rows(&index.bands[0], 0, 8, step).unwrap();
            assert_eq!(rows[1], codes[origin], "{step} rows");
        }
        let last = data.rows(&index.bands[1], 1, 2, 2).unwrap();
        assert_eq!(last, &codes[40 + 16..40 + 24]);
        assert_eq!(data.rows(&index.bands[1], 1, 2, 16), None);
        assert_eq!((data.label(3), data.label(4)), (Some("all_reduce"), None));
        let (legend, blocks) = data.clone().into_blocks();
        assert_eq!(LayerData::from_blocks(ColourBy::Signature, legend, &index.bands, blocks), Some(data));
        assert_eq!(LayerData::from_blocks(ColourBy::CallSite, Vec::new(), &index.bands, Vec::new()), None);
    }
}
