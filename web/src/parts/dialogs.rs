//! What opens over the page: other dumps, the notes on the data, the keys.

use hangscope_analyzer_core::report::Quality;
use leptos::html;
use leptos::prelude::*;

use crate::page::{Dialog, Page};
use crate::parts::open_buttons::OpenButtons;

/// Keys and what they do.
const KEYS: [(&[&str], &str); 18] = [
    (&["←", "→", "↑", "↓"], "move from cell to cell"),
    (&["Home", "End"], "first and last rank of the row"),
    (&["Ctrl Home", "Ctrl End"], "first and last row"),
    (&["Page Up", "Page Down"], "a screen up or down"),
    (&["Enter"], "call stack of the cell; on a fold: unfold it"),
    (&["Esc"], "close what is open"),
    (&["n", "p"], "next and previous finding"),
    (&["/"], "find an operation, a function or a rank"),
    (&["+", "−"], "zoom; so does the wheel with Ctrl"),
    (&["0"], "zoom so that all ranks fit; again: all rows too"),
    (&["←", "→", "Ctrl →"], "in the strip of ranks: next rank, next of another status; Enter shows it"),
    (&["Ctrl ←", "Ctrl →"], "next cell of another state"),
    (&["Ctrl ↑", "Ctrl ↓"], "next row that does not agree"),
    (&["f", "e", "g"], "fold or unfold agreeing rows, equal ranks, groups that are alike"),
    (&["u"], "unfold the equal ranks of this column"),
    (&["b"], "close or open this group"),
    (&["m"], "map of the whole table"),
    (&["?"], "this list"),
];

#[component]
pub(crate) fn Dialogs() -> impl IntoView {
    let page = Page::of_context();
    let element = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let wanted = page.dialog.get().is_some();
        if let Some(dialog) = element.get() {
            if wanted && !dialog.open() {
                let _ = dialog.show_modal();
            } else if !wanted && dialog.open() {
                dialog.close();
            }
        }
    });
    let title = move || match page.dialog.get() {
        Some(Dialog::Open) => "Open dumps",
        Some(Dialog::Keys) => "Keys",
        Some(Dialog::Notes) => "Notes on the data",
        None => "",
    };
    view! {
        <dialog
            node_ref=element
            aria-labelledby="dialog-title"
            // The browser closes it by itself with Esc.
            on:close=move |_| page.dialog.set(None)
            on:click=move |event| {
                // The backdrop is the dialogue itself; what stands in it covers the rest.
                if event_target::<web_sys::Element>(&event).tag_name() == "DIALOG" {
                    page.dialog.set(None);
                }
            }
        >
            <div class="dialog">
                <div class="dialoghead">
                    <h2 id="dialog-title">{title}</h2>
                    <button on:click=move |_| page.dialog.set(None)>"Close"</button>
                </div>
                {move || match page.dialog.get() {
                    Some(Dialog::Open) => view! { <p>"Drop a folder of Flight Recorder dumps anywhere on the page, or"</p><OpenButtons /> }.into_any(),
                    Some(Dialog::Keys) => view! { <KeyList /> }.into_any(),
                    Some(Dialog::Notes) => view! { <NotesList /> }.into_any(),
                    None => ().into_any(),
                }}
            </div>
        </dialog>
    }
}

#[component]
fn KeyList() -> impl IntoView {
    let rows = KEYS.map(|(keys, about)| {
        let keys = keys.iter().map(|key| view! { <kbd>{*key}</kbd> }).collect_view();
        view! { <dt>{keys}</dt><dd>{about}</dd> }
    });
    view! { <dl class="keys">{rows.collect_view()}</dl> }
}

/// What could not be read or is uncertain: file or rank, and what that means.
#[component]
pub(crate) fn NotesList() -> impl IntoView {
    let page = Page::of_context();
    let notes = move || {
        let dataset = page.dataset()?;
        let item = |quality: &Quality| {
            let place = match (&quality.file, quality.rank) {
                (Some(file), Some(rank)) => format!("{file} (rank {rank})"),
                (Some(file), None) => file.clone(),
                (None, Some(rank)) => format!("rank {rank}"),
                (None, None) => "the job".to_owned(),
            };
            view! {
                <li>
                    <div><span class="chip">{quality.kind.name().replace('_', " ")}</span> " " <b>{place}</b></div>
                    <div class="muted">{quality.detail.clone()}</div>
                </li>
            }
        };
        Some(dataset.report.data_quality.iter().map(item).collect_view())
    };
    view! { <ul class="notes">{notes}</ul> }
}
