//! What is left out of the table: by group, state, rank, and the place in the code.

use leptos::prelude::*;

use crate::page::Page;
use crate::table::shown::{Filter, StateFilter, parse_ranks};

#[component]
pub(crate) fn FilterBar() -> impl IntoView {
    let page = Page::of_context();
    let filter = move |change: &dyn Fn(&mut Filter)| page.shown.update(|shown| change(&mut shown.filter));
    let text_of = move |part: fn(&Filter) -> String| move || page.shown.with(|shown| part(&shown.filter));
    let ranks_are_wrong = move || page.shown.with(|shown| parse_ranks(&shown.filter.ranks).is_none());
    let states = StateFilter::ALL.map(|state| {
        let is_selected = move || page.shown.with(|shown| shown.filter.state == Some(state));
        view! { <option value=state.label() selected=is_selected>{state.label()}</option> }
    });
    view! {
        <div class="bar filter" id="filter" role="group" aria-label="Filter">
            <label>
                "group "
                <input
                    type="text"
                    size="12"
                    placeholder="tp[0-7]"
                    spellcheck="false"
                    autocomplete="off"
                    prop:value=text_of(|filter| filter.group.clone())
                    on:input=move |event| filter(&|filter| filter.group = event_target_value(&event))
                />
            </label>
            <label>
                "state "
                <select
                    class="chip"
                    on:change=move |event| {
                        filter(&|filter| filter.state = StateFilter::of_label(&event_target_value(&event)));
                    }
                >
                    <option value="" selected=move || page.shown.with(|shown| shown.filter.state.is_none())>"any state"</option>
                    {states}
                </select>
            </label>
            <label>
                "ranks "
                <input
                    type="text"
                    size="12"
                    placeholder="0-7,64-"
                    spellcheck="false"
                    autocomplete="off"
                    prop:value=text_of(|filter| filter.ranks.clone())
                    aria-invalid=move || ranks_are_wrong().to_string()
                    title=move || if ranks_are_wrong() { "Ranks and ranges of ranks: 0-7,64-" } else { "" }
                    on:input=move |event| filter(&|filter| filter.ranks = event_target_value(&event))
                />
            </label>
            <label>
                "called from "
                <input
                    type="text"
                    size="16"
                    placeholder="function or file"
                    spellcheck="false"
                    autocomplete="off"
                    prop:value=text_of(|filter| filter.frame.as_ref().map(|frame| frame.text.clone()).unwrap_or_default())
                    // Not with every letter: all call stacks are looked through.
                    on:change=move |event| page.filter_frame(event_target_value(&event).trim().to_owned())
                />
            </label>
            <button
                disabled=move || page.shown.with(|shown| shown.filter.is_empty())
                on:click=move |_| page.shown.update(|shown| shown.filter = Filter::default())
            >
                "Show all"
            </button>
        </div>
    }
}
