//! The panel: one cell in full, beside the other side of its row.

use hangscope_analyzer_core::report::{CellDetail, OtherSide};
use leptos::prelude::*;

use crate::page::Page;
use crate::parts::stack::Stack;
use crate::text;

/// Up to this width of the window the panel is a sheet over its lower part.
const NARROW: f64 = 960.0;

/// Whether the panel, when it is open, lies over the table and not beside it.
pub(crate) fn panel_covers() -> bool {
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    width.is_some_and(|width| width <= NARROW)
}

/// Opens the panel. Where it lies over the table, the page scrolls so far that it does not hide the cell that it is about.
pub(crate) fn open_panel(page: Page) {
    page.panel_open.set(true);
    if !panel_covers() {
        return;
    }
    // After the frame in which the table is drawn and the sheet is there.
    request_animation_frame(|| request_animation_frame(uncover_active_cell));
}

fn uncover_active_cell() {
    let element = |selector| document().query_selector(selector).ok().flatten();
    let cell = element(r#"[role="gridcell"][aria-selected="true"]"#);
    if let (Some(cell), Some(panel)) = (cell, element(".panel.open")) {
        let hidden = cell.get_bounding_client_rect().bottom() - panel.get_bounding_client_rect().top();
        if hidden > 0.0 {
            window().scroll_by_with_x_and_y(0.0, hidden + 24.0);
        }
    }
}

#[component]
pub(crate) fn Panel() -> impl IntoView {
    let page = Page::of_context();
    Effect::new(move |_| {
        page.version.track();
        if page.active.get().is_some() && page.panel_open.get() {
            page.ask_detail();
        }
    });
    let content = move || {
        if !page.panel_open.get() || page.active.get().is_none() {
            return view! { <p class="empty">"Click a cell, or press Enter on one, to see its call stack beside that of the other ranks"</p> }.into_any();
        }
        // Until the answer for this cell is there, the last one stays: nothing flickers.
        match page.detail.get() {
            Some(detail) => view! { <Details detail=detail /> }.into_any(),
            None => ().into_any(),
        }
    };
    view! {
        <aside class="panel" class:open=move || page.panel_open.get() && page.active.get().is_some() aria-label="Cell">
            <button class="close" aria-label="Close the panel" on:click=move |_| page.panel_open.set(false)>"Close"</button>
            {content}
        </aside>
    }
}

#[component]
fn Details(detail: CellDetail) -> impl IntoView {
    let mut sub = vec![detail.group.clone(), format!("rank {}", detail.rank)];
    if detail.waiting_ns > 0 {
        sub.push(format!("waiting at least {}", text::duration(detail.waiting_ns)));
    }
    let facts = facts(&detail).into_iter().map(|(name, value, more)| {
        let more = (!more.is_empty()).then(|| view! { <small>{more}</small> });
        view! { <dt>{name}</dt><dd>{value}{more}</dd> }
    });
    let other = detail.other.clone().unwrap_or_default();
    let (title, about) = stack_title(&detail);
    // Where nothing can be known of the rank there is no stack to miss.
    let has_stack = !detail.frames.is_empty() || !matches!(detail.state.as_str(), "no dump" | "not recorded");
    let other_view = detail.other.clone().map(|other| {
        let differences = other_facts(&detail, &other).into_iter().map(|(name, value)| view! { <dt>{name}</dt><dd>{value}</dd> });
        view! {
            <div class="otherside">
                <h3 class="otherhead">{text::sentence(&text::ranks(&other.ranks))} " " <span>{other_title(&other)}</span></h3>
                <dl>{differences.collect_view()}</dl>
                {(!other.frames.is_empty()).then(|| view! {
                    <Stack
                        title=format!("Call stack, {}", text::ranks(&other.ranks))
                        about=String::new()
                        frames=other.frames.clone()
                        other=detail.frames.clone()
                    />
                })}
            </div>
        }
    });
    view! {
        <h2>{heading(&detail)}</h2>
        <div class="sub">{sub.join(" · ")}</div>
        {(!detail.note.is_empty()).then(|| view! { <p class="note">{detail.note.clone()}</p> })}
        {(detail.state == "no dump")
            .then(|| {
                view! {
                    <p class="note muted">
                        {format!("Look for the file that rank {} should have left, and at the end of its log: ", detail.rank)}
                        "did it stop before it could dump, or was its file not copied?"
                    </p>
                }
            })}
        <dl>{facts.collect_view()}</dl>
        <div class="stacks">
            {has_stack.then(|| view! { <Stack title about frames=detail.frames.clone() other=other.frames /> })}
            {other_view}
        </div>
    }
}

/// `all_reduce, row 18`; `send, message 0→1 #3`.
fn heading(detail: &CellDetail) -> String {
    let noun = if detail.number.contains('→') { "message" } else { "row" };
    format!("{}, {noun} {}", detail.op, detail.number)
}

/// Name, value, and what is said in small letters beside it.
fn facts(detail: &CellDetail) -> Vec<(&'static str, String, String)> {
    let mut facts = vec![("state", detail.state.clone(), String::new())];
    let mut add = |name, value: String, more: String| {
        if !value.is_empty() {
            facts.push((name, value, more));
        }
    };
    let tensor = |sizes: &str, dtypes: &str| {
        [sizes, dtypes].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    };
    add("input", tensor(&detail.input_sizes, &detail.input_dtypes), String::new());
    add("output", tensor(&detail.output_sizes, &detail.output_dtypes), String::new());
    if detail.created_ns > 0 {
        let wall_clock = text::utc(detail.created_ns);
        let (value, more) = match detail.after_first {
            Some((first, nanos)) if nanos > 0 => (format!("+{} after rank {first}", text::duration(nanos)), wall_clock),
            Some((first, _)) if first == detail.rank => ("first".to_owned(), wall_clock),
            Some((first, _)) => (format!("with rank {first}"), wall_clock),
            None => (wall_clock, String::new()),
        };
        add("issued", value, more);
    }
    let since = |name, at: i64, add: &mut dyn FnMut(&'static str, String, String)| {
        if at > 0 {
            let wall_clock = text::utc(at);
            if detail.created_ns > 0 && at >= detail.created_ns {
                add(name, format!("+{} after issue", text::duration(at - detail.created_ns)), wall_clock);
            } else {
                add(name, wall_clock, String::new());
            }
        }
    };
    since("started", detail.started_ns, &mut add);
    since("completed", detail.completed_ns, &mut add);
    if let Some(millis) = detail.duration_ms {
        add("on device", text::duration((f64::from(millis) * 1e6) as i64), String::new());
    }
    if detail.timeout_ms > 0 {
        add("time limit", text::duration(i64::from(detail.timeout_ms) * 1_000_000), String::new());
    }
    add("thread", detail.thread.clone(), String::new());
    facts
}

fn stack_title(detail: &CellDetail) -> (String, String) {
    let about = detail.other.as_ref().filter(|other| !other.frames.is_empty());
    let about = about.map(|other| format!("against {}", text::ranks(&other.ranks))).unwrap_or_default();
    if detail.frames_of_last_op {
        (format!("Rank {} left here", detail.rank), about)
    } else {
        (format!("Call stack, rank {}", detail.rank), about)
    }
}

fn other_title(other: &OtherSide) -> String {
    if other.op.is_empty() { "issued nothing here".to_owned() } else { format!("{}, {}", other.op, other.state) }
}

/// What of the other side's arguments is not the same.
fn other_facts(detail: &CellDetail, other: &OtherSide) -> Vec<(&'static str, String)> {
    let rows = [
        ("input", &other.input_sizes, &detail.input_sizes),
        ("output", &other.output_sizes, &detail.output_sizes),
        ("dtype", &other.input_dtypes, &detail.input_dtypes),
    ];
    rows.into_iter()
        .filter(|(_, theirs, mine)| theirs != mine && !theirs.is_empty())
        .map(|(name, theirs, _)| (name, theirs.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail() -> CellDetail {
        CellDetail {
            rank: 34,
            state: "started".to_owned(),
            input_sizes: "[4096]".to_owned(),
            input_dtypes: "BFloat16".to_owned(),
            created_ns: 1_786_716_131_482_000_000,
            started_ns: 1_786_716_131_483_500_000,
            after_first: Some((32, 300_000)),
            timeout_ms: 600_000,
            ..CellDetail::default()
        }
    }

    #[test]
    fn headings() {
        let detail = |op: &str, number: &str| CellDetail {
            op: op.to_owned(),
            number: number.to_owned(),
            ..CellDetail::default()
        };
        assert_eq!(heading(&detail("all_reduce", "18")), "all_reduce, row 18");
        assert_eq!(heading(&detail("send", "0→1 #3")), "send, message 0→1 #3");
    }

    #[test]
    fn times_are_differences_first() {
        let facts = facts(&detail());
        let facts: Vec<_> = facts.iter().map(|(name, value, more)| (*name, value.as_str(), more.as_str())).collect();
        assert_eq!(
            facts,
            [
                ("state", "started", ""),
                ("input", "[4096] BFloat16", ""),
                ("issued", "+0.3 ms after rank 32", "2026-08-14 14:02:11.482 UTC"),
                ("started", "+1.5 ms after issue", "2026-08-14 14:02:11.483 UTC"),
                ("time limit", "10 min 0 s", ""),
            ]
        );
    }

    #[test]
    fn a_rank_that_issued_nothing() {
        let detail =
            CellDetail { rank: 5, state: "missing".to_owned(), frames_of_last_op: true, ..CellDetail::default() };
        assert_eq!(facts(&detail), [("state", "missing".to_owned(), String::new())]);
        assert_eq!(stack_title(&detail), ("Rank 5 left here".to_owned(), String::new()));
    }

    #[test]
    fn only_differences_of_the_other_side() {
        let other =
            OtherSide { input_sizes: "[8]".to_owned(), input_dtypes: "BFloat16".to_owned(), ..OtherSide::default() };
        assert_eq!(other_facts(&detail(), &other), [("input", "[8]".to_owned())]);
        assert_eq!(other_title(&other), "issued nothing here");
    }
}
