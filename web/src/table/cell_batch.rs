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
    outlined: Vec<Rect>,
    marks: Vec<(Mark, Rect)>,
}

impl CellBatch {
    pub(crate) fn add(&mut self, paint: Paint, rect: Rect) {
        match self.fills.iter_mut().find(|(known, _)| *known == paint) {
            Some((_, rects)) => rects.push(rect),
            None => self.fills.push((paint, vec![rect])),
        }
    }

    pub(crate) fn add_cell(&mut self, code: CellCode, rect: Rect) {
        let (differs, is_origin) = (code.has(CellCode::DIFFERS), code.has(CellCode::ORIGIN));
        match code.state() {
            CellCode::NONE => {}
            CellCode::MISSING if is_origin => {
                self.add(Paint::Missing, rect);
                self.marks.push((Mark::Cross, rect));
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
                self.marks.push((mark, rect));
            }
            state => {
                self.add(state_paint(state), rect);
                if is_origin {
                    self.outlined.push(rect);
                }
            }
        }
    }

    /// The commands for all of them, marks last.
    pub(crate) fn draw(self, commands: &mut Vec<DrawCommand>) {
        commands.extend(self.fills.into_iter().map(|(paint, rects)| DrawCommand::Fill { paint, rects }));
        if !self.hatched.is_empty() {
            commands.push(DrawCommand::Hatch { rects: self.hatched });
        }
        for rect in self.outlined {
            let inner = Rect { x: rect.x + 1.0, y: rect.y + 1.0, width: rect.width - 2.0, height: rect.height - 2.0 };
            commands.push(DrawCommand::Outline { rect: inner, paint: Paint::Suspect, line: 2.0 });
        }
        for (mark, rect) in self.marks {
            commands.push(DrawCommand::Mark {
                x: rect.x + rect.width / 2.0,
                y: rect.y + rect.height / 2.0,
                size: (rect.width - 3.0).min(rect.height - 6.0),
                mark,
                paint: Paint::Surface,
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
