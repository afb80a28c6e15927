//! The strip of all ranks for the keyboard and for screen readers. What is seen of it stands on the canvas.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{FocusEvent, HtmlElement, KeyboardEvent};

use crate::dataset::Dataset;
use crate::page::Page;
use crate::parts::open_panel;
use crate::rank_status;
use crate::table::strip::Strip;

/// How many ranks a page key moves: a part of all.
const PAGES: u32 = 16;

/// Where a key leads from a column.
fn moved(dataset: &Dataset, from: u32, key: &str, control: bool) -> Option<u32> {
    let last = dataset.column_count().checked_sub(1)?;
    let page = (last / PAGES).max(1);
    let differs = |column: &u32| dataset.status(*column) != dataset.status(from);
    Some(match key {
        // To the next rank that has another status.
        "ArrowRight" if control => (from..=last).find(differs).unwrap_or(last),
        "ArrowLeft" if control => (0..from).rev().find(differs).unwrap_or(0),
        "ArrowRight" => (from + 1).min(last),
        "ArrowLeft" => from.saturating_sub(1),
        "PageDown" => (from + page).min(last),
        "PageUp" => from.saturating_sub(page),
        "Home" => 0,
        "End" => last,
        _ => return None,
    })
}

fn option_id(column: u32) -> String {
    format!("rank-{column}")
}

/// The elements: one rank can be focused, its neighbours are there so that the keyboard finds them. `on_focus` is told of the rank that has
/// the keyboard and of its place, or that none has it.
#[component]
pub(crate) fn RankStrip(
    #[prop(into)] strip: Signal<Strip>,
    on_focus: impl Fn(Option<(u32, Strip)>) + Copy + Send + 'static,
) -> impl IntoView {
    let page = Page::of_context();
    let at = RwSignal::new(0_u32);
    // It begins at the active cell's rank, and follows that.
    Effect::new(move |_| {
        page.version.track();
        at.set(page.active.get().map_or(0, |active| active.column));
    });
    let window = Memo::new(move |_| {
        let count = page.dataset().map_or(0, |dataset| dataset.column_count());
        let at = at.get().min(count.saturating_sub(1));
        let version = page.version.get();
        let columns = at.saturating_sub(1)..at.saturating_add(2).min(count);
        columns.map(|column| (version, column)).collect::<Vec<_>>()
    });
    let on_key = move |event: KeyboardEvent| {
        let Some(dataset) = page.dataset_untracked().filter(|_| !event.alt_key() && !event.meta_key()) else { return };
        let (key, from) = (event.key(), at.get_untracked());
        if key == "Enter" || key == " " {
            event.prevent_default();
            open_rank(page, from);
        } else if let Some(to) = moved(&dataset, from, &key, event.ctrl_key()) {
            event.prevent_default();
            at.set(to);
            // The element is there after what depends on the signal has run.
            request_animation_frame(move || {
                let element = document().get_element_by_id(&option_id(to));
                if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
                    let _ = element.focus();
                }
            });
        }
    };
    let label = move || {
        page.dataset().map(|dataset| {
            format!("All ranks. Arrow keys move, Enter shows the rank. {}", rank_status::summary(&dataset))
        })
    };
    let option = move |(_, column): (u32, u32)| {
        let is_current = move || at.get() == column;
        let about = move || page.dataset().map(|dataset| rank_status::describe(&dataset, column));
        let style = move || strip.get().mark(column).style();
        view! {
            <div
                role="option"
                class="stripcell"
                id=option_id(column)
                style=style
                tabindex=move || if is_current() { "0" } else { "-1" }
                aria-selected=move || is_current().to_string()
                aria-posinset=column + 1
                aria-setsize=move || page.dataset().map_or(0, |dataset| dataset.column_count())
                aria-label=about
                on:focus=move |_: FocusEvent| on_focus(Some((column, strip.get_untracked())))
                on:blur=move |_| on_focus(None)
            ></div>
        }
    };
    view! {
        <div class="strip" role="listbox" aria-orientation="horizontal" aria-label=label on:keydown=on_key>
            <For each=move || window.get() key=|item| *item children=option />
        </div>
    }
}

/// Shows a rank: its column, the cell that tells most of it, and the panel.
pub(crate) fn open_rank(page: Page, column: u32) {
    let Some(dataset) = page.dataset_untracked() else { return };
    if let Some(cell) = rank_status::telling_cell(&dataset, column, page.active.get_untracked()) {
        open_panel(page);
        page.go_to(cell);
    }
    page.announcement.set(rank_status::describe(&dataset, column));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn keys_move_along_the_ranks() {
        let dataset = example::dataset();
        let check = |from, key, control, expected| assert_eq!(moved(&dataset, from, key, control), expected, "{key}");
        check(3, "ArrowRight", false, Some(4));
        check(7, "ArrowRight", false, Some(7));
        check(0, "ArrowLeft", false, Some(0));
        check(0, "ArrowRight", true, Some(4));
        check(4, "ArrowRight", true, Some(5));
        check(5, "ArrowLeft", true, Some(4));
        check(6, "ArrowRight", true, Some(7));
        check(3, "Home", false, Some(0));
        check(3, "End", false, Some(7));
        check(3, "PageDown", false, Some(4));
        check(3, "x", false, None);
    }
}
