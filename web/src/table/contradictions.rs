//! Where ranks contradict each other: no order of the rows agrees with what all of them did.

use hangscope_analyzer_core::report::Contradiction;
use leptos::prelude::*;

use crate::dataset::{CellPlace, Dataset};
use crate::page::Page;
use crate::rank_status;
use crate::text;

/// So many are listed.
const LISTED: usize = 4;

/// Above the table, while its rows are in one order.
#[component]
pub(crate) fn Contradictions() -> impl IntoView {
    let page = Page::of_context();
    let list = move || {
        let order = page.shown.with(|shown| shown.order.clone())?;
        let dataset = page.dataset()?;
        let all = u64::from(order.0.contradicted);
        if all == 0 {
            return Some(view! { <p class="order">"No two ranks contradict each other: this order agrees with every rank's own."</p> }.into_any());
        }
        let items = order.0.contradictions.iter().take(LISTED).map(|found| {
            let (about, place) = (in_words(&dataset, found), first_place(&dataset, found));
            let go = move |_| {
                if let Some(place) = place {
                    page.go_to(place);
                    page.focus_table.update(|count| *count += 1);
                }
            };
            view! { <li><button class="link" on:click=go>{about}</button></li> }
        });
        let items = items.collect_view();
        let place = if all == 1 { "place" } else { "places" };
        let head = format!("⇅ Ranks contradict each other in {} {place}", text::thousands(all));
        Some(view! { <div class="order"><strong>{head}</strong><ul>{items}</ul></div> }.into_any())
    };
    view! { {list} }
}

/// `ranks 0-3: all_reduce 18 of tp[0,1] before barrier 3 of world; ranks 4-7: the other way round`.
pub(crate) fn in_words(dataset: &Dataset, found: &Contradiction) -> String {
    let row = |row: &u32| {
        let (head, band) = (dataset.row(*row), dataset.band_of(*row));
        let op = head.map(|head| format!("{} {}", crate::overview::op_name(head.op), head.number)).unwrap_or_default();
        format!("{op} of {}", band.map_or("", |(_, band)| band.label.as_str()))
    };
    let ranks =
        |at: usize| found.ranks.get(at).map(|ranks| text::ranks(&rank_status::short(ranks))).unwrap_or_default();
    match found.rows.as_slice() {
        [first, second] => {
            format!("{}: {} before {}; {}: the other way round", ranks(0), row(first), row(second), ranks(1))
        }
        rows => {
            let around = rows.iter().chain(rows.first()).map(row).collect::<Vec<_>>();
            format!("the orders go round: {}", around.join(", before "))
        }
    }
}

/// The cell of the first row and the first rank that issued it first.
fn first_place(dataset: &Dataset, found: &Contradiction) -> Option<CellPlace> {
    let row = *found.rows.first()?;
    let rank = hangscope_analyzer_core::report::ranks_in(found.ranks.first()?).next()?;
    Some(CellPlace { row, column: dataset.column(rank)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn a_contradiction_in_words() {
        let dataset = example::dataset();
        let found = Contradiction { rows: vec![9, 11], ranks: vec!["4-5".to_owned(), "6".to_owned()] };
        assert_eq!(
            in_words(&dataset, &found),
            "ranks 4-5: all_reduce 18 of tp[4-7] before all_reduce 2 of world; rank 6: the other way round"
        );
        assert_eq!(first_place(&dataset, &found), Some(CellPlace { row: 9, column: 4 }));
        let found = Contradiction { rows: vec![9, 11, 12], ranks: vec!["4".to_owned(); 3] };
        assert_eq!(
            in_words(&dataset, &found),
            "the orders go round: all_reduce 18 of tp[4-7], before all_reduce 2 of world, before all_reduce 3 of world, before all_reduce 18 of tp[4-7]"
        );
    }
}
