//! The table as a list of draw commands: plain values, made without a canvas.

use crate::table::draw_cells::{self, LEAST_ORIGIN};
use crate::table::draw_command::{Align, DrawCommand, Face, Paint, Span};
use crate::table::layout::{HEAD_HEIGHT, Line, Piece, RunKind};
use crate::table::scene::{GROUP_WIDTH, Rect, STRIP_HEIGHT, STRIP_TOP, Scene, TABLE_TOP};
use crate::table::strip;
use crate::text;

/// The commands for what is in view.
pub(crate) fn draw_list(scene: &Scene<'_>) -> Vec<DrawCommand> {
    let mut list = List { scene, commands: Vec::new() };
    let (width, height) = (scene.view.width, scene.view.height);
    list.fill(Paint::Surface, Rect { x: 0.0, y: 0.0, width, height });
    list.cells();
    list.row_heads();
    list.band_heads();
    list.strip();
    list.rank_numbers();
    list.commands
}

/// The active cell's frame leaves so much room for what must be seen in it.
const LEAST_FRAMED: f64 = 8.0;

struct List<'a> {
    scene: &'a Scene<'a>,
    commands: Vec<DrawCommand>,
}

impl List<'_> {
    fn fill(&mut self, paint: Paint, rect: Rect) {
        self.commands.push(DrawCommand::Fill { paint, rects: vec![rect] });
    }

    fn text(&mut self, (x, y): (f64, f64), width: f64, align: Align, spans: Vec<Span>) {
        self.commands.push(DrawCommand::Text { x, y, width, align, spans });
    }

    fn cells(&mut self) {
        let scene = self.scene;
        let head_width = scene.head_width();
        // The frame of a cell in the first column is not cut.
        let left = if scene.view.scroll_x == 0.0 { head_width - 2.0 } else { head_width };
        let area = Rect {
            x: left,
            y: TABLE_TOP,
            width: (scene.view.width - left).max(0.0),
            height: (scene.view.height - TABLE_TOP).max(0.0),
        };
        self.commands.push(DrawCommand::Clip(area));
        draw_cells::draw(scene, &mut self.commands);
        if let Some(rect) = scene.active.and_then(|active| scene.cell_rect(active)) {
            // Around a cell that may be a single pixel: never smaller than a person can find.
            let (width, height) = (rect.width.max(LEAST_FRAMED), rect.height.max(LEAST_FRAMED));
            let around = Rect {
                x: rect.x + (rect.width - width) / 2.0 - 1.5,
                y: rect.y + (rect.height - height) / 2.0,
                width: width + 2.0,
                height,
            };
            self.commands.push(DrawCommand::Outline { rect: around, paint: Paint::Focus, line: 2.0 });
        }
        self.commands.push(DrawCommand::Unclip);
    }

    fn row_heads(&mut self) {
        let scene = self.scene;
        let head_width = scene.head_width();
        let findings = scene.dataset.index().findings.iter().zip(&scene.dataset.report.findings);
        let finding_rows: Vec<(u32, Paint)> = findings
            .filter_map(|(place, finding)| {
                let paint = if finding.suspects.is_empty() { Paint::Victim } else { Paint::Suspect };
                Some((place.row?, paint))
            })
            .collect();
        self.commands.push(DrawCommand::Clip(Rect {
            x: 0.0,
            y: TABLE_TOP,
            width: head_width,
            height: (scene.view.height - TABLE_TOP).max(0.0),
        }));
        let (top, bottom) = scene.heights_in_view();
        let middle = |piece: &Piece, at: u32| scene.y(piece.top + (f64::from(at) + 0.5) * piece.height);
        for piece in scene.layout.pieces(top, bottom) {
            match piece.kind {
                RunKind::Rows { first, count } => {
                    let rows = first..first + count;
                    self.finding_marks(&piece, &finding_rows, rows.clone());
                    if scene.zoom.names_fit() {
                        rows.for_each(|row| self.row_name(row, middle(&piece, row - first)));
                    } else {
                        self.band_name(&piece, first);
                    }
                }
                RunKind::Order { at, count } => {
                    let rows = scene.layout.rows_in_order(at, count);
                    self.finding_marks(&piece, &finding_rows, rows.iter().copied());
                    for (at, row) in (0..).zip(rows) {
                        self.contradiction(*row, middle(&piece, at), piece.height);
                        if scene.zoom.names_fit() {
                            self.row_name(*row, middle(&piece, at));
                        }
                    }
                }
                RunKind::Fold { count, .. } if scene.zoom.names_fit() => {
                    let is_active =
                        scene.active.is_some_and(|active| scene.layout.line_of(active.row) == Some(piece.line));
                    let paint = if is_active { Paint::Text } else { Paint::Muted };
                    let about = format!("… {} agree", text::counted(count.into(), "row"));
                    let middle = scene.y(piece.top) + piece.height / 2.0;
                    self.text((68.0, middle), head_width - 76.0, Align::Left, vec![span(about, Face::Sans, paint)]);
                }
                _ => {}
            }
        }
        self.commands.push(DrawCommand::Unclip);
    }

    /// A bar beside the rows that findings point at, however low these are.
    fn finding_marks(&mut self, piece: &Piece, findings: &[(u32, Paint)], rows: impl Iterator<Item = u32>) {
        if findings.is_empty() {
            return;
        }
        let scene = self.scene;
        for (at, row) in (0..).zip(rows) {
            if let Some((_, paint)) = findings.iter().find(|(known, _)| *known == row) {
                let height = piece.height.max(LEAST_ORIGIN);
                let y = scene.y(piece.top + (f64::from(at) + 0.5) * piece.height) - height / 2.0;
                self.fill(*paint, Rect { x: 0.0, y, width: 4.0, height });
            }
        }
    }

    /// A mark beside a row that some ranks issued before another one and others after it.
    fn contradiction(&mut self, row: u32, middle: f64, height: f64) {
        if !self.scene.contradicted.contains(&row) {
            return;
        }
        if self.scene.zoom.names_fit() {
            self.text((8.0, middle), 14.0, Align::Left, vec![span("⇅".to_owned(), Face::SansBold, Paint::Mismatch)]);
        } else {
            let height = height.max(LEAST_ORIGIN);
            self.fill(Paint::Mismatch, Rect { x: 6.0, y: middle - height / 2.0, width: 4.0, height });
        }
    }

    /// The group's label beside its rows, where these are too low for names.
    fn band_name(&mut self, piece: &Piece, first: u32) {
        const ROOM: f64 = 14.0;
        let scene = self.scene;
        let RunKind::Rows { count, .. } = piece.kind else { return };
        // Where the head can be read it says so already.
        if !scene.zoom.is_tiny() || f64::from(count) * piece.height < ROOM {
            return;
        }
        if let Some((_, band)) = scene.dataset.band_of(first) {
            let label = vec![span(band.label.clone(), Face::Sans, Paint::Muted)];
            let y = scene.y(piece.top).max(TABLE_TOP) + ROOM / 2.0;
            self.text((8.0, y), scene.head_width() - 14.0, Align::Left, label);
        }
    }

    fn row_name(&mut self, row: u32, middle: f64) {
        let scene = self.scene;
        let (Some(head), Some((_, band))) = (scene.dataset.row(row), scene.dataset.band_of(row)) else { return };
        let is_active = scene.active.is_some_and(|active| active.row == row);
        let number_paint = if is_active { Paint::Text } else { Paint::Muted };
        let number = span(head.number.to_string(), Face::Mono, number_paint);
        let op = span(head.op.to_owned(), Face::Mono, Paint::Text);
        let mut width = scene.head_width() - 8.0;
        if scene.layout.is_program_order() {
            // Here no head says whose row it is.
            let room = GROUP_WIDTH.min((width / 3.0).floor());
            let label = vec![span(band.label.clone(), Face::Sans, Paint::Muted)];
            self.text((width - room, middle), room, Align::Left, label);
            width -= room + 8.0;
        }
        if band.p2p {
            self.text((16.0, middle), width - 16.0, Align::Left, vec![number, op]);
        } else {
            self.text((58.0, middle), 44.0, Align::Right, vec![number]);
            self.text((68.0, middle), width - 68.0, Align::Left, vec![op]);
        }
    }

    fn band_heads(&mut self) {
        let scene = self.scene;
        self.commands.push(DrawCommand::Clip(Rect {
            x: 0.0,
            y: TABLE_TOP,
            width: scene.view.width,
            height: (scene.view.height - TABLE_TOP).max(0.0),
        }));
        let (top, bottom) = scene.heights_in_view();
        for piece in scene.layout.pieces(top, bottom) {
            match piece.kind {
                RunKind::Head(band) => {
                    let next = scene.layout.line(piece.line + 1);
                    let is_open = matches!(next, Some(Line::Row(_) | Line::Fold(..)));
                    let is_active =
                        scene.active.is_some_and(|active| scene.layout.line_of(active.row) == Some(piece.line));
                    self.band_head(band, (scene.y(piece.top), piece.height), is_open, is_active);
                }
                RunKind::Alike { band, count } => self.alike(band, count, &piece),
                RunKind::Rows { .. } | RunKind::Order { .. } | RunKind::Fold { .. } => {}
            }
        }
        if let Some((band, y)) = scene.sticky_head() {
            self.band_head(band, (y, HEAD_HEIGHT), true, false);
        }
        self.commands.push(DrawCommand::Unclip);
    }

    fn band_head(&mut self, band: u32, (y, height): (f64, f64), is_open: bool, is_active: bool) {
        let scene = self.scene;
        let Some(band) = scene.dataset.index().bands.get(band as usize) else { return };
        self.fill(Paint::Sunken, Rect { x: 0.0, y, width: scene.view.width, height });
        if is_active {
            let frame = Rect { x: 1.0, y: y + 1.0, width: scene.view.width - 2.0, height: height - 2.0 };
            self.commands.push(DrawCommand::Outline { rect: frame, paint: Paint::Focus, line: 2.0 });
        }
        if height < READABLE {
            return;
        }
        let arrow = if is_open { "▾" } else { "▸" };
        let mut about = Vec::new();
        if !band.desc.is_empty() && !band.label.starts_with(&band.desc) {
            about.push(band.desc.clone());
        }
        about.push(text::counted(band.columns.len() as u64, "rank"));
        about.push(if band.p2p {
            text::counted(band.row_count.into(), "message")
        } else {
            text::counted(band.row_count.into(), "row")
        });
        let spans = vec![
            span(arrow.to_owned(), Face::Sans, Paint::Muted),
            span(band.label.clone(), Face::SansBold, Paint::Text),
            span(about.join(", "), Face::Sans, Paint::Muted),
        ];
        self.text((12.0, y + height / 2.0), scene.view.width - 24.0, Align::Left, spans);
    }

    /// Groups that are like the one above.
    fn alike(&mut self, first: u32, count: u32, piece: &Piece) {
        let scene = self.scene;
        let y = scene.y(piece.top);
        if piece.height < READABLE {
            return self.fill(Paint::Line, Rect { x: 0.0, y: y + 1.0, width: scene.view.width, height: 1.0 });
        }
        let is_active = scene.active.is_some_and(|active| scene.layout.line_of(active.row) == Some(piece.line));
        let label = scene.dataset.index().bands.get(first as usize).map_or("", |band| band.label.as_str());
        let about = if count == 1 { label.to_owned() } else { format!("{label} and so on") };
        let spans = vec![
            span("▸".to_owned(), Face::Sans, Paint::Muted),
            span(
                format!("× {} alike", text::counted(count.into(), "group")),
                Face::Sans,
                if is_active { Paint::Focus } else { Paint::Text },
            ),
            span(about, Face::Sans, Paint::Muted),
        ];
        self.text((12.0, y + piece.height / 2.0), scene.view.width - 24.0, Align::Left, spans);
    }

    fn strip(&mut self) {
        let width = self.scene.view.width;
        self.fill(Paint::Surface, Rect { x: 0.0, y: 0.0, width, height: TABLE_TOP });
        strip::draw(self.scene, &mut self.commands);
    }

    fn rank_numbers(&mut self) {
        const LEAST_DISTANCE: f64 = 34.0;
        let scene = self.scene;
        let columns = &scene.layout.columns;
        let cell_width = scene.zoom.cell_width();
        let mut step = 1;
        while f64::from(step) * cell_width < LEAST_DISTANCE && step < 1 << 20 {
            // A number of one or two digits is narrower.
            if step == 1 && cell_width >= 20.0 && scene.dataset.column_count() <= 100 {
                break;
            }
            step *= 2;
        }
        let head_width = scene.head_width();
        self.commands.push(DrawCommand::Clip(Rect {
            x: head_width - 12.0,
            y: STRIP_TOP + STRIP_HEIGHT,
            width: scene.view.width - head_width + 12.0,
            height: TABLE_TOP - STRIP_TOP - STRIP_HEIGHT,
        }));
        let y = TABLE_TOP - 9.0;
        let active = scene.active.map(|active| active.column);
        let active_slot = active.and_then(|column| columns.slot_of(column));
        let center = |slot: u32| scene.slot_x(slot) + (columns.slot_width(slot, scene.zoom) - 1.0) / 2.0;
        // Where the last number that was written ends.
        let mut taken = f64::NEG_INFINITY;
        for slot in scene.slots_in_view() {
            let Some(shown) = columns.slot(slot) else { continue };
            let is_active = Some(slot) == active_slot;
            let is_wide = shown.count > 1 && !scene.zoom.is_picture();
            // Ranks in order have round numbers; else, whatever there is room for.
            let is_round = !columns.is_plain || slot.is_multiple_of(step);
            if is_active || !(is_wide || is_round) {
                continue;
            }
            let label = if is_wide {
                format!("×{}", text::thousands(shown.count.into()))
            } else {
                scene.dataset.rank(shown.column).map(|rank| rank.to_string()).unwrap_or_default()
            };
            let (half, at) = (label.chars().count() as f64 * 3.3 + 1.5, center(slot));
            let is_crowded = active_slot.is_some_and(|active| (center(active) - at).abs() < half + 14.0 && step > 1);
            if at - half >= taken && !is_crowded {
                taken = at + half;
                let face = vec![span(label, Face::MonoSmall, if is_wide { Paint::Text } else { Paint::Muted })];
                self.text((at, y), 80.0, Align::Center, face);
            }
        }
        if let Some((slot, rank)) = active_slot.zip(active.and_then(|column| scene.dataset.rank(column))) {
            let spans = vec![span(rank.to_string(), Face::MonoSmall, Paint::Focus)];
            self.text((center(slot), y), 60.0, Align::Center, spans);
        }
        self.commands.push(DrawCommand::Unclip);
        let label = vec![span("rank".to_owned(), Face::Sans, Paint::Muted)];
        self.text((head_width - 16.0, y), 60.0, Align::Right, label);
    }
}

/// A head that is lower cannot be read.
const READABLE: f64 = 14.0;

fn span(text: String, face: Face, paint: Paint) -> Span {
    Span { text, face, paint }
}

#[cfg(test)]
mod tests {
    use hangscope_analyzer_core::report::TableIndex;

    use hangscope_analyzer_core::tree_set::TreeSet;

    use super::*;
    use crate::example;
    use crate::table::draw_command::Mark;
    use crate::table::layout::TableLayout;
    use crate::table::scene::View;
    use crate::table::shown::Shown;
    use crate::table::zoom::Zoom;

    const VIEW: View = View { width: 800.0, height: 400.0, scroll_x: 0.0, scroll_y: 0.0 };

    static NOTHING: TreeSet<u32> = TreeSet::new();

    fn drawn(view: View, zoom: Zoom, shown: &Shown) -> Vec<DrawCommand> {
        let dataset = example::dataset();
        let layout = TableLayout::new(&dataset, shown, zoom);
        draw_list(&Scene {
            dataset: &dataset,
            layout: &layout,
            zoom,
            view,
            active: Some(example::ORIGIN),
            layer: None,
            contradicted: &NOTHING,
        })
    }

    fn small() -> Zoom {
        Zoom::default().farther().farther()
    }

    fn rects(commands: &[DrawCommand], wanted: Paint) -> Vec<Rect> {
        commands
            .iter()
            .filter_map(|command| match command {
                DrawCommand::Fill { paint, rects } if *paint == wanted => Some(rects.clone()),
                _ => None,
            })
            .flatten()
            .collect()
    }

    fn texts(commands: &[DrawCommand]) -> Vec<String> {
        commands
            .iter()
            .filter_map(|command| match command {
                DrawCommand::Text { spans, .. } => {
                    Some(spans.iter().map(|span| span.text.as_str()).collect::<Vec<_>>().join(" "))
                }
                _ => None,
            })
            .collect()
    }

    #[test]
    fn every_state_has_its_paint() {
        let commands = drawn(VIEW, Zoom::default(), &Shown::default());
        assert_eq!(rects(&commands, Paint::Completed).len(), 9 * 4 + 2 * 8);
        assert_eq!(rects(&commands, Paint::Started).len(), 3);
        assert_eq!(rects(&commands, Paint::Scheduled).len(), 4);
        let origin = Rect { x: 252.0 + 5.0 * 16.0, y: 40.0 + 26.0 + 9.0 * 18.0 + 1.0, width: 15.0, height: 16.0 };
        assert_eq!(rects(&commands, Paint::Missing), [origin], "one loud cell");
        let hatched = commands.iter().find_map(|command| match command {
            DrawCommand::Hatch { rects } => Some(rects.len()),
            _ => None,
        });
        assert_eq!(hatched, Some(4));
        let marks: Vec<_> = commands.iter().filter(|command| matches!(command, DrawCommand::Mark { .. })).collect();
        assert!(matches!(marks[..], [DrawCommand::Mark { mark: Mark::Cross, .. }]), "{marks:?}");
    }

    #[test]
    fn names_and_numbers() {
        let texts = texts(&drawn(VIEW, Zoom::default(), &Shown::default()));
        assert_eq!(texts[..3], ["9", "all_reduce [4096]", "10"]);
        assert!(texts.contains(&"▾ tp[4-7] mesh, 4 ranks, 10 rows".to_owned()), "{texts:?}");
        assert_eq!(texts[texts.len() - 3..], ["0", "5", "rank"], "every fourth number, but the active one beside it");
    }

    #[test]
    fn only_what_is_in_view() {
        let view = View { height: 40.0 + 26.0 + 18.0, ..VIEW };
        let commands = drawn(view, Zoom::default(), &Shown::default());
        assert_eq!(rects(&commands, Paint::Completed).len(), 4);
        let view = View { width: 148.0 + 5.0 * 16.0, ..view };
        let commands = drawn(view, Zoom::default(), &Shown::default());
        assert_eq!(rects(&commands, Paint::Completed).len(), 1, "one column of the band");
    }

    #[test]
    fn small_cells_become_a_picture_per_band() {
        let commands = drawn(VIEW, small(), &Shown::default());
        let pictures: Vec<_> = commands
            .iter()
            .filter_map(|command| match command {
                DrawCommand::Picture { rect, columns, codes, .. } => Some((rect.x, *columns, codes.len())),
                _ => None,
            })
            .collect();
        assert_eq!(pictures, [(252.0 + 4.0 * 8.0, 4, 40), (252.0, 8, 24)]);
        assert_eq!(rects(&commands, Paint::Missing).len(), 1, "the origin is drawn again, large enough");
    }

    #[test]
    fn one_bad_end_of_many_messages_is_seen_at_any_zoom() {
        let dataset = example::messages(60).dataset();
        let mut zoom = Zoom::default();
        for _ in 0..11 {
            let layout = TableLayout::new(&dataset, &Shown::default(), zoom);
            let line = layout.line_of(example::BAD_END.0).unwrap();
            let mut view = View { width: 4_000.0, ..VIEW };
            view.scroll_y = (layout.extent(line).0 - 100.0).max(0.0);
            let commands = draw_list(&Scene {
                dataset: &dataset,
                layout: &layout,
                zoom,
                view,
                active: None,
                layer: None,
                contradicted: &NOTHING,
            });
            assert_eq!(rects(&commands, Paint::Missing).len(), 1, "{zoom:?}");
            zoom = zoom.farther();
        }
    }

    #[test]
    fn folded_rows_leave_a_bar() {
        let mut index = example::index();
        index.findings.clear();
        let dataset = example::from_parts(example::report(), &index, example::cells());
        let zoom = Zoom::default();
        let layout = TableLayout::new(&dataset, &Shown { folded: true, ..Shown::default() }, zoom);
        let commands = draw_list(&Scene {
            dataset: &dataset,
            layout: &layout,
            zoom,
            view: VIEW,
            active: None,
            layer: None,
            contradicted: &NOTHING,
        });
        assert!(texts(&commands).contains(&"… 7 rows agree".to_owned()));
        let bar = Rect { x: 252.0 + 4.0 * 16.0, y: 40.0 + 26.0 + 7.0, width: 63.0, height: 4.0 };
        assert!(rects(&commands, Paint::Completed).contains(&bar));
    }

    #[test]
    fn the_strip_shows_the_worst_of_many() {
        let view = View { width: 148.0 + 12.0 + 4.0, ..VIEW };
        let commands = drawn(view, small(), &Shown::default());
        assert_eq!(rects(&commands, Paint::Suspect).iter().filter(|rect| rect.y < STRIP_TOP).count(), 1);
        assert_eq!(rects(&commands, Paint::Blocked).len(), 2, "ranks 0-1 and 2-3");
        assert_eq!(rects(&commands, Paint::Victim).len(), 1, "ranks 6-7");
    }

    #[test]
    fn no_ranks_no_trouble() {
        let dataset = example::from_parts(example::report(), &TableIndex::default(), Vec::new());
        let zoom = Zoom::default();
        let layout = TableLayout::new(&dataset, &Shown::default(), zoom);
        let scene = Scene {
            dataset: &dataset,
            layout: &layout,
            zoom,
            view: VIEW,
            active: None,
            layer: None,
            contradicted: &NOTHING,
        };
        assert_eq!(scene.target_at(300.0, 8.0), None);
        assert_eq!(rects(&draw_list(&scene), Paint::Ok), []);
    }
}
