//! The page's lower edge: the legend, the notes on the data, the promise.

use leptos::prelude::*;

use crate::page::{Dialog, Page, Phase};
use crate::text;

#[component]
pub(crate) fn Footer() -> impl IntoView {
    let page = Page::of_context();
    const KEYS: [(&str, &str); 8] = [
        ("completed", "completed"),
        ("started", "started"),
        ("scheduled", "scheduled"),
        ("missing", "missing × (origin)"),
        ("follows", "not issued (follows from it)"),
        ("mismatch", "differs ◆ ◇"),
        ("unknown", "not recorded"),
        ("nodump", "no dump"),
    ];
    // Where the colours mean something else, these states are not told apart.
    let keys = move || {
        let first = if page.colour.get().is_some() { 3 } else { 0 };
        let keys = KEYS.into_iter().skip(first);
        keys.map(|(class, label)| view! { <span class="key"><i class=class aria-hidden="true"></i>{label}</span> })
            .collect_view()
    };
    let notes = move || {
        let count = page.dataset()?.report.data_quality.len() as u64;
        (count > 0).then(|| {
            view! {
                <button class="link" on:click=move |_| page.dialog.set(Some(Dialog::Notes))>
                    {text::counted(count, "note")} " on the data"
                </button>
            }
        })
    };
    view! {
        <footer>
            <Show when=move || page.phase.get() == Phase::Loaded>
                {keys}
            </Show>
            <span class="grow"></span>
            <Show when=move || page.phase.get() == Phase::Loaded>{notes}</Show>
            <span>"Nothing leaves this browser"</span>
        </footer>
    }
}
