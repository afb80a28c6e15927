//! What is left out of the table: by group, state, rank, and the place in the code.

use std::time::Duration;

use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::page::Page;
use crate::table::shown::{Filter, StateFilter, parse_ranks};

/// All call stacks are looked through: not with every letter of a word that is being typed.
const PAUSE: Duration = Duration::from_millis(200);

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
    let on_frame = move |event| {
        let text = event_target_value(&event);
        page.frame.set(text.clone());
        set_timeout(
            move || {
                if page.frame.get_untracked() == text {
                    page.filter_frame();
                }
            },
            PAUSE,
        );
    };
    let on_frame_key = move |event: KeyboardEvent| {
        let key = event.key();
        if key == "Escape" {
            page.frame.set(String::new());
        }
        if key == "Escape" || key == "Enter" {
            page.filter_frame();
        }
    };
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
                    prop:value=page.frame
                    on:input=on_frame
                    on:keydown=on_frame_key
                />
            </label>
            <button
                disabled=move || page.shown.with(|shown| shown.filter.is_empty())
                on:click=move |_| {
                    page.frame.set(String::new());
                    page.shown.update(|shown| shown.filter = Filter::default());
                }
            >
                "Show all"
            </button>
        </div>
    }
}
