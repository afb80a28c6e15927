//! The page's root.

use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use crate::worker;

/// Mounts the page. `glue_url` is the absolute address of the glue, which workers load as well.
#[wasm_bindgen]
pub fn start(glue_url: String) {
    mount_to_body(move || view! { <App glue_url /> });
}

#[component]
fn App(glue_url: String) -> impl IntoView {
    let (worker_state, set_worker_state) = signal("starting");
    if worker::spawn(&glue_url, move || set_worker_state.set("ready")).is_err() {
        set_worker_state.set("failed");
    }
    view! {
        <main>
            <h1>"hangscope"</h1>
            <p id="worker" data-state=worker_state>"worker " {worker_state}</p>
        </main>
    }
}
