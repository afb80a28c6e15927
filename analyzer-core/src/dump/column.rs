//! Integers in as few bytes as they need.

use alloc::vec::Vec;

/// Numbers of one field: a line (`base + step * place`), and for each number how far it lies above the line, in as many bytes as the
/// farthest of them needs.
///
/// What counts up, as record ids do, and what is the same everywhere takes no bytes behind it; times take three to five of their eight. All
/// arithmetic wraps around, so that every number comes back as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Column {
    base: i64,
    step: i64,
    /// Bytes a number, 0 to 8.
    width: u8,
    /// The distances, least byte first, and [`PADDING`] more bytes, so that eight can be read at any place.
    bytes: Vec<u8>,
}

const PADDING: usize = 8;

impl Column {
    /// Packs numbers.
    pub(crate) fn of(values: &[i64]) -> Column {
        let flat = Fit::of(values, 0);
        let slope = match values {
            [first, .., last] => last.checked_sub(*first).map_or(0, |rise| rise / (values.len() as i64 - 1)),
            _ => 0,
        };
        let steep = if slope == 0 || flat.width() == 0 { flat } else { Fit::of(values, slope) };
        let fit = if steep.width() < flat.width() { steep } else { flat };
        let width = fit.width();
        if width == 0 {
            return Column { base: fit.least, step: fit.step, width: 0, bytes: Vec::new() };
        }
        let mut bytes = alloc::vec![0; values.len() * width + PADDING];
        let (mut place, mut line) = (0, fit.least);
        for &value in values {
            // All eight of its bytes: those above its width are 0, and the next number's lie over them.
            if let Some(word) = bytes.get_mut(place..).and_then(|rest| rest.first_chunk_mut::<8>()) {
                *word = value.wrapping_sub(line).to_le_bytes();
            }
            place += width;
            line = line.wrapping_add(fit.step);
        }
        Column { base: fit.least, step: fit.step, width: width as u8, bytes }
    }

    /// The number at a place; something else for a place outside.
    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> i64 {
        let line = self.base.wrapping_add(self.step.wrapping_mul(at as i64));
        if self.width == 0 {
            return line;
        }
        let width = usize::from(self.width);
        let start = at * width;
        let word = match self.bytes.get(start..start + 8).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()) {
            Some(word) => u64::from_le_bytes(word),
            None => 0,
        };
        line.wrapping_add((word & (u64::MAX >> (64 - 8 * width))) as i64)
    }

    /// The line and the width, and the distances byte by byte: the least bytes of all numbers, then the next ones. Bytes of the same
    /// weight are more alike than those of one number, so that they compress better.
    pub(crate) fn planes(&self, len: usize) -> (i64, i64, u8, Vec<u8>) {
        let width = usize::from(self.width);
        let mut planes = Vec::with_capacity(len * width);
        for plane in 0..width {
            planes.extend(self.bytes.iter().skip(plane).step_by(width).take(len));
        }
        (self.base, self.step, self.width, planes)
    }

    /// The column that was taken apart so; `None` if it does not hold `len` numbers.
    #[inline(never)]
    pub(crate) fn from_planes(base: i64, step: i64, width: u8, planes: &[u8], len: usize) -> Option<Column> {
        let bytes_a_number = usize::from(width);
        if bytes_a_number > 8 || len.checked_mul(bytes_a_number) != Some(planes.len()) {
            return None;
        }
        if width == 0 || len == 0 {
            return Some(Column { base, step, width: 0, bytes: Vec::new() });
        }
        let mut bytes = alloc::vec![0; planes.len() + PADDING];
        for (plane, of_weight) in planes.chunks_exact(len).enumerate() {
            let mut at = plane;
            for &byte in of_weight {
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
                at += bytes_a_number;
            }
        }
        Some(Column { base, step, width, bytes })
    }
}

/// How numbers lie above a line of a step.
#[derive(Clone, Copy)]
struct Fit {
    step: i64,
    least: i64,
    range: u64,
}

impl Fit {
    fn of(values: &[i64], step: i64) -> Fit {
        let Some(&first) = values.first() else { return Fit { step, least: 0, range: 0 } };
        let (mut least, mut most, mut line) = (first, first, 0i64);
        for &value in values {
            let above = value.wrapping_sub(line);
            least = least.min(above);
            most = most.max(above);
            line = line.wrapping_add(step);
        }
        Fit { step, least, range: most.wrapping_sub(least) as u64 }
    }

    /// Bytes that hold every distance.
    fn width(&self) -> usize {
        (64 - self.range.leading_zeros() as usize).div_ceil(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(values: &[i64]) -> Column {
        let column = Column::of(values);
        let (base, step, width, planes) = column.planes(values.len());
        assert_eq!(Column::from_planes(base, step, width, &planes, values.len()), Some(column.clone()));
        assert_eq!(Column::from_planes(base, step, 1, &planes, values.len() * usize::from(width) + 1), None);
        for (at, &value) in values.iter().enumerate() {
            assert_eq!(column.get(at), value, "place {at} of {values:?}");
        }
        column
    }

    #[test]
    fn what_counts_or_stays_takes_no_bytes() {
        assert_eq!(packed(&[]).bytes.len(), 0);
        assert_eq!(packed(&[7; 100]).bytes.len(), 0);
        assert_eq!(packed(&(0..100).map(|id| 48_000 + id).collect::<Vec<_>>()).bytes.len(), 0);
    }

    #[test]
    fn times_near_a_line_take_few() {
        let times: Vec<i64> =
            (0..100).map(|at| 1_795_977_000_000_000_000 + at * 2_000_000 + at * 7919 % 60_000).collect();
        assert_eq!(packed(&times).width, 2);
    }

    #[test]
    fn every_number_comes_back() {
        packed(&[i64::MIN, i64::MAX, 0, -1]);
        packed(&[i64::MAX, i64::MIN]);
        packed(&[0, 255]);
        packed(&[0, 256, 1, 65_536]);
        packed(&[5]);
        let mut x = 1u64;
        for len in 1..40 {
            let values: Vec<i64> = (0..len)
                .map(|at| {
                    x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (x as i64) >> (at % 60)
                })
                .collect();
            packed(&values);
        }
    }
}
