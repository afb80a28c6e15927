//! Cells, sorted by what they are painted with: one command for all of a colour.

use hangscope_analyzer_core::report::CellCode;

use crate::dataset::OTHER_SIDE;
use crate::table::draw_command::{DrawCommand, Mark, Paint};
use crate::table::scene::Rect;

/// Rectangles by what they are painted with.
#[derive(Default)]
pub(crate) struct CellBatch {
    fills: Vec<(Paint, Vec<Rect>)>,
    hatched: Vec<Rect>,
    outlined: Vec<(Rect, Paint)>,
    marks: Vec<(Mark, Rect, Paint)>,
}

impl CellBatch {
    pub(crate) fn add(&mut self, paint: Paint, rect: Rect) {
        match self.fills.iter_mut().find(|(known, _)| *known == paint) {
            Some((_, rects)) => rects.push(rect),
            None => self.fills.push((paint, vec![rect])),
        }
    }

    /// A cell in the colour of its state, or of its kind if it has one.
    pub(crate) fn add_cell(&mut self, code: CellCode, kind: u8, rect: Rect) {
        if let Some(paint) = Paint::hue(kind) {
            return self.add_kind(code, paint, rect);
        }
        let (differs, is_origin) = (code.has(CellCode::DIFFERS), code.has(CellCode::ORIGIN));
        match code.state() {
            CellCode::NONE => {}
            CellCode::MISSING if is_origin => {
                self.add(Paint::Missing, rect);
                self.marks.push((Mark::Cross, rect, Paint::Surface));
            }
            CellCode::MISSING => self.hatched.push(rect),
            CellCode::NO_DUMP => self.add(Paint::NoDump, rect),
            // Half the height, so that it is told from a completed cell by its shape as well.
            CellCode::UNKNOWN => {
                let inset = (rect.height * 0.3).floor();
                self.add(Paint::Unknown, Rect { y: rect.y + inset, height: rect.height - 2.0 * inset, ..rect });
            }
            _ if differs => {
                self.add(Paint::Mismatch, rect);
                let mark = if code.has(OTHER_SIDE) { Mark::HollowDiamond } else { Mark::Diamond };
                self.marks.push((mark, rect, Paint::Surface));
            }
            state => {
                self.add(state_paint(state), rect);
                if is_origin {
                    self.outlined.push((rect, Paint::Suspect));
                }
            }
        }
    }

    /// The colour tells the kind; that it differs is left to the mark and the frame.
    fn add_kind(&mut self, code: CellCode, paint: Paint, rect: Rect) {
        self.add(paint, rect);
        let (differs, is_origin) = (code.has(CellCode::DIFFERS), code.has(CellCode::ORIGIN));
        if differs {
            let mark = if code.has(OTHER_SIDE) { Mark::HollowDiamond } else { Mark::Diamond };
            self.marks.push((mark, rect, Paint::Mismatch));
        }
        if differs || is_origin {
            self.outlined.push((rect, if differs { Paint::Mismatch } else { Paint::Suspect }));
        }
    }

    /// The commands for all of them, marks last.
    pub(crate) fn draw(self, commands: &mut Vec<DrawCommand>) {
        commands.extend(self.fills.into_iter().map(|(paint, rects)| DrawCommand::Fill { paint, rects }));
        if !self.hatched.is_empty() {
            commands.push(DrawCommand::Hatch { rects: self.hatched });
        }
        for (rect, paint) in self.outlined {
            let inner = Rect { x: rect.x + 1.0, y: rect.y + 1.0, width: rect.width - 2.0, height: rect.height - 2.0 };
            commands.push(DrawCommand::Outline { rect: inner, paint, line: 2.0 });
        }
        for (mark, rect, paint) in self.marks {
            commands.push(DrawCommand::Mark {
                x: rect.x + rect.width / 2.0,
                y: rect.y + rect.height / 2.0,
                size: (rect.width - 3.0).min(rect.height - 6.0),
                mark,
                paint,
            });
        }
    }
}

fn state_paint(state: CellCode) -> Paint {
    match state {
        CellCode::COMPLETED => Paint::Completed,
        CellCode::STARTED => Paint::Started,
        CellCode::SCHEDULED => Paint::Scheduled,
        _ => Paint::Unknown,
    }
}
