//! The ways to open dumps without a drop.

use leptos::html;
use leptos::prelude::*;

use crate::load::pick;
use crate::page::Page;

#[component]
pub(crate) fn OpenButtons() -> impl IntoView {
    let page = Page::of_context();
    let (folder, files) = (NodeRef::<html::Input>::new(), NodeRef::<html::Input>::new());
    let click = |input: NodeRef<html::Input>| {
        if let Some(input) = input.get_untracked() {
            // So that the same folder can be picked again.
            input.set_value("");
            input.click();
        }
    };
    let picked = move |input: NodeRef<html::Input>| {
        if let Some(list) = input.get_untracked().and_then(|input| input.files())
            && list.length() > 0
        {
            page.open(pick::picked(&list));
        }
    };
    view! {
        <div class="acts">
            <button class="primary" on:click=move |_| click(folder)>"Choose a folder…"</button>
            <button on:click=move |_| click(files)>"Choose files…"</button>
            <button on:click=move |_| page.open_sample()>"Open the sample job"</button>
            <input
                type="file"
                class="unseen"
                tabindex="-1"
                aria-hidden="true"
                node_ref=folder
                prop:webkitdirectory=true
                on:change=move |_| picked(folder)
            />
            <input type="file" class="unseen" tabindex="-1" aria-hidden="true" multiple node_ref=files on:change=move |_| picked(files) />
        </div>
    }
}
