//! How large a cell is drawn.

/// Widths of a cell in pixels, smallest first.
const WIDTHS: [u32; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40];

/// A step of the zoom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Zoom(usize);

impl Default for Zoom {
    fn default() -> Self {
        Zoom(7)
    }
}

impl Zoom {
    /// The largest step at which `columns` fit into `width` pixels, but none so small that rows cannot be read and none
    /// so large that a few ranks fill the window.
    pub(crate) fn fitting(columns: u32, width: f64) -> Zoom {
        const READABLE: usize = 4;
        const LARGEST: usize = 10;
        let fits = |step: &usize| f64::from(WIDTHS[*step]) * f64::from(columns) <= width;
        Zoom((READABLE..=LARGEST).rev().find(fits).unwrap_or(READABLE))
    }

    /// The largest step at which all `columns` fit into `width` pixels, else the smallest.
    pub(crate) fn showing_all(columns: u32, width: f64) -> Zoom {
        const LARGEST: usize = 10;
        let fits = |step: &usize| f64::from(WIDTHS[*step]) * f64::from(columns) <= width;
        Zoom((0..=LARGEST).rev().find(fits).unwrap_or(0))
    }

    pub(crate) fn closer(self) -> Zoom {
        Zoom((self.0 + 1).min(WIDTHS.len() - 1))
    }

    pub(crate) fn farther(self) -> Zoom {
        Zoom(self.0.saturating_sub(1))
    }

    /// Width of a cell in pixels, the gap included.
    pub(crate) fn cell_width(self) -> f64 {
        f64::from(WIDTHS[self.0])
    }

    /// Height of a row in pixels, the gap included.
    pub(crate) fn row_height(self) -> u32 {
        match WIDTHS[self.0] {
            1 => 2,
            2 => 4,
            3 => 6,
            4 => 8,
            6 => 14,
            8 => 16,
            _ => 18,
        }
    }

    /// Whether a row is high enough for its name.
    pub(crate) fn names_fit(self) -> bool {
        self.row_height() >= 14
    }

    /// Whether cells are so small that they are drawn as the pixels of a picture, without gaps and marks.
    pub(crate) fn is_picture(self) -> bool {
        WIDTHS[self.0] <= 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_the_window_within_reason() {
        let width = |columns, width| Zoom::fitting(columns, width).cell_width();
        assert_eq!(width(8, 700.0), 32.0);
        assert_eq!(width(64, 770.0), 12.0);
        assert_eq!(width(64, 768.0), 12.0);
        assert_eq!(width(64, 767.0), 8.0);
        assert_eq!(width(10_000, 700.0), 6.0);
        let width = |columns, width| Zoom::showing_all(columns, width).cell_width();
        assert_eq!([width(4, 700.0), width(300, 700.0), width(10_000, 700.0)], [32.0, 2.0, 1.0]);
    }

    #[test]
    fn steps_end_where_they_end() {
        let mut zoom = Zoom::default();
        for _ in 0..WIDTHS.len() {
            zoom = zoom.closer();
        }
        assert_eq!(zoom, zoom.closer());
        for _ in 0..WIDTHS.len() {
            zoom = zoom.farther();
        }
        assert_eq!((zoom.cell_width(), zoom), (1.0, zoom.farther()));
    }
}
