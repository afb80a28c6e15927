//! The map of the whole table beside it. It is for the pointer alone: the keys that move in the table lead everywhere.

use leptos::html;
use leptos::prelude::*;
use web_sys::{HtmlCanvasElement, PointerEvent};

/// The map's canvas. `on_canvas` is told of it, and that it has gone; `on_point` of a point of it that is pressed or dragged over.
#[component]
pub(crate) fn MapView(
    on_canvas: impl Fn(Option<HtmlCanvasElement>) + Copy + Send + Sync + 'static,
    on_point: impl Fn(f64, f64) + Copy + 'static,
) -> impl IntoView {
    let canvas = NodeRef::<html::Canvas>::new();
    let is_pressed = StoredValue::new(false);
    Effect::new(move |_| {
        if let Some(canvas) = canvas.get() {
            on_canvas(Some(canvas));
        }
    });
    on_cleanup(move || on_canvas(None));
    let go = move |event: &PointerEvent| on_point(f64::from(event.offset_x()), f64::from(event.offset_y()));
    view! {
        <div class="map" title="The whole table: drag to move" aria-hidden="true">
            <canvas
                node_ref=canvas
                on:pointerdown=move |event| {
                    is_pressed.set_value(true);
                    // The frame is followed even outside of the map.
                    if let Some(canvas) = canvas.get_untracked() {
                        let _ = canvas.set_pointer_capture(event.pointer_id());
                    }
                    go(&event);
                }
                on:pointermove=move |event| {
                    if is_pressed.get_value() {
                        go(&event);
                    }
                }
                on:pointerup=move |_| is_pressed.set_value(false)
                on:pointercancel=move |_| is_pressed.set_value(false)
            ></canvas>
        </div>
    }
}
