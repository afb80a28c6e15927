//! Draw commands onto a canvas. As thin as it can be: what to draw is decided in `draw_list`.

use hangscope_analyzer_core::report::CellCode;
use wasm_bindgen::{Clamped, JsCast as _, JsValue};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use crate::table::draw_command::{Align, DrawCommand, Face, Mark, Paint, Span};
use crate::table::scene::Rect;

/// Space between the parts of a line of text.
const SPAN_GAP: f64 = 10.0;
/// Codes of cells: the state in four bits, marks in two.
const CODES: usize = 64;
/// Kinds of cells that have a colour, from 1.
const KINDS: u8 = 12;

/// The colours and typefaces of the style sheet, as they are under the system's present setting.
#[derive(Debug)]
struct Theme {
    colours: Vec<String>,
    /// What a pixel of a picture looks like, by the cell's code.
    pixels: [[u8; 4]; CODES],
    /// The same by its kind, where it has one.
    kinds: Vec<Option<[u8; 4]>>,
    mono: String,
    sans: String,
}

/// A canvas and what is needed to draw on it.
#[derive(Debug)]
pub(crate) struct Painter {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    /// Where pictures are put before they are scaled onto the canvas.
    scratch: HtmlCanvasElement,
    scratch_context: CanvasRenderingContext2d,
    theme: Theme,
}

impl Painter {
    pub(crate) fn new(canvas: HtmlCanvasElement) -> Result<Self, JsValue> {
        let document = canvas.owner_document().ok_or_else(|| JsValue::from_str("the canvas has no document"))?;
        let scratch: HtmlCanvasElement = document.create_element("canvas")?.unchecked_into();
        let context = context(&canvas)?;
        let scratch_context = self::context(&scratch)?;
        let theme = Theme::current()?;
        Ok(Self { canvas, context, scratch, scratch_context, theme })
    }

    /// Reads the colours again: the system has switched between light and dark.
    pub(crate) fn update_theme(&mut self) -> Result<(), JsValue> {
        self.theme = Theme::current()?;
        Ok(())
    }

    /// Draws a view of `width` by `height` pixels of the page.
    pub(crate) fn paint(&self, width: f64, height: f64, commands: &[DrawCommand]) -> Result<(), JsValue> {
        let scale = web_sys::window().map_or(1.0, |window| window.device_pixel_ratio());
        let (device_width, device_height) = ((width * scale).round() as u32, (height * scale).round() as u32);
        if (self.canvas.width(), self.canvas.height()) != (device_width, device_height) {
            self.canvas.set_width(device_width);
            self.canvas.set_height(device_height);
        }
        self.context.set_transform(scale, 0.0, 0.0, scale, 0.0, 0.0)?;
        self.context.set_text_baseline("middle");
        for command in commands {
            self.draw(command)?;
        }
        Ok(())
    }

    fn draw(&self, command: &DrawCommand) -> Result<(), JsValue> {
        let context = &self.context;
        match command {
            DrawCommand::Fill { paint, rects } => self.fill(*paint, rects),
            DrawCommand::Hatch { rects } => self.hatch(rects),
            DrawCommand::Picture { rect, columns, codes, kinds } => return self.picture(*rect, *columns, codes, kinds),
            DrawCommand::Mark { x, y, size, mark, paint } => {
                // Smaller than this, a mark is a blot.
                if *size >= 4.0 {
                    self.mark(*x, *y, size.min(10.0), *mark, *paint);
                }
            }
            DrawCommand::Outline { rect, paint, line } => {
                context.set_stroke_style_str(self.theme.colour(*paint));
                context.set_line_width(*line);
                context.stroke_rect(rect.x, rect.y, rect.width, rect.height);
            }
            DrawCommand::Text { x, y, width, align, spans } => return self.text(*x, *y, *width, *align, spans),
            DrawCommand::Clip(rect) => {
                context.save();
                context.begin_path();
                context.rect(rect.x, rect.y, rect.width, rect.height);
                context.clip();
            }
            DrawCommand::Unclip => context.restore(),
        }
        Ok(())
    }

    fn fill(&self, paint: Paint, rects: &[Rect]) {
        self.context.set_fill_style_str(self.theme.colour(paint));
        for rect in rects {
            self.context.fill_rect(rect.x, rect.y, rect.width, rect.height);
        }
    }

    fn hatch(&self, rects: &[Rect]) {
        const DISTANCE: f64 = 4.0;
        self.fill(Paint::Unknown, rects);
        let context = &self.context;
        context.save();
        context.begin_path();
        for rect in rects {
            context.rect(rect.x, rect.y, rect.width, rect.height);
        }
        context.clip();
        context.begin_path();
        for rect in rects {
            // Lines lie on one grid over the whole view, so that they go on from cell to cell and stand still.
            let first = ((rect.x + rect.y) / DISTANCE).floor() as i64;
            let last = ((rect.x + rect.width + rect.y + rect.height) / DISTANCE).ceil() as i64;
            for line in first..=last {
                let sum = line as f64 * DISTANCE;
                context.move_to(sum - rect.y - rect.height, rect.y + rect.height);
                context.line_to(sum - rect.y, rect.y);
            }
        }
        context.set_stroke_style_str(self.theme.colour(Paint::Missing));
        context.set_line_width(1.0);
        context.stroke();
        context.restore();
    }

    fn picture(&self, rect: Rect, columns: usize, codes: &[u8], kinds: &[u8]) -> Result<(), JsValue> {
        let Some(rows) = codes.len().checked_div(columns).filter(|rows| *rows > 0) else { return Ok(()) };
        let mut pixels: Vec<u8> = Vec::with_capacity(codes.len() * 4);
        if kinds.is_empty() {
            pixels.extend(codes.iter().flat_map(|code| self.theme.pixels[usize::from(*code) % CODES]));
        } else {
            pixels.extend(codes.iter().zip(kinds).flat_map(
                |(code, kind)| match self.theme.kinds.get(usize::from(*kind)) {
                    Some(Some(pixel)) => *pixel,
                    _ => self.theme.pixels[usize::from(*code) % CODES],
                },
            ));
        }
        let (width, height) = (columns as u32, rows as u32);
        if self.scratch.width() < width || self.scratch.height() < height {
            self.scratch.set_width(self.scratch.width().max(width));
            self.scratch.set_height(self.scratch.height().max(height));
        }
        let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), width, height)?;
        self.scratch_context.put_image_data(&image, 0.0, 0.0)?;
        self.context.set_image_smoothing_enabled(false);
        self.context.draw_image_with_html_canvas_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
            &self.scratch,
            0.0,
            0.0,
            width.into(),
            height.into(),
            rect.x,
            rect.y,
            rect.width,
            rect.height,
        )
    }

    fn mark(&self, x: f64, y: f64, size: f64, mark: Mark, paint: Paint) {
        let context = &self.context;
        let half = size / 2.0;
        context.begin_path();
        match mark {
            Mark::Diamond | Mark::HollowDiamond => {
                context.move_to(x, y - half);
                context.line_to(x + half, y);
                context.line_to(x, y + half);
                context.line_to(x - half, y);
                context.close_path();
                if mark == Mark::Diamond {
                    context.set_fill_style_str(self.theme.colour(paint));
                    context.fill();
                } else {
                    context.set_stroke_style_str(self.theme.colour(paint));
                    context.set_line_width(1.5);
                    context.stroke();
                }
            }
            Mark::Cross => {
                let arm = half * 0.8;
                context.move_to(x - arm, y - arm);
                context.line_to(x + arm, y + arm);
                context.move_to(x + arm, y - arm);
                context.line_to(x - arm, y + arm);
                context.set_stroke_style_str(self.theme.colour(paint));
                context.set_line_width(2.0);
                context.stroke();
            }
        }
    }

    fn text(&self, x: f64, y: f64, width: f64, align: Align, spans: &[Span]) -> Result<(), JsValue> {
        let context = &self.context;
        context.set_text_align(match align {
            Align::Left => "left",
            Align::Center => "center",
            Align::Right => "right",
        });
        let mut at = x;
        for span in spans {
            let room = width - (at - x);
            if room <= 0.0 {
                break;
            }
            context.set_font(&self.theme.font(span.face));
            context.set_fill_style_str(self.theme.colour(span.paint));
            let (text, text_width) = self.fitted(&span.text, room)?;
            context.fill_text(&text, at, y)?;
            at += text_width + SPAN_GAP;
        }
        Ok(())
    }

    /// The text, cut with `…` if it is wider than there is room, and its width.
    fn fitted(&self, text: &str, room: f64) -> Result<(String, f64), JsValue> {
        let width = |text: &str| Ok::<f64, JsValue>(self.context.measure_text(text)?.width());
        let whole = width(text)?;
        if whole <= room {
            return Ok((text.to_owned(), whole));
        }
        let letters: Vec<char> = text.chars().collect();
        let cut = |count: usize| letters.iter().take(count).chain(&['…']).collect::<String>();
        let (mut fits, mut too_many) = (0, letters.len());
        while too_many - fits > 1 {
            let middle = fits + (too_many - fits) / 2;
            if width(&cut(middle))? <= room {
                fits = middle;
            } else {
                too_many = middle;
            }
        }
        let text = cut(fits);
        let width = width(&text)?;
        Ok((text, width))
    }
}

fn context(canvas: &HtmlCanvasElement) -> Result<CanvasRenderingContext2d, JsValue> {
    let context = canvas.get_context("2d")?.ok_or_else(|| JsValue::from_str("the canvas has no 2d context"))?;
    Ok(context.unchecked_into())
}

impl Theme {
    fn current() -> Result<Self, JsValue> {
        let style = web_sys::window()
            .and_then(|window| {
                let root = window.document()?.document_element()?;
                window.get_computed_style(&root).ok()?
            })
            .ok_or_else(|| JsValue::from_str("the page has no style"))?;
        let value = |name: &str| style.get_property_value(name).map(|value| value.trim().to_owned());
        let colours = Paint::ALL.iter().map(|paint| value(paint.token())).collect::<Result<Vec<_>, _>>()?;
        let rgb = |paint: Paint| colours.get(paint as usize).and_then(|colour| parse_hex(colour)).unwrap_or_default();
        let mut pixels = [[0; 4]; CODES];
        for (code, pixel) in (0_u8..).zip(&mut pixels) {
            *pixel = cell_pixel(CellCode(code), rgb);
        }
        let kinds = (0..=KINDS).map(|kind| Paint::hue(kind).map(|paint| opaque(rgb(paint)))).collect();
        Ok(Self { pixels, kinds, mono: value("--mono")?, sans: value("--sans")?, colours })
    }

    fn colour(&self, paint: Paint) -> &str {
        self.colours.get(paint as usize).map_or("", String::as_str)
    }

    fn font(&self, face: Face) -> String {
        match face {
            Face::Mono => format!("12px {}", self.mono),
            Face::MonoSmall => format!("11px {}", self.mono),
            Face::Sans => format!("12px {}", self.sans),
            Face::SansBold => format!("600 13px {}", self.sans),
        }
    }
}

fn opaque([red, green, blue]: [u8; 3]) -> [u8; 4] {
    [red, green, blue, u8::MAX]
}

/// The pixel of a cell in a picture. What follows from the origin is a mixture where there is no room for a hatch.
fn cell_pixel(code: CellCode, rgb: impl Fn(Paint) -> [u8; 3]) -> [u8; 4] {
    let state = code.state();
    let paint = match state {
        CellCode::NONE => return [0; 4],
        CellCode::MISSING if code.has(CellCode::ORIGIN) => Paint::Missing,
        CellCode::MISSING => {
            let (line, ground) = (rgb(Paint::Missing), rgb(Paint::Unknown));
            let mix = |index: usize| ((u16::from(line[index]) * 2 + u16::from(ground[index]) * 3) / 5) as u8;
            return opaque([mix(0), mix(1), mix(2)]);
        }
        CellCode::NO_DUMP => Paint::NoDump,
        CellCode::UNKNOWN => Paint::Unknown,
        _ if code.has(CellCode::DIFFERS) => Paint::Mismatch,
        CellCode::COMPLETED => Paint::Completed,
        CellCode::STARTED => Paint::Started,
        CellCode::SCHEDULED => Paint::Scheduled,
        _ => Paint::Unknown,
    };
    opaque(rgb(paint))
}

/// `#rrggbb`.
fn parse_hex(colour: &str) -> Option<[u8; 3]> {
    let digits = colour.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let part = |index: usize| u8::from_str_radix(digits.get(index..index + 2)?, 16).ok();
    Some([part(0)?, part(2)?, part(4)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_the_style_sheet() {
        assert_eq!(parse_hex("#d8453e"), Some([0xd8, 0x45, 0x3e]));
        for bad in ["", "d8453e", "#fff", "#d8453", "#ééé", "rgb(1,2,3)", "#gggggg"] {
            assert_eq!(parse_hex(bad), None, "{bad}");
        }
    }

    #[test]
    fn paints_are_in_the_order_of_their_numbers() {
        for (index, paint) in Paint::ALL.into_iter().enumerate() {
            assert_eq!(paint as usize, index, "{paint:?}");
        }
    }

    #[test]
    fn the_style_sheet_has_every_colour_in_both_settings_as_six_digits() {
        let style = include_str!("../../style.css");
        for paint in Paint::ALL {
            let values: Vec<_> = style
                .match_indices(&format!("{}:", paint.token()))
                .filter_map(|(at, name)| style.get(at + name.len()..)?.split(';').next())
                .collect();
            assert_eq!(values.len(), 2, "{}", paint.token());
            assert!(values.iter().all(|value| parse_hex(value.trim()).is_some()), "{}: {values:?}", paint.token());
        }
    }

    #[test]
    fn pixels() {
        let rgb = |paint: Paint| match paint {
            Paint::Missing => [100, 0, 0],
            Paint::Unknown => [200, 200, 200],
            Paint::Mismatch => [1, 2, 3],
            _ => [9, 9, 9],
        };
        assert_eq!(cell_pixel(CellCode::NONE, rgb), [0; 4]);
        assert_eq!(cell_pixel(CellCode::MISSING, rgb), [160, 120, 120, 255]);
        assert_eq!(cell_pixel(CellCode::MISSING.with(CellCode::ORIGIN), rgb), [100, 0, 0, 255]);
        assert_eq!(cell_pixel(CellCode::STARTED.with(CellCode::DIFFERS), rgb), [1, 2, 3, 255]);
    }
}
