//! Above the table: what of it is shown, and how large.

use hangscope_analyzer_core::report::ColourBy;
use hangscope_analyzer_core::tree_set::TreeSet;
use leptos::prelude::*;

use crate::overview::op_name;
use crate::page::Page;
use crate::table::contradictions::Contradictions;
use crate::table::filter_bar::FilterBar;
use crate::table::layer_legend::LayerLegend;
use crate::table::shown::Shown;
use crate::table::zoom::Zoom;
use crate::text;

/// More groups than this are found by the filter's text, not in a list.
const MOST_LISTED: usize = 100;

#[component]
pub(crate) fn Toolbar() -> impl IntoView {
    let page = Page::of_context();
    let filter_is_open = RwSignal::new(false);
    let rows = move || {
        let dataset = page.dataset()?;
        let (shown, all) = (u64::from(page.stats.get().rows), dataset.rows().len() as u64);
        Some(if shown == all {
            text::counted(all, "row")
        } else {
            format!("{} of {}", text::thousands(shown), text::counted(all, "row"))
        })
    };
    let columns = move || {
        let (stats, all) = (page.stats.get(), u64::from(page.dataset()?.column_count()));
        let (columns, ranks) = (u64::from(stats.columns), u64::from(stats.ranks));
        let columns_text = text::counted(columns, "column");
        Some(match (columns == ranks, ranks == all) {
            (true, true) => columns_text,
            (true, false) => format!("{} of {}", text::thousands(ranks), text::counted(all, "rank")),
            (false, _) => format!("{columns_text} for {}", text::counted(ranks, "rank")),
        })
    };
    let zoom_button = move |label: &'static str, sign: &'static str, next: fn(Zoom) -> Zoom| {
        let at_end = move || (next(page.zoom.get()) == page.zoom.get()).then_some("true");
        view! {
            <button aria-label=label aria-disabled=at_end on:click=move |_| page.zoom.update(|zoom| *zoom = next(*zoom))>
                {sign}
            </button>
        }
    };
    view! {
        <div class="bar">
            <Colours />
            <Rows />
            <span class="grow"></span>
            <span class="rowcount">{rows}</span>
            <span class="colcount">{columns}</span>
            <span class="seg" role="group" aria-label="Size of a cell">
                {zoom_button("Zoom out", "−", Zoom::farther)}
                <span aria-live="off">{move || page.zoom.get().label()}</span>
                {zoom_button("Zoom in", "+", Zoom::closer)}
                <button
                    aria-label="Fit all ranks"
                    title="Fit all ranks, and with a second click all rows (0)"
                    on:click=move |_| page.fit.update(|count| *count += 1)
                >
                    "fit"
                </button>
            </span>
        </div>
        <div class="bar folds">
            <Groups />
            <Ops />
            <button
                class="chip"
                class:on=move || filter_is_open.get() || page.shown.with(|shown| !shown.filter.is_empty())
                aria-expanded=move || filter_is_open.get().to_string()
                aria-controls="filter"
                on:click=move |_| filter_is_open.update(|open| *open = !*open)
            >
                {move || if page.shown.with(|shown| shown.filter.is_empty()) { "Filter" } else { "Filtered" }}
            </button>
            <span class="foldchips" role="group" aria-label="What is folded">
                <span>"fold"</span>
                <FoldChip label="agreeing rows" key="f" folded=|shown| shown.folded fold=Shown::fold_rows />
                <FoldChip label="equal ranks" key="e" folded=|shown| shown.ranks_folded fold=Shown::fold_ranks />
                <FoldChip label="groups alike" key="g" folded=|shown| shown.groups_folded fold=Shown::fold_groups />
            </span>
            <span class="grow"></span>
            <select
                class="chip"
                aria-label="Order of the columns"
                on:change=move |event| page.shown.update(|shown| shown.by_status = event_target_value(&event) == "status")
            >
                <option value="rank" selected=move || page.shown.with(|shown| !shown.by_status)>"columns by rank"</option>
                <option value="status" selected=move || page.shown.with(|shown| shown.by_status)>"columns by status"</option>
            </select>
            <button
                class="chip"
                class:on=move || page.map.get()
                aria-pressed=move || page.map.get().to_string()
                title="A map of the whole table (m)"
                on:click=move |_| page.map.update(|map| *map = !*map)
            >
                "map"
            </button>
        </div>
        <Show when=move || filter_is_open.get()>
            <FilterBar />
        </Show>
        <LayerLegend />
        <Contradictions />
    }
}

/// What the colour of a cell tells.
#[component]
fn Colours() -> impl IntoView {
    let page = Page::of_context();
    let colours = [
        (None, "State", "Colour cells by their state"),
        (Some(ColourBy::Signature), "Signature", "Colour cells by operation, sizes and dtypes"),
        (Some(ColourBy::CallSite), "Call site", "Colour cells by the place in the code that called"),
    ];
    let buttons = colours.map(|(by, label, title)| {
        let is_on = move || page.colour.get() == by;
        view! {
            <button class:on=is_on aria-pressed=move || is_on().to_string() title=title on:click=move |_| page.colour_by(by)>
                {label}
            </button>
        }
    });
    view! { <span class="seg" role="group" aria-label="Colour of the cells">{buttons}</span> }
}

/// The order of the rows.
#[component]
fn Rows() -> impl IntoView {
    let page = Page::of_context();
    let is_ordered = move || page.shown.with(|shown| shown.order.is_some());
    let button = move |order: bool, label: &'static str, title: &'static str| {
        let is_on = move || is_ordered() == order;
        view! {
            <button
                class:on=is_on
                aria-pressed=move || is_on().to_string()
                title=title
                on:click=move |_| page.show_program_order(order)
            >
                {label}
            </button>
        }
    };
    view! {
        <span class="seg" role="group" aria-label="Order of the rows">
            {button(false, "By group", "Rows of one group after the other")}
            {button(true, "Program order", "Rows of all groups in the order in which the ranks issued them")}
        </span>
    }
}

/// One kind of fold: on or off.
#[component]
fn FoldChip(
    label: &'static str,
    key: &'static str,
    folded: fn(&Shown) -> bool,
    fold: fn(&mut Shown, bool),
) -> impl IntoView {
    let page = Page::of_context();
    let is_on = move || page.shown.with(folded);
    view! {
        <button
            class="chip"
            class:on=is_on
            aria-pressed=move || is_on().to_string()
            title=format!("Fold or unfold {label} ({key})")
            on:click=move |_| {
                let wanted = !page.shown.with_untracked(folded);
                page.shown.update(|shown| fold(shown, wanted));
            }
        >
            {label}
        </button>
    }
}

#[component]
fn Groups() -> impl IntoView {
    let page = Page::of_context();
    let groups = move || {
        let dataset = page.dataset()?;
        let bands = &dataset.index().bands;
        let option = |(index, band): (usize, &hangscope_analyzer_core::report::Band)| {
            let label = if band.p2p { format!("{}, messages", band.label) } else { band.label.clone() };
            let is_selected = move || page.shown.with(|shown| shown.filter.band == u32::try_from(index).ok());
            view! { <option value=index.to_string() selected=is_selected>{label}</option> }
        };
        let listed = bands.iter().enumerate().take(MOST_LISTED).map(option).collect_view();
        let others = (bands.len() as u64).checked_sub(MOST_LISTED as u64).filter(|others| *others > 0);
        let others = others.map(|others| {
            let about = format!("{} more: by Filter", text::thousands(others));
            view! { <option disabled=true>{about}</option> }
        });
        Some(view! { {listed} {others} })
    };
    view! {
        <select
            class="chip"
            aria-label="Groups to show"
            on:change=move |event| page.shown.update(|shown| shown.filter.band = event_target_value(&event).parse().ok())
        >
            <option value="" selected=move || page.shown.with(|shown| shown.filter.band.is_none())>"all groups"</option>
            {groups}
        </select>
    }
}

#[component]
fn Ops() -> impl IntoView {
    let page = Page::of_context();
    let ops = move || {
        let dataset = page.dataset()?;
        let names: TreeSet<&str> = TreeSet::from_iter(dataset.rows().ops().iter().map(|op| op_name(op)));
        let option = |name: &str| {
            let (value, known) = (name.to_owned(), name.to_owned());
            let selected = move || page.shown.with(|shown| shown.filter.op.as_deref() == Some(known.as_str()));
            view! { <option value=value selected=selected>{name.to_owned()}</option> }
        };
        Some(names.into_iter().map(option).collect_view())
    };
    view! {
        <select
            class="chip"
            aria-label="Operations to show"
            on:change=move |event| {
                let op = Some(event_target_value(&event)).filter(|op| !op.is_empty());
                page.shown.update(|shown| shown.filter.op = op);
            }
        >
            <option value="" selected=move || page.shown.with(|shown| shown.filter.op.is_none())>"all ops"</option>
            {ops}
        </select>
    }
}
