//! The page's root.

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{DragEvent, HtmlElement, KeyboardEvent};

use crate::load::{pick, viewer};
use crate::page::{Dialog, Page, Phase};
use crate::parts::{
    Dialogs, FIND_FIELD, Failed, Findings, Footer, Header, Landing, NothingReadable, Panel, RankLegend, Reading,
    TooLarge, Verdict,
};
use crate::table::{Table, Toolbar};

/// Mounts the page. `glue_url` is the absolute address of the glue, which workers load as well.
#[wasm_bindgen]
pub fn start(glue_url: String) {
    mount_to_body(move || view! { <App glue_url /> });
}

#[component]
fn App(glue_url: String) -> impl IntoView {
    let page = Page::new(glue_url);
    provide_context(page);
    listen(page);
    if let Some(list) = viewer::viewer_list() {
        page.open_later(async move { viewer::fetch_list(&list).await });
    }
    // The table stays mounted while something else is read or goes wrong, and comes back as it was.
    let is_loaded = Memo::new(move |_| page.phase.get() == Phase::Loaded);
    let was_loaded = Memo::new(move |before: Option<&bool>| before.copied().unwrap_or(false) || is_loaded.get());
    // The first time, the verdict comes a task before the rest: all of it is too much for one.
    let has_table = RwSignal::new(false);
    Effect::new(move |_| {
        if was_loaded.get() {
            set_timeout(move || has_table.set(true), Duration::ZERO);
        }
    });
    view! {
        <a
            class="skip"
            href="#table"
            hidden=move || !is_loaded.get()
            on:click=move |event| {
                event.prevent_default();
                page.focus_table.update(|count| *count += 1);
            }
        >
            "Skip to the table"
        </a>
        <Header />
        <div class="body" class:away=move || !is_loaded.get()>
            <Show when=move || was_loaded.get()>
                <Findings />
                <Verdict />
                <Show when=move || has_table.get()>
                    <main class="work">
                        <div class="tablebox"><Toolbar /><RankLegend /><Table /></div>
                        <Panel />
                    </main>
                </Show>
            </Show>
        </div>
        {move || match page.phase.get() {
            Phase::Landing => view! { <Landing /> }.into_any(),
            Phase::Reading => view! { <Reading /> }.into_any(),
            Phase::NothingReadable => view! { <NothingReadable /> }.into_any(),
            Phase::Failed { title, reason, in_worker } => view! { <Failed title reason in_worker /> }.into_any(),
            Phase::TooLarge { title, bytes, needed_bytes } => view! { <TooLarge title bytes needed_bytes /> }.into_any(),
            Phase::Loaded => ().into_any(),
        }}
        <Footer />
        <Dialogs />
        <div class="dropcover" class:on=move || page.dragging.get() aria-hidden="true"><p>"Drop the dumps anywhere"</p></div>
        <div class="unseen" role="status" aria-live="polite">{move || page.announcement.get()}</div>
    }
}

/// Drops anywhere on the page, and the keys that mean the same everywhere.
fn listen(page: Page) {
    let has_files =
        |event: &DragEvent| event.data_transfer().is_some_and(|transfer| transfer.types().includes(&"Files".into(), 0));
    window_event_listener(ev::dragenter, move |event| {
        if has_files(&event) {
            event.prevent_default();
            page.dragging.set(true);
        }
    });
    window_event_listener(ev::dragover, move |event| {
        if has_files(&event) {
            // Without this the browser opens the file in place of the page.
            event.prevent_default();
            page.dragging.set(true);
        }
    });
    window_event_listener(ev::dragleave, move |event| {
        // Out of the window, and not from one element to another.
        if event.related_target().is_none() {
            page.dragging.set(false);
        }
    });
    window_event_listener(ev::drop, move |event| {
        page.dragging.set(false);
        if let Some(transfer) = event.data_transfer().filter(|_| has_files(&event)) {
            event.prevent_default();
            // The items are taken out here, before anything waits.
            page.open_later(pick::dropped(&transfer));
        }
    });
    window_event_listener(ev::keydown, move |event| {
        if !event.default_prevented() && pressed(page, &event) {
            event.prevent_default();
        }
    });
}

/// Whether the key meant something.
fn pressed(page: Page, event: &KeyboardEvent) -> bool {
    let types = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok());
    let types = types.is_some_and(|element| matches!(element.tag_name().as_str(), "INPUT" | "SELECT" | "TEXTAREA"));
    if types || event.ctrl_key() || event.alt_key() || event.meta_key() || page.dialog.get_untracked().is_some() {
        return false;
    }
    let is_loaded = page.phase.get_untracked() == Phase::Loaded;
    match event.key().as_str() {
        "?" => page.dialog.set(Some(Dialog::Keys)),
        "Escape" if page.phase.get_untracked() == Phase::Reading => page.cancel(),
        "Escape" if is_loaded => {
            if page.more.get_untracked().is_some() {
                page.more.set(None);
            } else {
                page.panel_open.set(false);
            }
        }
        "n" if is_loaded => page.step_finding(true),
        "p" if is_loaded => page.step_finding(false),
        "+" | "=" if is_loaded => page.zoom.update(|zoom| *zoom = zoom.closer()),
        "-" if is_loaded => page.zoom.update(|zoom| *zoom = zoom.farther()),
        "0" if is_loaded => page.fit.update(|count| *count += 1),
        "f" if is_loaded => page.shown.update(|shown| shown.fold_rows(!shown.folded)),
        "e" if is_loaded => page.shown.update(|shown| shown.fold_ranks(!shown.ranks_folded)),
        "g" if is_loaded => page.shown.update(|shown| shown.fold_groups(!shown.groups_folded)),
        "m" if is_loaded => page.map.update(|map| *map = !*map),
        "/" if is_loaded => {
            let field = document().get_element_by_id(FIND_FIELD).and_then(|field| field.dyn_into::<HtmlElement>().ok());
            if let Some(field) = field {
                let _ = field.focus();
            }
        }
        _ => return false,
    }
    true
}
