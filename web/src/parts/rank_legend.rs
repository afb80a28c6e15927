//! What the strip's colours and shapes mean, and how many ranks of each there are. A click leads to the next of them.

use leptos::prelude::*;

use crate::page::Page;
use crate::rank_status;
use crate::table::open_rank;

#[component]
pub(crate) fn RankLegend() -> impl IntoView {
    let page = Page::of_context();
    let keys = move || {
        let dataset = page.dataset()?;
        let keys = rank_status::counts(&dataset).into_iter().map(|count| {
            let title = format!("{}: {}", count.label(), count.ranks);
            let (label, ranks) = (count.label(), count.ranks.clone());
            let next = move |_| {
                let at = page.active.get_untracked().map(|active| active.column);
                let after = count.columns.iter().find(|column| at.is_none_or(|at| **column > at));
                if let Some(column) = after.or(count.columns.first()) {
                    open_rank(page, *column);
                }
            };
            view! {
                <button class="rankkey" title=title on:click=next>
                    <i class=rank_status::class(count.status) aria-hidden="true"></i>
                    {label}
                    " "
                    <b>{ranks}</b>
                </button>
            }
        });
        Some(keys.collect_view())
    };
    view! { <div class="ranklegend" role="group" aria-label="Ranks by their part in it; each leads to the next of them">{keys}</div> }
}
