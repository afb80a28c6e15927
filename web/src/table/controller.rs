//! The canvas, its scroll container and what was laid out for them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hangscope_analyzer_core::tree_set::TreeSet;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::{HtmlCanvasElement, HtmlElement};

use crate::dataset::{CellPlace, Dataset};
use crate::page::Page;
use crate::table::draw_list::draw_list;
use crate::table::grid::{GridRow, grid_window};
use crate::table::layout::{HEAD_HEIGHT, Line, TableLayout};
use crate::table::minimap::{MAP_WIDTH, Minimap};
use crate::table::painter::Painter;
use crate::table::scene::{
    RIGHT_MARGIN, Scene, TABLE_TOP, Target, View, head_width, least_head_width, named_head_width,
};
use crate::table::shown::{Order, Shown};
use crate::table::strip::Strip;
use crate::table::uncover::uncovered;
use crate::table::zoom::Zoom;
use crate::text::length;

/// Browsers limit the height of an element. Of a higher table, a scrolled pixel stands for several.
const HIGHEST_SPACER: f64 = 8_000_000.0;
/// Cells so wide are as easy to read as wider ones.
const COMFORTABLE: f64 = 20.0;

/// What the canvas shows, beyond the page's state.
pub(crate) struct Controller {
    page: Page,
    /// Scrolls; has the keyboard.
    scroller: HtmlElement,
    /// As large as the whole table, so that the browser's own scroll bars fit.
    spacer: HtmlElement,
    painter: RefCell<Painter>,
    /// Draws the map; with the picture on it and the height that this was made for.
    map: RefCell<Option<Map>>,
    laid_out: RefCell<LaidOut>,
    frame_is_coming: Cell<bool>,
    /// Where the pointer asked for a zoom: that place stays where it is.
    zoom_at: Cell<Option<(f64, f64)>>,
    revealed: Cell<u32>,
    fitted: Cell<u32>,
    /// Whether the active cell was in view when it was last drawn.
    active_is_in_view: Cell<bool>,
    /// Size of the window that was drawn last.
    drawn_size: Cell<(f64, f64)>,
    grid_rows: RwSignal<Vec<GridRow>>,
    strip: RwSignal<Strip>,
    /// Counts how often the table came into sight with something that was not laid out yet.
    came_into_sight: RwSignal<u32>,
}

#[derive(Default)]
struct LaidOut {
    version: Option<u32>,
    shown: Shown,
    zoom: Zoom,
    layout: Rc<TableLayout>,
    /// Rows that ranks issued in different orders, where rows are in one order.
    contradicted: TreeSet<u32>,
}

struct Map {
    painter: Painter,
    picture: Option<(f64, Minimap)>,
}

/// A place of the table that is to stay where it is in the view while the layout changes.
struct Anchor {
    view_x: f64,
    view_y: f64,
    /// Column of the dataset, and which part of its width.
    column: Option<(u32, f64)>,
    line: Option<Line>,
    line_part: f64,
}

impl Controller {
    pub(crate) fn new(
        page: Page,
        scroller: HtmlElement,
        spacer: HtmlElement,
        canvas: HtmlCanvasElement,
        grid_rows: RwSignal<Vec<GridRow>>,
        strip: RwSignal<Strip>,
    ) -> Result<Rc<Self>, JsValue> {
        Ok(Rc::new(Self {
            page,
            scroller,
            spacer,
            painter: RefCell::new(Painter::new(canvas)?),
            map: RefCell::new(None),
            laid_out: RefCell::default(),
            frame_is_coming: Cell::new(false),
            zoom_at: Cell::new(None),
            revealed: Cell::new(0),
            fitted: Cell::new(0),
            active_is_in_view: Cell::new(false),
            drawn_size: Cell::new((0.0, 0.0)),
            grid_rows,
            strip,
            came_into_sight: RwSignal::new(0),
        }))
    }

    /// Follows the page's state. Runs in an effect: what it reads calls it again when it changes.
    pub(crate) fn follow(self: &Rc<Self>) {
        let page = self.page;
        let Some(dataset) = page.dataset() else { return };
        let (version, shown, mut zoom) = (page.version.get(), page.shown.get(), page.zoom.get());
        let (active, reveal, fit) = (page.active.get(), page.reveal.get(), page.fit.get());
        self.came_into_sight.track();
        page.layer();
        if self.scroller.client_width() == 0 {
            return;
        }
        let is_new = self.laid_out.borrow().version != Some(version);
        if is_new {
            zoom = self.fitting(&dataset, &shown, |fits| Zoom::fitting(fits));
            page.zoom.set(zoom);
            self.scroll_to(0.0, 0.0);
        }
        if self.fitted.replace(fit) != fit {
            zoom = self.fitting(&dataset, &shown, |fits| Zoom::showing_all(fits));
            if zoom == page.zoom.get_untracked() {
                zoom = self.whole(&dataset, &shown, zoom);
            }
            page.zoom.set(zoom);
        }
        let is_laid_out = {
            let laid_out = self.laid_out.borrow();
            !is_new && laid_out.shown == shown && laid_out.zoom == zoom
        };
        if !is_laid_out {
            let anchor = if is_new { None } else { self.anchor(&dataset) };
            let layout = Rc::new(TableLayout::new(&dataset, &shown, zoom));
            page.stats.set(layout.stats);
            *self.laid_out.borrow_mut() = LaidOut {
                version: Some(version),
                contradicted: TreeSet::from_iter(shown.order.iter().flat_map(Order::contradicted)),
                shown: shown.clone(),
                zoom,
                layout,
            };
            if let Some(map) = self.map.borrow_mut().as_mut() {
                map.picture = None;
            }
            self.size_spacer();
            if let Some(anchor) = anchor {
                self.keep(&anchor);
            }
        }
        if reveal != self.revealed.get()
            && let Some(place) = active
        {
            if !self.layout().has(place) {
                let uncovered = uncovered(&dataset, &shown, zoom, place);
                if uncovered != shown {
                    // This effect runs again then, and finds the cell uncovered.
                    if uncovered.filter.frame.is_none() {
                        page.frame.set(String::new());
                    }
                    page.shown.set(uncovered);
                    return;
                }
            }
            self.revealed.set(reveal);
            self.bring_into_view(place);
        }
        self.request_frame();
    }

    /// The step of the zoom that `choose` finds, of those at which all columns fit. Large cells must leave room for the rows' names too.
    fn fitting(&self, dataset: &Dataset, shown: &Shown, choose: impl Fn(&dyn Fn(Zoom) -> bool) -> Zoom) -> Zoom {
        let layout = TableLayout::new(dataset, shown, Zoom::default());
        let has_groups = layout.is_program_order();
        let view_width = f64::from(self.scroller.client_width());
        choose(&|zoom| {
            let least = least_head_width(view_width, zoom, has_groups);
            let named = named_head_width(&layout, view_width).max(least);
            let head_width = if zoom.cell_width() > COMFORTABLE { named } else { least };
            layout.columns.width(zoom) <= view_width - head_width - RIGHT_MARGIN
        })
    }

    /// The step at which all rows are in view as well, or the smallest.
    fn whole(&self, dataset: &Dataset, shown: &Shown, mut zoom: Zoom) -> Zoom {
        let room = f64::from(self.scroller.client_height()) - TABLE_TOP;
        while zoom.farther() != zoom && TableLayout::new(dataset, shown, zoom).height() > room {
            zoom = zoom.farther();
        }
        zoom
    }

    pub(crate) fn layout(&self) -> Rc<TableLayout> {
        Rc::clone(&self.laid_out.borrow().layout)
    }

    /// How many lines a page up or down is.
    pub(crate) fn page_lines(&self) -> i64 {
        let height = f64::from(self.scroller.client_height()) - TABLE_TOP - HEAD_HEIGHT;
        ((height / self.laid_out.borrow().zoom.row_height()) as i64 - 2).max(1)
    }

    /// What lies under a point of the view.
    pub(crate) fn target_at(&self, x: f64, y: f64) -> Option<Target> {
        let dataset = self.page.dataset_untracked()?;
        self.with_scene(&dataset, |scene| scene.target_at(x, y))
    }

    /// Zooms, so that the place under the pointer stays.
    pub(crate) fn zoom_at(&self, x: f64, y: f64, closer: bool) {
        self.zoom_at.set(Some((x, y)));
        self.page.zoom.update(|zoom| *zoom = if closer { zoom.closer() } else { zoom.farther() });
    }

    /// Scrolls so that a column is in the middle.
    pub(crate) fn center_column(&self, column: u32) {
        let (layout, zoom) = (self.layout(), self.zoom());
        let Some(slot) = layout.columns.slot_of(column) else { return };
        let x = layout.columns.x(slot, zoom) - (self.columns_width(zoom) - zoom.cell_width()) / 2.0;
        self.scroller.set_scroll_left(x.max(0.0) as i32);
    }

    /// Moves the view so far that a cell is in it, and not at all if it is.
    pub(crate) fn bring_into_view(&self, place: CellPlace) {
        let view = self.view();
        let (mut x, mut y) = (view.scroll_x, view.scroll_y);
        let (layout, zoom) = (self.layout(), self.zoom());
        if let Some(line) = layout.line_of(place.row) {
            let (top, height) = layout.extent(line);
            let room = view.height - TABLE_TOP;
            // Below the head that sticks, and with a line of what comes after.
            let (first, last) = (y + HEAD_HEIGHT, y + room - height);
            if top < first || top + height > last {
                let target = if (top - first).abs() > room {
                    top - room / 2.0
                } else if top < first {
                    top - HEAD_HEIGHT
                } else {
                    top + 2.0 * height - room
                };
                y = target.max(0.0);
            }
        }
        if let Some(slot) = layout.columns.slot_of(place.column) {
            let left = layout.columns.x(slot, zoom);
            let right = left + layout.columns.slot_width(slot, zoom);
            let room = self.columns_width(zoom);
            if left < x || right > x + room {
                x = if left < x - room || right > x + 2.0 * room {
                    (left - room / 2.0).max(0.0)
                } else if left < x {
                    left
                } else {
                    right - room
                };
            }
        }
        if (x, y) != (view.scroll_x, view.scroll_y) {
            self.scroll_to(x, y);
        }
    }

    // ---- the map ----

    /// Draws the map on this canvas from now on, or no map.
    pub(crate) fn set_map(self: &Rc<Self>, canvas: Option<HtmlCanvasElement>) {
        // Without a canvas there still is the table.
        let painter = canvas.and_then(|canvas| Painter::new(canvas).ok());
        *self.map.borrow_mut() = painter.map(|painter| Map { painter, picture: None });
        self.request_frame();
    }

    /// Shows the place of the table that is at a point of the map.
    pub(crate) fn go_to_map(&self, x: f64, y: f64) {
        let Some(dataset) = self.page.dataset_untracked() else { return };
        let target = self.with_scene(&dataset, |scene| {
            let map = self.map.borrow();
            let (_, picture) = map.as_ref()?.picture.as_ref()?;
            Some(picture.scroll_for(scene, x, y))
        });
        if let Some((x, y)) = target {
            self.scroll_to(x, y);
        }
    }

    fn draw_map(&self, scene: &Scene<'_>) {
        let mut map = self.map.borrow_mut();
        let Some(Map { painter, picture }) = map.as_mut() else { return };
        let height = scene.view.height;
        if picture.as_ref().is_none_or(|(made_for, _)| *made_for != height) {
            *picture = Some((height, Minimap::new(scene.dataset, scene.layout, scene.zoom, height)));
        }
        if let Some((_, picture)) = picture {
            let _ = painter.paint(MAP_WIDTH, height, &picture.draw(scene));
        }
    }

    /// Reads the colours again.
    pub(crate) fn update_theme(self: &Rc<Self>) {
        // Without a style there is nothing to see anyway.
        let _ = self.painter.borrow_mut().update_theme();
        if let Some(map) = self.map.borrow_mut().as_mut() {
            let _ = map.painter.update_theme();
        }
        self.request_frame();
    }

    /// The size of the window has changed.
    pub(crate) fn resized(self: &Rc<Self>) {
        if self.laid_out.borrow().version != Some(self.page.version.get_untracked()) {
            self.came_into_sight.update(|count| *count += 1);
        } else {
            self.size_spacer();
            // A table that got smaller does not lose the cell that the user was at.
            if self.active_is_in_view.get()
                && let Some(active) = self.page.active.get_untracked()
            {
                self.bring_into_view(active);
            }
        }
        self.request_frame();
    }

    pub(crate) fn focus(&self) {
        let _ = self.scroller.focus();
    }

    /// Draws with the browser's next frame, once.
    pub(crate) fn request_frame(self: &Rc<Self>) {
        if !self.frame_is_coming.replace(true) {
            let controller = Rc::clone(self);
            request_animation_frame(move || controller.draw());
        }
    }

    fn draw(&self) {
        self.frame_is_coming.set(false);
        let Some(dataset) = self.page.dataset_untracked() else { return };
        let (view, commands, rows, in_view, strip) = self.with_scene(&dataset, |scene| {
            let active = scene.active.and_then(|place| scene.cell_rect(place));
            let in_view = active.is_some_and(|rect| rect.y >= TABLE_TOP && rect.y + rect.height <= scene.view.height);
            (scene.view, draw_list(scene), grid_window(scene), in_view, Strip::of(scene))
        });
        if view.width < 1.0 || view.height < 1.0 {
            return;
        }
        let size = (view.width, view.height);
        // A frame may come before we are told of the new size: the cell that was in view is to stay there.
        let stays = self.drawn_size.replace(size) != size && self.active_is_in_view.get();
        self.active_is_in_view.set(in_view || stays);
        // A canvas that cannot be drawn on leaves the grid's elements.
        let _ = self.painter.borrow().paint(view.width, view.height, &commands);
        if self.grid_rows.try_with_untracked(|known| *known != rows).unwrap_or(false) {
            self.grid_rows.set(rows);
        }
        if self.strip.try_with_untracked(|known| *known != strip).unwrap_or(false) {
            self.strip.set(strip);
        }
        self.with_scene(&dataset, |scene| self.draw_map(scene));
    }

    fn zoom(&self) -> Zoom {
        self.laid_out.borrow().zoom
    }

    fn with_scene<T>(&self, dataset: &Dataset, run: impl FnOnce(&Scene<'_>) -> T) -> T {
        let view = self.view();
        let laid_out = self.laid_out.borrow();
        let active = self.page.active.get_untracked();
        let layer = self.page.layer_untracked();
        run(&Scene {
            dataset,
            layout: &laid_out.layout,
            zoom: laid_out.zoom,
            view,
            active,
            layer: layer.as_deref(),
            contradicted: &laid_out.contradicted,
        })
    }

    fn view(&self) -> View {
        let (width, height) = (f64::from(self.scroller.client_width()), f64::from(self.scroller.client_height()));
        View {
            width,
            height,
            scroll_x: f64::from(self.scroller.scroll_left()),
            scroll_y: f64::from(self.scroller.scroll_top()) * self.table_from_scroll(height),
        }
    }

    fn columns_width(&self, zoom: Zoom) -> f64 {
        let width = f64::from(self.scroller.client_width());
        width - head_width(&self.layout(), width, zoom) - RIGHT_MARGIN
    }

    fn table_height(&self) -> f64 {
        TABLE_TOP + self.laid_out.borrow().layout.height()
    }

    /// How many pixels of the table a scrolled pixel is.
    fn table_from_scroll(&self, view_height: f64) -> f64 {
        let height = self.table_height();
        if height <= HIGHEST_SPACER { 1.0 } else { (height - view_height) / (HIGHEST_SPACER - view_height).max(1.0) }
    }

    fn head_width(&self, view_width: f64) -> f64 {
        head_width(&self.layout(), view_width, self.zoom())
    }

    fn size_spacer(&self) {
        let width = f64::from(self.scroller.client_width());
        let cells = self.layout().columns.width(self.zoom());
        let style = self.spacer.style();
        let _ = style.set_property("width", &format!("{}px", length(self.head_width(width) + cells + RIGHT_MARGIN)));
        let _ = style.set_property("height", &format!("{}px", length(self.table_height().min(HIGHEST_SPACER))));
    }

    fn scroll_to(&self, x: f64, y: f64) {
        let scale = self.table_from_scroll(f64::from(self.scroller.client_height()));
        self.scroller.set_scroll_left(x.round() as i32);
        self.scroller.set_scroll_top((y / scale).round() as i32);
    }

    /// The place to keep: under the pointer that zooms, else the active cell, else the upper left corner.
    fn anchor(&self, dataset: &Dataset) -> Option<Anchor> {
        self.with_scene(dataset, |scene| {
            let in_view = |x: f64, y: f64| {
                x >= scene.head_width() && x < scene.view.width && y >= TABLE_TOP && y < scene.view.height
            };
            let active = scene.active.and_then(|place| scene.cell_rect(place));
            let active = active.map(|rect| (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0));
            let corner = (scene.head_width(), TABLE_TOP + HEAD_HEIGHT);
            let (view_x, view_y) = self.zoom_at.take().or(active.filter(|(x, y)| in_view(*x, *y))).unwrap_or(corner);
            let table_y = view_y - TABLE_TOP + scene.view.scroll_y;
            let line = scene.layout.lines_between(table_y, table_y + 1.0).next();
            let (top, height) = line.map_or((0.0, 1.0), |line| scene.layout.extent(line));
            let (columns, zoom) = (&scene.layout.columns, scene.zoom);
            let table_x = view_x - scene.head_width() + scene.view.scroll_x;
            let column = columns.at(table_x, zoom).and_then(|slot| {
                let part = (table_x - columns.x(slot, zoom)) / columns.slot_width(slot, zoom);
                Some((columns.slot(slot)?.column, part))
            });
            Some(Anchor {
                view_x,
                view_y,
                column,
                line: line.and_then(|line| scene.layout.line(line)),
                line_part: if height > 0.0 { (table_y - top) / height } else { 0.0 },
            })
        })
    }

    fn keep(&self, anchor: &Anchor) {
        let (layout, zoom) = (self.layout(), self.zoom());
        let line = match anchor.line {
            Some(Line::Row(row) | Line::Fold(row, _)) => layout.line_of(row),
            Some(Line::Head(band) | Line::Alike(band, _)) => {
                let dataset = self.page.dataset_untracked();
                let first = dataset.and_then(|dataset| Some(dataset.index().bands.get(band as usize)?.first_row));
                first.and_then(|row| layout.line_of(row)).and_then(|line| match anchor.line {
                    Some(Line::Head(_)) => layout.head_before(line),
                    _ => Some(line),
                })
            }
            None => None,
        };
        let view = self.view();
        let y = line.map_or(view.scroll_y, |line| {
            let (top, height) = layout.extent(line);
            top + anchor.line_part * height - (anchor.view_y - TABLE_TOP)
        });
        let slot = anchor.column.and_then(|(column, part)| Some((layout.columns.slot_of(column)?, part)));
        let x = slot.map_or(0.0, |(slot, part)| {
            let at = layout.columns.x(slot, zoom) + part * layout.columns.slot_width(slot, zoom);
            // A view that began with the heads still does.
            let head_width = self.head_width(view.width);
            at - (anchor.view_x.max(head_width) - head_width)
        });
        self.scroll_to(x.max(0.0), y.max(0.0));
    }
}
