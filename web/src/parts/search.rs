//! Find an operation, a function, a group or a rank, and go there.

use hangscope_analyzer_core::report::RowNumber;
use leptos::html;
use leptos::prelude::*;

use crate::dataset::{CellPlace, Dataset};
use crate::load::protocol::FunctionHit;
use crate::page::Page;

/// The id by which a key on the page finds the field.
pub(crate) const FIELD: &str = "find";

/// How many hits of a kind are enough.
const ENOUGH: usize = 5;

/// A place that the search leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hit {
    kind: &'static str,
    text: String,
    row: Option<u32>,
    column: Option<u32>,
}

#[component]
pub(crate) fn Search() -> impl IntoView {
    let page = Page::of_context();
    let field = NodeRef::<html::Input>::new();
    let (query, set_query) = signal(String::new());
    let (chosen, set_chosen) = signal(0_usize);
    let (is_open, set_open) = signal(false);
    let hits = Memo::new(move |_| {
        let (query, functions) = (query.get(), page.functions.get());
        page.dataset().map(|dataset| find(&dataset, query.trim(), &functions)).unwrap_or_default()
    });
    let go = move |hit: &Hit| {
        if let Some(cell) =
            page.dataset_untracked().and_then(|dataset| cell_of(&dataset, hit, page.active.get_untracked()))
        {
            page.panel_open.set(true);
            page.go_to(cell);
            page.focus_table.update(|count| *count += 1);
        }
        set_open.set(false);
    };
    let on_input = move |event| {
        let text = event_target_value(&event);
        if text.trim().chars().count() >= 2 {
            page.find_function(text.trim().to_owned());
        }
        set_query.set(text);
        set_chosen.set(0);
        set_open.set(true);
    };
    let on_key = move |event: web_sys::KeyboardEvent| {
        let count = hits.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" if count > 0 => set_chosen.update(|chosen| *chosen = (*chosen + 1) % count),
            "ArrowUp" if count > 0 => set_chosen.update(|chosen| *chosen = (*chosen + count - 1) % count),
            "Enter" => {
                if let Some(hit) = hits.with_untracked(|hits| hits.get(chosen.get_untracked()).cloned()) {
                    go(&hit);
                }
            }
            "Escape" => {
                set_open.set(false);
                page.focus_table.update(|count| *count += 1);
            }
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let list = move || {
        let hits = hits.get();
        if hits.is_empty() {
            return view! { <li class="none">"Nothing found"</li> }.into_any();
        }
        hits.into_iter()
            .enumerate()
            .map(|(index, hit)| {
                let label = hit.text.clone();
                let kind = hit.kind;
                view! {
                    <li
                        role="option"
                        id=format!("hit-{index}")
                        aria-selected=move || (chosen.get() == index).to_string()
                        // Before the field loses the keyboard.
                        on:mousedown=move |event| {
                            event.prevent_default();
                            go(&hit);
                        }
                    >
                        <span class="muted">{kind}</span>
                        <span>{label}</span>
                    </li>
                }
            })
            .collect_view()
            .into_any()
    };
    let shows_list = move || is_open.get() && !query.with(|query| query.trim().is_empty());
    view! {
        <div class="find">
            <input
                id=FIELD
                node_ref=field
                type="text"
                role="combobox"
                autocomplete="off"
                spellcheck="false"
                placeholder="Find op, function, rank…"
                aria-label="Find an operation, a function, a group or a rank"
                aria-expanded=move || shows_list().to_string()
                aria-controls="hits"
                aria-activedescendant=move || shows_list().then(|| format!("hit-{}", chosen.get()))
                on:input=on_input
                on:keydown=on_key
                on:focus=move |_| set_open.set(true)
                on:blur=move |_| set_open.set(false)
            />
            <kbd aria-hidden="true">"/"</kbd>
            <Show when=shows_list>
                <ul id="hits" role="listbox" aria-label="Found">{list}</ul>
            </Show>
        </div>
    }
}

fn find(dataset: &Dataset, query: &str, (asked, functions): &(String, Vec<FunctionHit>)) -> Vec<Hit> {
    if query.is_empty() {
        return Vec::new();
    }
    let wanted = query.to_ascii_lowercase();
    let mut hits = Vec::new();
    let number = wanted.strip_prefix("rank").map_or(wanted.as_str(), str::trim);
    if let Some(column) = number.parse().ok().and_then(|rank| dataset.column(rank)) {
        hits.push(Hit { kind: "rank", text: number.to_owned(), row: None, column: Some(column) });
    }
    let bands =
        dataset.index().bands.iter().filter(|band| {
            [&band.label, &band.desc].into_iter().any(|text| text.to_ascii_lowercase().contains(&wanted))
        });
    hits.extend(bands.take(ENOUGH).map(|band| Hit {
        kind: "group",
        text: format!("{} {}", band.label, band.desc),
        row: Some(band.first_row),
        column: None,
    }));
    if asked == query {
        hits.extend(functions.iter().take(ENOUGH).map(|hit| Hit {
            kind: "function",
            text: format!("{} {}", hit.function, hit.place),
            row: Some(hit.row),
            column: None,
        }));
    }
    // From each band its last row of that name: the one nearest to the hang.
    let heads = dataset.rows();
    let ops: Vec<bool> = heads.ops().iter().map(|op| op.to_ascii_lowercase().contains(&wanted)).collect();
    let (has_op, number) = (ops.contains(&true), wanted.parse().ok().map(RowNumber::Collective));
    let is_message = wanted.contains('→');
    let is_wanted = |row: &u32| {
        let of_op = has_op && heads.op_of(*row).is_some_and(|op| ops.get(op as usize).copied().unwrap_or(false));
        let of_number = || heads.get(*row).is_some_and(|head| Some(head.number) == number);
        let of_message = || heads.get(*row).is_some_and(|head| head.number.to_string() == wanted);
        of_op || (number.is_some() && of_number()) || (is_message && of_message())
    };
    let searched = if has_op || number.is_some() || is_message { dataset.index().bands.as_slice() } else { &[] };
    let rows = searched.iter().filter_map(|band| {
        let rows = band.first_row..band.first_row.saturating_add(band.row_count);
        let row = rows.rev().find(is_wanted)?;
        let head = dataset.row(row)?;
        Some(Hit {
            kind: "row",
            text: format!("{} {}, {}", head.number, head.op, band.label),
            row: Some(row),
            column: None,
        })
    });
    hits.extend(rows.take(ENOUGH));
    hits
}

/// The cell to go to: what the hit leaves open, the active cell fills in.
fn cell_of(dataset: &Dataset, hit: &Hit, active: Option<CellPlace>) -> Option<CellPlace> {
    let column = hit.column.or(active.map(|active| active.column)).unwrap_or(0);
    if let Some(row) = hit.row {
        let (_, band) = dataset.band_of(row)?;
        let column = band.columns.iter().copied().min_by_key(|candidate| candidate.abs_diff(column))?;
        return Some(CellPlace { row, column });
    }
    let has_cell = |row: u32| dataset.band_of(row).is_some_and(|(_, band)| band.columns.binary_search(&column).is_ok());
    let row = active.map(|active| active.row).filter(|row| has_cell(*row));
    // A rank outside of the active row: the last row of the first band that it is in.
    let row = row.or_else(|| {
        let bands = dataset.index().bands.iter().filter(|band| band.row_count > 0);
        bands.map(|band| band.first_row + band.row_count - 1).find(|row| has_cell(*row))
    })?;
    Some(CellPlace { row, column })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn check(query: &str, expected: &[(&str, &str)]) {
        let functions = (
            "attn".to_owned(),
            vec![FunctionHit { function: "attention".to_owned(), place: "a.py:3".to_owned(), row: 2 }],
        );
        let hits = find(&example::dataset(), query, &functions);
        let hits: Vec<_> = hits.iter().map(|hit| (hit.kind, hit.text.as_str())).collect();
        assert_eq!(hits, expected, "{query}");
    }

    #[test]
    fn finds_by_kind() {
        check("5", &[("rank", "5")]);
        check("rank 5", &[("rank", "5")]);
        check("99", &[]);
        check("TP[", &[("group", "tp[4-7] mesh")]);
        check("attn", &[("function", "attention a.py:3")]);
        check("reduce", &[("row", "18 all_reduce [4096], tp[4-7]"), ("row", "3 all_reduce [4096], world")]);
        check("", &[]);
    }

    #[test]
    fn leads_to_cells() {
        let dataset = example::dataset();
        let check = |row, column, active: Option<(u32, u32)>, expected| {
            let hit = Hit { kind: "", text: String::new(), row, column };
            let active = active.map(|(row, column)| CellPlace { row, column });
            let cell = cell_of(&dataset, &hit, active).map(|cell| (cell.row, cell.column));
            assert_eq!(cell, expected);
        };
        check(Some(3), None, None, Some((3, 4)));
        check(Some(3), None, Some((11, 6)), Some((3, 6)));
        check(None, Some(6), Some((9, 5)), Some((9, 6)));
        check(None, Some(2), Some((9, 5)), Some((12, 2)));
        check(None, Some(6), None, Some((9, 6)));
        check(Some(99), None, None, None);
    }
}
