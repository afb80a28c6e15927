//! Above the table: what of it is shown, and how large.

use std::collections::BTreeSet;

use leptos::prelude::*;

use crate::page::Page;
use crate::table::layout::{TableLayout, op_name};
use crate::text;

#[component]
pub(crate) fn Toolbar() -> impl IntoView {
    let page = Page::of_context();
    let groups = move || {
        let dataset = page.dataset()?;
        let names = dataset.index.bands.iter().enumerate();
        Some(
            names
                .map(|(index, band)| {
                    let label = if band.p2p { format!("{}, messages", band.label) } else { band.label.clone() };
                    view! { <option value=index.to_string() selected=move || page.shown.with(|shown| shown.band == u32::try_from(index).ok())>{label}</option> }
                })
                .collect_view(),
        )
    };
    let ops = move || {
        let dataset = page.dataset()?;
        let names: BTreeSet<&str> = dataset.index.rows.ops().iter().map(|op| op_name(op)).collect();
        Some(
            names
                .into_iter()
                .map(|name| {
                    let (value, known) = (name.to_owned(), name.to_owned());
                    let selected = move || page.shown.with(|shown| shown.op.as_deref() == Some(known.as_str()));
                    view! { <option value=value selected=selected>{name.to_owned()}</option> }
                })
                .collect_view(),
        )
    };
    let rows = move || {
        let dataset = page.dataset()?;
        let layout = TableLayout::new(&dataset, &page.shown.get(), page.zoom.get());
        let (shown, all) = (u64::from(layout.rows_shown), dataset.index.rows.len() as u64);
        Some(if shown == all {
            text::counted(all, "row")
        } else {
            format!("{} of {}", text::thousands(shown), text::counted(all, "row"))
        })
    };
    let can_fold = move || page.dataset().is_some_and(|dataset| dataset.index.rows.iter().any(|row| row.agrees));
    view! {
        <div class="bar">
            <select
                class="chip"
                aria-label="Groups to show"
                on:change=move |event| page.shown.update(|shown| shown.band = event_target_value(&event).parse().ok())
            >
                <option value="" selected=move || page.shown.with(|shown| shown.band.is_none())>"all groups"</option>
                {groups}
            </select>
            <select
                class="chip"
                aria-label="Operations to show"
                on:change=move |event| {
                    page.shown.update(|shown| shown.op = Some(event_target_value(&event)).filter(|op| !op.is_empty()));
                }
            >
                <option value="" selected=move || page.shown.with(|shown| shown.op.is_none())>"all ops"</option>
                {ops}
            </select>
            <button
                class="chip"
                class:on=move || page.shown.with(|shown| shown.folded)
                disabled=move || !can_fold()
                aria-pressed=move || page.shown.with(|shown| shown.folded).to_string()
                on:click=move |_| page.shown.update(|shown| {
                    shown.folded = !shown.folded;
                    shown.opened.clear();
                })
            >
                "agreeing rows folded"
            </button>
            <span class="grow"></span>
            <span class="rowcount">{rows}</span>
            <span class="seg" role="group" aria-label="Size of a cell">
                <button aria-label="Zoom out" on:click=move |_| page.zoom.update(|zoom| *zoom = zoom.farther())>"−"</button>
                <span aria-live="off">{move || format!("{} px", page.zoom.get().cell_width())}</span>
                <button aria-label="Zoom in" on:click=move |_| page.zoom.update(|zoom| *zoom = zoom.closer())>"+"</button>
                <button aria-label="Fit all ranks" title="Fit all ranks (0)" on:click=move |_| page.fit.update(|count| *count += 1)>"fit"</button>
            </span>
        </div>
    }
}
