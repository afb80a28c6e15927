//! One step of drawing, as a plain value.

use crate::table::scene::Rect;

/// A colour, by the name of its custom property in the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Paint {
    Surface,
    Sunken,
    Line,
    Text,
    Muted,
    Focus,
    Completed,
    Started,
    Scheduled,
    Missing,
    Mismatch,
    Unknown,
    NoDump,
    Ok,
    Blocked,
    Victim,
    Suspect,
}

impl Paint {
    pub(crate) const ALL: [Paint; 17] = [
        Paint::Surface,
        Paint::Sunken,
        Paint::Line,
        Paint::Text,
        Paint::Muted,
        Paint::Focus,
        Paint::Completed,
        Paint::Started,
        Paint::Scheduled,
        Paint::Missing,
        Paint::Mismatch,
        Paint::Unknown,
        Paint::NoDump,
        Paint::Ok,
        Paint::Blocked,
        Paint::Victim,
        Paint::Suspect,
    ];

    /// The custom property.
    pub(crate) fn token(self) -> &'static str {
        match self {
            Paint::Surface => "--surface",
            Paint::Sunken => "--sunken",
            Paint::Line => "--line",
            Paint::Text => "--text",
            Paint::Muted => "--muted",
            Paint::Focus => "--focus",
            Paint::Completed => "--completed",
            Paint::Started => "--started",
            Paint::Scheduled => "--scheduled",
            Paint::Missing => "--missing",
            Paint::Mismatch => "--mismatch",
            Paint::Unknown => "--unknown",
            Paint::NoDump => "--nodump",
            Paint::Ok => "--ok",
            Paint::Blocked => "--blocked",
            Paint::Victim => "--victim",
            Paint::Suspect => "--suspect",
        }
    }
}

/// A typeface and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Mono,
    MonoSmall,
    Sans,
    SansBold,
}

/// Which end of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// A part of a line of text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) face: Face,
    pub(crate) paint: Paint,
}

/// A mark in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// ◆: differs.
    Diamond,
    /// ◇: differs as well, in a tie.
    HollowDiamond,
    /// ×: missing.
    Cross,
}

/// One step of drawing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DrawCommand {
    Fill {
        paint: Paint,
        rects: Vec<Rect>,
    },
    /// Cells that follow from the origin: thin lines on the ground of unknown cells.
    Hatch {
        rects: Vec<Rect>,
    },
    /// Small cells: one pixel of a picture each, scaled. `codes` holds rows of `columns` codes.
    Picture {
        rect: Rect,
        columns: usize,
        codes: Vec<u8>,
    },
    Mark {
        x: f64,
        y: f64,
        size: f64,
        mark: Mark,
        paint: Paint,
    },
    Outline {
        rect: Rect,
        paint: Paint,
        line: f64,
    },
    /// Parts one after the other from `x`, cut with `…` where `width` ends; `y` is the middle of the line.
    Text {
        x: f64,
        y: f64,
        width: f64,
        align: Align,
        spans: Vec<Span>,
    },
    /// Until [`DrawCommand::Unclip`], nothing is drawn outside.
    Clip(Rect),
    Unclip,
}
