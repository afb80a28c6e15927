//! The page's upper edge: what is loaded, the search, and the way to open something else.

use leptos::prelude::*;

use crate::page::{Dialog, Page, Phase};
use crate::parts::search::Search;
use crate::text;

#[component]
pub(crate) fn Header() -> impl IntoView {
    let page = Page::of_context();
    let is_loaded = Memo::new(move |_| page.phase.get() == Phase::Loaded);
    let job = move || {
        let dataset = page.dataset().filter(|_| is_loaded.get())?;
        let job = &dataset.report.job;
        let all = job.world_size.map_or_else(|| dataset.index().ranks.len() as u64, u64::from);
        let loaded = u64::from(job.ranks_loaded);
        let ranks = if loaded < all {
            format!("{} of {}", text::thousands(loaded), text::counted(all, "rank"))
        } else {
            text::counted(loaded, "rank")
        };
        let facts = [ranks, text::counted(job.groups.into(), "group"), text::entries(job.entries)].join(" · ");
        Some(view! { <div class="job"><strong>{dataset.title.clone()}</strong><span>{facts}</span></div> })
    };
    view! {
        <header>
            <div class="logo">
                <i aria-hidden="true"><b></b><b></b><b></b><b></b><b></b><b></b><b></b><b></b><b></b></i>
                "hangscope"
            </div>
            {job}
            <div class="grow"></div>
            <Show when=move || is_loaded.get()>
                <Search />
                <button on:click=move |_| page.dialog.set(Some(Dialog::Open))>"Open…"</button>
            </Show>
            <button class="help" aria-label="Keys" title="Keys" on:click=move |_| page.dialog.set(Some(Dialog::Keys))>"?"</button>
        </header>
    }
}
