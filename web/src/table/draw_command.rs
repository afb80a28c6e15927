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
    // Kinds of cells, where they are not coloured by their state: four hues in three strengths, and the rest.
    Hue1,
    Hue2,
    Hue3,
    Hue4,
    Hue5,
    Hue6,
    Hue7,
    Hue8,
    Hue9,
    Hue10,
    Hue11,
    Hue12,
}

impl Paint {
    pub(crate) const ALL: [Paint; 29] = [
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
        Paint::Hue1,
        Paint::Hue2,
        Paint::Hue3,
        Paint::Hue4,
        Paint::Hue5,
        Paint::Hue6,
        Paint::Hue7,
        Paint::Hue8,
        Paint::Hue9,
        Paint::Hue10,
        Paint::Hue11,
        Paint::Hue12,
    ];

    /// The colour of a kind of cells, from 1; `None` for 0.
    pub(crate) fn hue(kind: u8) -> Option<Paint> {
        const FIRST: usize = Paint::Hue1 as usize;
        let hues = Paint::ALL.get(FIRST..)?;
        let place = usize::from(kind).checked_sub(1)?;
        hues.get(place).or(hues.last()).copied()
    }

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
            Paint::Hue1 => "--hue1",
            Paint::Hue2 => "--hue2",
            Paint::Hue3 => "--hue3",
            Paint::Hue4 => "--hue4",
            Paint::Hue5 => "--hue5",
            Paint::Hue6 => "--hue6",
            Paint::Hue7 => "--hue7",
            Paint::Hue8 => "--hue8",
            Paint::Hue9 => "--hue9",
            Paint::Hue10 => "--hue10",
            Paint::Hue11 => "--hue11",
            Paint::Hue12 => "--hue12",
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
    /// Small cells: one pixel of a picture each, scaled. `codes` holds rows of `columns` codes, `kinds` as many kinds of cells or
    /// nothing.
    Picture {
        rect: Rect,
        columns: usize,
        codes: Vec<u8>,
        kinds: Vec<u8>,
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
