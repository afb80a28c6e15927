//! The table as a list of draw commands: plain values, made without a canvas.

use hangscope_analyzer_core::report::{Band, CellCode};

use crate::dataset::CellPlace;
use crate::table::cell_batch::CellBatch;
use crate::table::draw_command::{Align, DrawCommand, Face, Paint, Span};
use crate::table::layout::{HEAD_HEIGHT, Line};
use crate::table::scene::{Rect, STRIP_HEIGHT, STRIP_TOP, Scene, TABLE_TOP};
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
        let mut batch = CellBatch::default();
        let mut lines = scene.lines_in_view();
        while let Some(index) = lines.next() {
            let (top, height) = scene.layout.extent(index);
            match scene.layout.line(index) {
                Some(Line::Row(row)) if scene.zoom.is_picture() => {
                    let Some((_, band)) = scene.dataset.band_of(row) else { continue };
                    // All rows of the band that follow one another in view become one picture.
                    let mut rows = vec![row];
                    while let Some(Line::Row(next)) = scene.layout.line(lines.start)
                        && !lines.is_empty()
                        && next - band.first_row < band.row_count
                    {
                        rows.push(next);
                        lines.next();
                    }
                    self.picture(&mut batch, band, &rows, (scene.y(top), height.into()));
                }
                Some(Line::Row(row)) => row_cells(scene, &mut batch, row, (scene.y(top), height.into())),
                Some(Line::Fold(first, _)) => fold_bars(scene, &mut batch, first, (scene.y(top), height.into())),
                Some(Line::Head(_)) | None => {}
            }
        }
        batch.draw(&mut self.commands);
        if let Some(rect) = scene.active.and_then(|active| scene.cell_rect(active)) {
            // Around a cell that may be a single pixel: never smaller than a person can find.
            let (width, height) = (rect.width.max(6.0), rect.height.max(6.0));
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

    fn picture(&mut self, batch: &mut CellBatch, band: &Band, rows: &[u32], (y, row_height): (f64, f64)) {
        let scene = self.scene;
        let members = members_in_view(scene, band);
        let (Some(first), Some(last)) = (members.columns.first(), members.columns.last()) else { return };
        let columns = (last - first + 1) as usize;
        let mut codes = vec![CellCode::NONE.0; columns * rows.len()];
        for ((line, row), target) in rows.iter().enumerate().zip(codes.chunks_exact_mut(columns)) {
            let cells = scene.dataset.row_cells(band, *row).get(members.positions.clone()).unwrap_or_default();
            for (column, code) in members.columns.iter().zip(cells) {
                if let Some(pixel) = target.get_mut((column - first) as usize) {
                    *pixel = *code;
                }
                let code = CellCode(*code);
                if code.has(CellCode::ORIGIN) {
                    let paint = if code.has(CellCode::DIFFERS) { Paint::Mismatch } else { Paint::Missing };
                    // The origin must be seen even where a cell is a pixel.
                    let (width, height) = (scene.zoom.cell_width().max(4.0), row_height.max(4.0));
                    batch.add(
                        paint,
                        Rect { x: scene.column_x(*column), y: y + line as f64 * row_height, width, height },
                    );
                }
            }
        }
        let rect = Rect {
            x: scene.column_x(*first),
            y,
            width: columns as f64 * scene.zoom.cell_width(),
            height: rows.len() as f64 * row_height,
        };
        self.commands.push(DrawCommand::Picture { rect, columns, codes });
    }

    fn row_heads(&mut self) {
        let scene = self.scene;
        let head_width = scene.head_width();
        let findings = scene.dataset.index.findings.iter().zip(&scene.dataset.report.findings);
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
        for index in scene.lines_in_view() {
            let (top, height) = scene.layout.extent(index);
            let middle = scene.y(top) + f64::from(height) / 2.0;
            match scene.layout.line(index) {
                Some(Line::Row(row)) => {
                    if let Some((_, paint)) = finding_rows.iter().find(|(known, _)| *known == row) {
                        let height = f64::from(height).max(4.0);
                        self.fill(*paint, Rect { x: 0.0, y: middle - height / 2.0, width: 4.0, height });
                    }
                    if scene.zoom.names_fit() {
                        self.row_name(row, middle);
                    }
                }
                Some(Line::Fold(_, count)) if scene.zoom.names_fit() => {
                    let spans =
                        vec![span(format!("… {} agree", text::counted(count.into(), "row")), Face::Sans, Paint::Muted)];
                    self.text((58.0, middle), head_width - 66.0, Align::Left, spans);
                }
                _ => {}
            }
        }
        self.commands.push(DrawCommand::Unclip);
    }

    fn row_name(&mut self, row: u32, middle: f64) {
        let scene = self.scene;
        let (Some(head), Some((_, band))) = (scene.dataset.row(row), scene.dataset.band_of(row)) else { return };
        let is_active = scene.active.is_some_and(|active| active.row == row);
        let number_paint = if is_active { Paint::Text } else { Paint::Muted };
        let number = span(head.number.to_string(), Face::Mono, number_paint);
        let op = span(head.op.to_owned(), Face::Mono, Paint::Text);
        let width = scene.head_width() - 8.0;
        if band.p2p {
            self.text((16.0, middle), width - 16.0, Align::Left, vec![number, op]);
        } else {
            self.text((48.0, middle), 44.0, Align::Right, vec![number]);
            self.text((58.0, middle), width - 58.0, Align::Left, vec![op]);
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
        for index in scene.lines_in_view() {
            if let Some(Line::Head(band)) = scene.layout.line(index) {
                let top = scene.layout.extent(index).0;
                let has_rows = matches!(scene.layout.line(index + 1), Some(Line::Row(_) | Line::Fold(..)));
                self.band_head(band, scene.y(top), has_rows);
            }
        }
        if let Some((band, y)) = scene.sticky_head() {
            self.band_head(band, y, true);
        }
        self.commands.push(DrawCommand::Unclip);
    }

    fn band_head(&mut self, band: u32, y: f64, is_open: bool) {
        let scene = self.scene;
        let Some(band) = scene.dataset.index.bands.get(band as usize) else { return };
        let height = f64::from(HEAD_HEIGHT);
        self.fill(Paint::Sunken, Rect { x: 0.0, y, width: scene.view.width, height });
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

    fn strip(&mut self) {
        let width = self.scene.view.width;
        self.fill(Paint::Surface, Rect { x: 0.0, y: 0.0, width, height: TABLE_TOP });
        strip::draw(self.scene, &mut self.commands);
    }

    fn rank_numbers(&mut self) {
        const LEAST_DISTANCE: f64 = 34.0;
        let scene = self.scene;
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
        let active = scene.active.map(|CellPlace { column, .. }| column);
        let center = |column: u32| scene.column_x(column) + (cell_width - 1.0) / 2.0;
        for column in scene.columns_in_view().filter(|column| column.is_multiple_of(step)) {
            let crowded = active.is_some_and(|active| (center(active) - center(column)).abs() < LEAST_DISTANCE - 12.0);
            if let Some(rank) = scene.dataset.rank(column)
                && !(crowded && step > 1)
                && active != Some(column)
            {
                let spans = vec![span(rank.to_string(), Face::MonoSmall, Paint::Muted)];
                self.text((center(column), y), 60.0, Align::Center, spans);
            }
        }
        if let Some((column, rank)) = active.and_then(|column| Some((column, scene.dataset.rank(column)?))) {
            let spans = vec![span(rank.to_string(), Face::MonoSmall, Paint::Focus)];
            self.text((center(column), y), 60.0, Align::Center, spans);
        }
        self.commands.push(DrawCommand::Unclip);
        let label = vec![span("rank".to_owned(), Face::Sans, Paint::Muted)];
        self.text((head_width - 16.0, y), 60.0, Align::Right, label);
    }
}

/// The members of a band that are in view: their columns, and where these stand in the band.
struct Members<'a> {
    columns: &'a [u32],
    positions: std::ops::Range<usize>,
}

fn members_in_view<'a>(scene: &Scene<'_>, band: &'a Band) -> Members<'a> {
    let view = scene.columns_in_view();
    let position = |end: u32| band.columns.partition_point(|column| *column < end);
    let positions = position(view.start)..position(view.end);
    Members { columns: band.columns.get(positions.clone()).unwrap_or_default(), positions }
}

fn row_cells(scene: &Scene<'_>, batch: &mut CellBatch, row: u32, (y, height): (f64, f64)) {
    let Some((_, band)) = scene.dataset.band_of(row) else { return };
    let members = members_in_view(scene, band);
    let cells = scene.dataset.row_cells(band, row).get(members.positions).unwrap_or_default();
    let width = scene.zoom.cell_width() - 1.0;
    for (column, code) in members.columns.iter().zip(cells) {
        let rect = Rect { x: scene.column_x(*column), y: y + 1.0, width, height: height - 2.0 };
        batch.add_cell(CellCode(*code), rect);
    }
}

/// Folded rows: a thin bar where the group's ranks are.
fn fold_bars(scene: &Scene<'_>, batch: &mut CellBatch, first: u32, (y, height): (f64, f64)) {
    let Some((_, band)) = scene.dataset.band_of(first) else { return };
    let columns = members_in_view(scene, band).columns;
    let bar = (height / 4.0).clamp(1.0, 4.0);
    for run in columns.chunk_by(|left, right| left + 1 == *right) {
        if let Some(column) = run.first() {
            let width = run.len() as f64 * scene.zoom.cell_width() - 1.0;
            let rect =
                Rect { x: scene.column_x(*column), y: y + (height - bar) / 2.0, width: width.max(1.0), height: bar };
            batch.add(Paint::Completed, rect);
        }
    }
}

fn span(text: String, face: Face, paint: Paint) -> Span {
    Span { text, face, paint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::table::draw_command::Mark;
    use crate::table::layout::{Shown, TableLayout};
    use crate::table::scene::View;
    use crate::table::zoom::Zoom;

    const VIEW: View = View { width: 800.0, height: 400.0, scroll_x: 0.0, scroll_y: 0.0 };

    fn drawn(view: View, zoom: Zoom, shown: &Shown) -> Vec<DrawCommand> {
        let dataset = example::dataset();
        let layout = TableLayout::new(&dataset, shown, zoom);
        draw_list(&Scene { dataset: &dataset, layout: &layout, zoom, view, active: Some(example::ORIGIN) })
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
                DrawCommand::Picture { rect, columns, codes } => Some((rect.x, *columns, codes.len())),
                _ => None,
            })
            .collect();
        assert_eq!(pictures, [(252.0 + 4.0 * 8.0, 4, 40), (252.0, 8, 24)]);
        assert_eq!(rects(&commands, Paint::Missing).len(), 1, "the origin is drawn again, large enough");
    }

    #[test]
    fn folded_rows_leave_a_bar() {
        let mut dataset = example::dataset();
        dataset.index.findings.clear();
        let zoom = Zoom::default();
        let layout = TableLayout::new(&dataset, &Shown { folded: true, ..Shown::default() }, zoom);
        let commands = draw_list(&Scene { dataset: &dataset, layout: &layout, zoom, view: VIEW, active: None });
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
        let mut dataset = example::dataset();
        dataset.index.ranks.clear();
        dataset.index.bands.clear();
        dataset.index.rows = Default::default();
        let zoom = Zoom::default();
        let layout = TableLayout::new(&dataset, &Shown::default(), zoom);
        let scene = Scene { dataset: &dataset, layout: &layout, zoom, view: VIEW, active: None };
        assert_eq!(scene.target_at(300.0, 8.0), None);
        assert_eq!(rects(&draw_list(&scene), Paint::Ok), []);
    }
}
