//! How large a cell is drawn.

use crate::text::length;

/// Widths of a cell in pixels, smallest first. Below one, several ranks share a pixel.
const WIDTHS: [f64; 15] = [0.125, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 20.0, 24.0, 32.0, 40.0];

/// The step at which rows can still be read.
const READABLE: usize = 7;
/// Larger than this, a few ranks would fill the window.
const LARGEST: usize = 13;

/// A step of the zoom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Zoom(usize);

impl Default for Zoom {
    fn default() -> Self {
        Zoom(10)
    }
}

impl Zoom {
    /// The largest step at which the table `fits`, but none so small that rows cannot be read and none so large that a
    /// few ranks fill the window.
    pub(crate) fn fitting(fits: impl Fn(Zoom) -> bool) -> Zoom {
        (READABLE..=LARGEST).rev().map(Zoom).find(|zoom| fits(*zoom)).unwrap_or(Zoom(READABLE))
    }

    /// The largest step at which the table `fits`, else the smallest.
    pub(crate) fn showing_all(fits: impl Fn(Zoom) -> bool) -> Zoom {
        (0..=LARGEST).rev().map(Zoom).find(|zoom| fits(*zoom)).unwrap_or(Zoom(0))
    }

    pub(crate) fn closer(self) -> Zoom {
        Zoom((self.0 + 1).min(WIDTHS.len() - 1))
    }

    pub(crate) fn farther(self) -> Zoom {
        Zoom(self.0.saturating_sub(1))
    }

    /// Width of a cell in pixels, the gap included.
    pub(crate) fn cell_width(self) -> f64 {
        WIDTHS.get(self.0).copied().unwrap_or(1.0)
    }

    /// Height of a row in pixels, the gap included.
    pub(crate) fn row_height(self) -> f64 {
        let width = self.cell_width();
        match width {
            ..=4.0 => width * 2.0,
            6.0 => 14.0,
            8.0 => 16.0,
            _ => 18.0,
        }
    }

    /// How many columns share a pixel.
    pub(crate) fn columns_per_pixel(self) -> u32 {
        (1.0 / self.cell_width()).max(1.0) as u32
    }

    /// How many rows share a pixel.
    pub(crate) fn rows_per_pixel(self) -> u32 {
        (1.0 / self.row_height()).max(1.0) as u32
    }

    /// Whether a row is high enough for its name.
    pub(crate) fn names_fit(self) -> bool {
        self.row_height() >= 14.0
    }

    /// Whether cells are so small that they are drawn as the pixels of a picture, without gaps and marks.
    pub(crate) fn is_picture(self) -> bool {
        self.cell_width() <= 8.0
    }

    /// Whether there is not even a pixel for each cell.
    pub(crate) fn is_tiny(self) -> bool {
        self.cell_width() < 1.0
    }

    /// `16 px`, `⅛ px`.
    pub(crate) fn label(self) -> String {
        match self.0 {
            0 => "⅛ px".to_owned(),
            1 => "¼ px".to_owned(),
            2 => "½ px".to_owned(),
            _ => format!("{} px", length(self.cell_width())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_the_window_within_reason() {
        let fits = |columns: f64, width: f64| move |zoom: Zoom| zoom.cell_width() * columns <= width;
        let width = |columns, width| Zoom::fitting(fits(columns, width)).cell_width();
        assert_eq!(width(8.0, 700.0), 32.0);
        assert_eq!(width(64.0, 770.0), 12.0);
        assert_eq!(width(64.0, 768.0), 12.0);
        assert_eq!(width(64.0, 767.0), 8.0);
        assert_eq!(width(10_000.0, 700.0), 6.0);
        let width = |columns, width| Zoom::showing_all(fits(columns, width)).cell_width();
        assert_eq!([width(4.0, 700.0), width(300.0, 700.0), width(10_240.0, 1_280.0)], [32.0, 2.0, 0.125]);
        assert_eq!(width(1e9, 700.0), 0.125);
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
        assert_eq!((zoom.cell_width(), zoom), (0.125, zoom.farther()));
    }

    #[test]
    fn pixels_hold_whole_numbers_of_cells() {
        let mut zoom = Zoom(0);
        let mut found = Vec::new();
        while zoom.is_picture() {
            found.push((zoom.label(), zoom.columns_per_pixel(), zoom.rows_per_pixel()));
            zoom = zoom.closer();
        }
        let found: Vec<_> = found.iter().map(|(label, columns, rows)| (label.as_str(), *columns, *rows)).collect();
        assert_eq!(found[..5], [("⅛ px", 8, 4), ("¼ px", 4, 2), ("½ px", 2, 1), ("1 px", 1, 1), ("2 px", 1, 1)]);
    }
}
