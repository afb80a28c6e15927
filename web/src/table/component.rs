//! The table on the page: a scroll container, the canvas in it, and the elements over the canvas.

use std::rc::Rc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{KeyboardEvent, MouseEvent, ResizeObserver, WheelEvent};

use crate::page::{Page, Phase};
use crate::parts::{open_panel, panel_covers};
use crate::rank_status;
use crate::table::contradictions;
use crate::table::controller::Controller;
use crate::table::cursor::{Step, moved, nearest_cell};
use crate::table::describe;
use crate::table::grid::{GridRow, GridWindow, cell_id};
use crate::table::layout::Line;
use crate::table::map_view::MapView;
use crate::table::rank_strip::{RankStrip, open_rank};
use crate::table::scene::Target;
use crate::table::strip::{self, Strip};
use crate::text::length;

/// The hint at the pointer, and where it is.
#[derive(Clone, Debug, Default, PartialEq)]
struct Hint {
    text: String,
    x: f64,
    y: f64,
    /// Whether it stands to the left of the pointer, because there is no room to the right.
    to_left: bool,
}

#[component]
pub(crate) fn Table() -> impl IntoView {
    let page = Page::of_context();
    let (scroller, spacer) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    let canvas = NodeRef::<html::Canvas>::new();
    let grid_rows = RwSignal::new(Vec::<GridRow>::new());
    let strip = RwSignal::new(Strip::default());
    let hint = RwSignal::new(None::<Hint>);
    let controller = StoredValue::new_local(None::<Rc<Controller>>);
    let with = move |run: &dyn Fn(&Rc<Controller>)| {
        if let Some(controller) = controller.try_get_value().flatten() {
            run(&controller);
        }
    };

    // Not the effect's own: that is cleaned up whenever it runs.
    let owner = Owner::current();
    Effect::new(move |_| {
        if let (Some(scroller), Some(spacer), Some(canvas)) = (scroller.get(), spacer.get(), canvas.get())
            && controller.with_value(Option::is_none)
        {
            let element = scroller.clone();
            let Some(owner) = &owner else { return };
            let made = owner.with(|| {
                // Without a canvas there still are the verdict and the panel.
                let made = Controller::new(page, scroller.into(), spacer.into(), canvas, grid_rows, strip).ok()?;
                watch_surroundings(&made, &element);
                Some(made)
            });
            let Some(made) = made else { return };
            controller.set_value(Some(made));
        }
        if let Some(controller) = controller.get_value() {
            controller.follow();
        }
    });
    Effect::new(move |before: Option<u32>| {
        let count = page.focus_table.get();
        if before.is_some_and(|before| before != count) {
            with(&|controller| controller.focus());
        }
        count
    });

    let place_of = |event: &MouseEvent| (f64::from(event.offset_x()), f64::from(event.offset_y()));
    let on_click = move |event: MouseEvent| {
        let (x, y) = place_of(&event);
        with(&|controller| clicked(page, controller, controller.target_at(x, y)));
    };
    let is_right = move |x: f64| {
        let width = scroller.get_untracked().map_or(0.0, |scroller| f64::from(scroller.client_width()));
        x > width * 0.6
    };
    // The keyboard's mark in the strip says the same as the pointer over it.
    let on_rank = move |rank: Option<(u32, Strip)>| {
        let text = rank.and_then(|(column, strip)| {
            let (dataset, mark) = (page.dataset_untracked()?, strip.mark(column));
            let (x, y) = (mark.x + mark.width / 2.0, mark.y + mark.height);
            Some(Hint { text: rank_status::describe(&dataset, column), x, y, to_left: is_right(x) })
        });
        hint.try_update(|hint| *hint = text);
    };
    let on_move = move |event: MouseEvent| {
        let (x, y) = place_of(&event);
        with(&|controller| {
            let text = controller.target_at(x, y).and_then(|target| hint_text(page, controller, target));
            let new = text.map(|text| Hint { text, x, y, to_left: is_right(x) });
            if hint.with_untracked(|old| *old != new) {
                hint.set(new);
            }
        });
    };
    let on_wheel = move |event: WheelEvent| {
        if event.ctrl_key() {
            event.prevent_default();
            let (x, y) = place_of(&event);
            with(&|controller| controller.zoom_at(x, y, event.delta_y() < 0.0));
        }
    };
    let on_key = move |event: KeyboardEvent| {
        if !event.alt_key() && !event.meta_key() {
            with(&|controller| {
                if pressed(page, controller, &event) {
                    event.prevent_default();
                }
            });
        }
    };
    // Keys that move, with nothing to move in: they mean the table. Where the page scrolls they do that.
    window_event_listener(ev::keydown, move |event| {
        let is_nowhere = event.target() == document().body().map(Into::into);
        if is_nowhere
            && page.phase.get_untracked() == Phase::Loaded
            && page.dialog.get_untracked().is_none()
            && Step::of_key(&event.key(), event.ctrl_key(), 1).is_some()
            && !panel_covers()
        {
            with(&|controller| controller.focus());
            on_key(event);
        }
    });
    view! {
        <div class="tablewrap">
            <RankStrip strip on_focus=on_rank />
            <div
                class="scroller"
                id="table"
                node_ref=scroller
                role="grid"
                tabindex="0"
                aria-label="Collectives by rank. Arrow keys move, Enter shows the call stack"
                aria-rowcount=move || page.stats.get().lines
                aria-colcount=move || page.stats.get().columns + 1
                aria-activedescendant=move || page.active.get().map(cell_id)
                on:scroll=move |_| {
                    hint.set(None);
                    with(&|controller| controller.request_frame());
                }
                on:keydown=on_key
                on:wheel=on_wheel
            >
                <div class="spacer" node_ref=spacer role="presentation">
                    <div class="sticky" role="presentation">
                        <canvas
                            node_ref=canvas
                            aria-hidden="true"
                            on:click=on_click
                            on:mousemove=on_move
                            on:mouseleave=move |_| hint.set(None)
                        ></canvas>
                        <GridWindow rows=grid_rows />
                    </div>
                </div>
            </div>
            <p
                class="norows"
                hidden=move || page.stats.get().lines > 0 || page.shown.with(|shown| shown.filter.is_empty())
            >
                "No row passes the filter"
            </p>
            <Show when=move || page.map.get()>
                <MapView
                    on_canvas=move |canvas| with(&|controller| controller.set_map(canvas.clone()))
                    on_point=move |x, y| with(&|controller| controller.go_to_map(x, y))
                />
            </Show>
            {move || {
                hint.get()
                    .map(|hint| {
                        let style = if hint.to_left {
                            format!("right:calc(100% - {}px);top:{}px", length(hint.x - 12.0), length(hint.y + 16.0))
                        } else {
                            format!("left:{}px;top:{}px", length(hint.x + 14.0), length(hint.y + 16.0))
                        };
                        view! { <div class="hint" aria-hidden="true" style=style>{hint.text}</div> }
                    })
            }}
        </div>
    }
}

/// Draws again when the window's size or the system's colours change.
fn watch_surroundings(controller: &Rc<Controller>, element: &web_sys::Element) {
    let for_size = Rc::clone(controller);
    let on_size = Closure::<dyn FnMut()>::new(move || for_size.resized());
    if let Ok(observer) = ResizeObserver::new(on_size.as_ref().unchecked_ref()) {
        observer.observe(element);
        on_cleanup_local(move || {
            observer.disconnect();
            drop(on_size);
        });
    }
    let dark = window().match_media("(prefers-color-scheme: dark)").ok().flatten();
    if let Some(dark) = dark {
        let for_theme = Rc::clone(controller);
        let on_theme = Closure::<dyn FnMut()>::new(move || for_theme.update_theme());
        let _ = dark.add_event_listener_with_callback("change", on_theme.as_ref().unchecked_ref());
        on_cleanup_local(move || {
            let _ = dark.remove_event_listener_with_callback("change", on_theme.as_ref().unchecked_ref());
        });
    }
}

/// As `on_cleanup`, for what belongs to this thread.
pub(crate) fn on_cleanup_local(clean: impl FnOnce() + 'static) {
    let clean = StoredValue::new_local(Some(Box::new(clean) as Box<dyn FnOnce()>));
    on_cleanup(move || {
        if let Some(clean) = clean.try_update_value(Option::take).flatten() {
            clean();
        }
    });
}

fn clicked(page: Page, controller: &Controller, target: Option<Target>) {
    let Some(dataset) = page.dataset_untracked() else { return };
    let layout = controller.layout();
    let open = |cell| {
        open_panel(page);
        page.go_to(cell);
    };
    match target {
        Some(Target::Cell(place)) => {
            // A click beside the group's ranks means the nearest of them.
            if let Some(cell) = nearest_cell(&dataset, &layout, place.row, place.column) {
                open(cell);
            }
        }
        Some(Target::RowHead(row)) => {
            let column = page.active.get_untracked().map_or(0, |active| active.column);
            if let Some(cell) = nearest_cell(&dataset, &layout, row, column) {
                open(cell);
            }
        }
        Some(Target::Strip(first, end)) => {
            if let Some(column) = strip::worst(&dataset, first..end) {
                controller.center_column(column);
                open_rank(page, column);
            }
        }
        Some(Target::Number(slot)) => {
            let folded = layout.columns.slot(slot).filter(|slot| slot.count > 1);
            unfold_ranks(page, folded.map(|slot| slot.column));
        }
        Some(Target::Head(band)) => page.shown.update(|shown| shown.toggle_band(band)),
        Some(Target::Fold(first)) => page.shown.update(|shown| {
            shown.opened.insert(first);
        }),
        Some(Target::Alike(band)) => unfold_groups(page, band),
        None => {}
    }
}

/// Shows every rank that is like this one in a column of its own.
fn unfold_ranks(page: Page, column: Option<u32>) {
    let kinds = page.dataset_untracked();
    let kind = column.zip(kinds).and_then(|(column, dataset)| dataset.likeness().ranks.get(column as usize).copied());
    if let Some(kind) = kind {
        page.shown.update(|shown| {
            shown.opened_ranks.insert(kind);
        });
    }
}

/// Shows every group that is like this one.
fn unfold_groups(page: Page, band: u32) {
    let kind = page.dataset_untracked().and_then(|dataset| dataset.likeness().bands.get(band as usize).copied());
    if let Some(kind) = kind {
        page.shown.update(|shown| {
            shown.opened_groups.insert(kind);
        });
    }
}

fn hint_text(page: Page, controller: &Controller, target: Target) -> Option<String> {
    let dataset = page.dataset_untracked()?;
    match target {
        Target::Cell(place) => {
            let code = dataset.code(place);
            if code.state() == hangscope_analyzer_core::report::CellCode::NONE {
                return None;
            }
            let kind = page.layer_untracked().and_then(|layer| {
                let (_, band) = dataset.band_of(place.row)?;
                let position = band.columns.binary_search(&place.column).ok()?;
                layer.label(layer.row(dataset.index(), band, place.row).get(position)).map(|label| format!(", {label}"))
            });
            Some(describe::place(&dataset, &controller.layout(), place) + &kind.unwrap_or_default())
        }
        Target::RowHead(row) => {
            let (head, (_, band)) = (dataset.row(row)?, dataset.band_of(row)?);
            let order = page.shown.with_untracked(|shown| shown.order.clone());
            let found = order.as_ref().and_then(|order| order.contradictions_of(row).next());
            let contradiction = found.map(|found| format!(". {}", contradictions::in_words(&dataset, found)));
            Some(format!("row {} {}, {}{}", head.number, head.op, band.label, contradiction.unwrap_or_default()))
        }
        Target::Strip(first, end) => Some(rank_status::describe_all(&dataset, first..end)),
        Target::Number(slot) => Some(describe::column(&dataset, &controller.layout(), slot)),
        Target::Head(band) => {
            let band = dataset.index().bands.get(band as usize)?;
            Some(format!("{}: group {} of {}", band.label, band.name, crate::text::ranks(&band.ranks)))
        }
        Target::Fold(_) | Target::Alike(_) => Some("Click to unfold".to_owned()),
    }
}

/// Whether the key meant something here.
fn pressed(page: Page, controller: &Controller, event: &KeyboardEvent) -> bool {
    let Some(dataset) = page.dataset_untracked() else { return false };
    let key = event.key();
    let layout = controller.layout();
    let Some(active) = page.active.get_untracked() else {
        // The first key that moves goes to the first cell.
        if Step::of_key(&key, event.ctrl_key(), 1).is_some()
            && let Some(row) = layout.stop_from(&dataset, 0, true)
            && let Some(cell) = nearest_cell(&dataset, &layout, row, 0)
        {
            page.activate(cell);
            page.announcement.set(describe::place(&dataset, &layout, cell));
            controller.bring_into_view(cell);
            return true;
        }
        return false;
    };
    let line = layout.line_of(active.row).and_then(|line| layout.line(line));
    match (key.as_str(), line) {
        ("Enter" | " ", Some(Line::Fold(first, _))) => page.shown.update(|shown| {
            shown.opened.insert(first);
        }),
        ("Enter" | " ", Some(Line::Alike(band, _))) => unfold_groups(page, band),
        ("Enter" | " ", Some(Line::Head(band))) => page.shown.update(|shown| shown.toggle_band(band)),
        ("Enter" | " ", _) => {
            open_panel(page);
            page.ask_detail();
        }
        ("u", _) if !event.ctrl_key() => unfold_ranks(page, Some(active.column)),
        ("b", _) if !event.ctrl_key() => {
            if let Some((band, _)) = dataset.band_of(active.row).filter(|_| !layout.is_program_order()) {
                page.shown.update(|shown| shown.toggle_band(band as u32));
            }
        }
        _ => {
            let Some(step) = Step::of_key(&key, event.ctrl_key(), controller.page_lines()) else { return false };
            let wanted = page.wanted_column.get_value();
            if let Some(cell) = moved(&dataset, &layout, active, wanted, step) {
                if step.is_sideways() {
                    page.wanted_column.set_value(cell.column);
                }
                page.activate(cell);
                page.announcement.set(describe::place(&dataset, &layout, cell));
                controller.bring_into_view(cell);
            }
        }
    }
    true
}
