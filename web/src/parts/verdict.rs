//! The verdict: one sentence, who is concerned, and both places in the user's code.

use hangscope_analyzer_core::report::{Cause, Finding, Kind, Report};
use hangscope_analyzer_core::small_sort::SmallSort as _;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlElement;

use crate::dataset::Dataset;
use crate::page::{More, Page};
use crate::parts::cycle::CycleGraph;
use crate::parts::side::{SideCard, finding_title, is_suspect};
use crate::parts::stacks::Stacks;
use crate::rank_status::short;
use crate::table::on_cleanup_local;
use crate::text;

/// The sides that have room beside the sentence.
const SIDES: usize = 2;

#[component]
pub(crate) fn Verdict() -> impl IntoView {
    let page = Page::of_context();
    move || {
        let dataset = page.dataset()?;
        let index = page.finding.get();
        Some(match dataset.report.findings.get(index) {
            Some(finding) => with_finding(page, &dataset, index, finding.clone()).into_any(),
            None => without_finding(&dataset).into_any(),
        })
    }
}

fn with_finding(page: Page, dataset: &Dataset, index: usize, finding: Finding) -> impl IntoView + use<> {
    let report = &dataset.report;
    let headline = if index == 0 { report.headline.clone() } else { finding_title(&finding) };
    let functions = code_words(&finding);
    let headline = headline_parts(&headline, &functions)
        .into_iter()
        .map(
            |(is_code, part)| {
                if is_code { view! { <code>{part}</code> }.into_any() } else { view! { {part} }.into_any() }
            },
        )
        .collect_view();
    let about = format!(
        " · {} confidence · finding {} of {}{}",
        finding.confidence.name(),
        index + 1,
        report.findings.len(),
        if finding.tie { " · a tie: the dumps do not tell which side is wrong" } else { "" },
    );
    let row = finding.seq.map(|seq| format!("waiting in row {seq}")).unwrap_or_else(|| "waiting there".to_owned());
    let who = [
        (
            "suspect",
            text::rank_count(&finding.suspects),
            plural("suspect", &finding.suspects),
            finding.suspects.clone(),
        ),
        ("victim", text::rank_count(&finding.victims), row, finding.victims.clone()),
        ("blocked", text::rank_count(&finding.blocked), "blocked by it".to_owned(), finding.blocked.clone()),
    ];
    let who = who.into_iter().filter(|(_, count, ..)| *count > 0).map(|(class, _, label, ranks)| {
        view! { <div><span class=format!("dot {class}") aria-hidden="true"></span>{label} " " <b title=ranks.clone()>{short(&ranks)}</b></div> }
    });
    let others = other_reading(&finding);
    let next = finding.next_steps.first().cloned();
    let has_cell = dataset.finding_cell(index).is_some();
    let sides = shown_sides(&finding);
    let more_sides = finding.sides.len().saturating_sub(sides.len());
    let sides = if !is_about_cycle(&finding) {
        sides.into_iter().map(|side| view! { <SideCard finding=finding.clone() side=side /> }).collect_view().into_any()
    } else {
        view! { <CycleSide finding=finding.clone() /> }.into_any()
    };
    let more_sides = if is_about_cycle(&finding) { 0 } else { more_sides };
    let class = if finding.suspects.is_empty() { "verdict unsure" } else { "verdict" };
    let more = move |which| {
        page.more.update(|more| *more = if *more == Some(which) { None } else { Some(which) });
    };
    let expanded = move |which| (page.more.get() == Some(which)).to_string();
    view! {
        <section class=class aria-label="Verdict">
            <div class="say">
                <div class="kicker">{finding.cause.title()}<span>{about}</span></div>
                <h1>{headline}</h1>
                <div class="who">{who.collect_view()}</div>
                <dl class="brief">
                    {next.map(|step| view! { <dt>"Next"</dt><dd>{text::sentence(&step)}</dd> })}
                    {others.map(|(text, more_others)| {
                        let open = (more_others > 0).then(|| {
                            let label = format!("and {more_others} more");
                            view! {
                                <button class="link" aria-expanded=move || expanded(More::Why) on:click=move |_| more(More::Why)>
                                    {label}
                                </button>
                            }
                        });
                        view! { <dt>"It could also be"</dt><dd>{text} " " {open}</dd> }
                    })}
                </dl>
                <div class="acts">
                    <button class="primary" disabled=!has_cell on:click=move |_| page.show_finding(index)>"Show in table"</button>
                    <button aria-expanded=move || expanded(More::Why) on:click=move |_| more(More::Why)>"Why"</button>
                    <button aria-expanded=move || expanded(More::NextSteps) on:click=move |_| more(More::NextSteps)>"Next steps"</button>
                    <ReportButtons />
                </div>
            </div>
            <div class="sites">
                {sides}
                {(more_sides > 0).then(|| view! { <small class="moresides">{format!("{} more below Why", text::counted(more_sides as u64, "side"))}</small> })}
            </div>
            {move || page.more.get().map(|which| view! { <MoreArea which finding=finding.clone() /> })}
        </section>
    }
}

/// Whether the circle of waits is what the finding is about, and not merely what it led to: then it is drawn in place of the sides.
fn is_about_cycle(finding: &Finding) -> bool {
    !finding.cycle.is_empty() && matches!(finding.kind, Kind::CrossGroupDeadlock | Kind::OrderMismatch)
}

/// The graph, and the way to the stacks of those who wait in it.
#[component]
fn CycleSide(finding: Finding) -> impl IntoView {
    let page = Page::of_context();
    let toggle = move |which| page.more.update(|more| *more = if *more == Some(which) { None } else { Some(which) });
    let expanded = move |which| (page.more.get() == Some(which)).to_string();
    let has_stacks = finding.sides.iter().any(|side| !side.frames.is_empty());
    view! {
        <div class="site">
            <h3>"They wait for each other " <span>"each arrow leads to whom they wait for"</span></h3>
            <CycleGraph finding=finding.clone() />
            {has_stacks
                .then(|| {
                    view! {
                        <button class="link" aria-expanded=move || expanded(More::Stacks) on:click=move |_| toggle(More::Stacks)>
                            "Call stacks"
                        </button>
                    }
                })}
            <button class="link" aria-expanded=move || expanded(More::Why) on:click=move |_| toggle(More::Why)>"All sides"</button>
        </div>
    }
}

/// The first other reading in words, and how many more there are.
fn other_reading(finding: &Finding) -> Option<(String, usize)> {
    let first = finding.alternatives.first()?;
    let text = match first.cause {
        Cause::Undetermined => first.why.clone(),
        cause => format!("{}: {}", cause.title(), first.why),
    };
    Some((text::sentence(&text), finding.alternatives.len() - 1))
}

/// The largest side and the suspects', the suspects' first.
fn shown_sides(finding: &Finding) -> Vec<hangscope_analyzer_core::report::Side> {
    let suspect = finding.sides.iter().find(|side| is_suspect(finding, side));
    let others = finding.sides.iter().filter(|side| suspect.is_none_or(|suspect| !std::ptr::eq(suspect, *side)));
    suspect.into_iter().chain(others).take(SIDES).cloned().collect()
}

/// What was opened lies over the sides and scrolls by itself, so that nothing moves and the table keeps its place.
#[component]
fn MoreArea(which: More, finding: Finding) -> impl IntoView {
    let page = Page::of_context();
    let area = NodeRef::<html::Div>::new();
    let in_focus = || document().active_element().filter(|element| element.tag_name() != "BODY");
    let opener = in_focus().and_then(|element| element.dyn_into::<HtmlElement>().ok());
    let is_hidden = opener.as_ref().is_none_or(|opener| opener.closest(".sites").ok().flatten().is_some());
    Effect::new(move |_| {
        // What had the keyboard may lie below it now.
        if let Some(area) = area.get().filter(|_| is_hidden) {
            let _ = area.focus();
        }
    });
    on_cleanup_local(move || {
        request_animation_frame(move || {
            if let Some(opener) = opener.filter(|_| in_focus().is_none()) {
                let _ = opener.focus();
            }
        });
    });
    let label = match which {
        More::Why => "Why",
        More::NextSteps => "Next steps",
        More::Stacks => "Call stacks",
    };
    view! {
        <div class="more" node_ref=area role="region" aria-label=label tabindex="0">
            <button class="close" on:click=move |_| page.more.set(None)>"Close"</button>
            <MoreAbout which finding />
        </div>
    }
}

#[component]
fn MoreAbout(which: More, finding: Finding) -> impl IntoView {
    let list = |items: &[String], empty: &'static str| {
        if items.is_empty() {
            view! { <p class="muted">{empty}</p> }.into_any()
        } else {
            view! { <ul>{items.iter().map(|item| view! { <li>{item.clone()}</li> }).collect_view()}</ul> }.into_any()
        }
    };
    match which {
        More::Why => view! {
                <div><h2>"Evidence"</h2>{list(&finding.evidence, "The sides above are all there is.")}</div>
                <div>
                    <h2>"It could also be"</h2>
                    {if finding.alternatives.is_empty() {
                        view! { <p class="muted">"Nothing in the dumps speaks for another cause."</p> }.into_any()
                    } else {
                        view! {
                            <ul>
                                {finding
                                    .alternatives
                                    .iter()
                                    .map(|other| {
                                        let cause = (other.cause != Cause::Undetermined)
                                            .then(|| view! { <strong>{other.cause.title()}</strong> ": " });
                                        view! { <li>{cause} {other.why.clone()}</li> }
                                    })
                                    .collect_view()}
                            </ul>
                        }
                            .into_any()
                    }}
                </div>
                {(!finding.cycle.is_empty() && !is_about_cycle(&finding))
                    .then(|| view! { <div><h2>"They wait for each other"</h2><CycleGraph finding=finding.clone() /></div> })}
                {(finding.sides.len() > SIDES || is_about_cycle(&finding))
                    .then(|| {
                        view! {
                            <div class="allsides">
                                <h2>"All sides"</h2>
                                {finding.sides.iter().map(|side| view! { <SideCard finding=finding.clone() side=side.clone() /> }).collect_view()}
                            </div>
                        }
                    })}
        }
        .into_any(),
        More::Stacks => view! { <Stacks finding /> }.into_any(),
        More::NextSteps => view! {
            <div><h2>"Next steps"</h2>{list(&finding.next_steps, "There is nothing to advise.")}</div>
        }
        .into_any(),
    }
}

fn without_finding(dataset: &Dataset) -> impl IntoView + use<> {
    let Report { verdict, headline, .. } = &dataset.report;
    let is_healthy = verdict == "no_fault" && !dataset.report.breaks_off();
    let (kicker, advice) = if is_healthy {
        (
            "Healthy as far as recorded",
            "If the job hung all the same, look at where each process is, for example with py-spy dump.",
        )
    } else if dataset.report.breaks_off() {
        ("Dumps break off", "The notes on the data name the files.")
    } else {
        ("Nothing pending", "Look at where each process is, for example with py-spy dump.")
    };
    let class = if is_healthy { "verdict fine" } else { "verdict unsure" };
    view! {
        <section class=class aria-label="Verdict">
            <div class="say">
                <div class="kicker">{kicker}</div>
                <h1>{headline.clone()}</h1>
                <div class="who">{advice}</div>
                <div class="acts"><ReportButtons /></div>
            </div>
        </section>
    }
}

#[component]
fn ReportButtons() -> impl IntoView {
    let page = Page::of_context();
    let (copied, set_copied) = signal(false);
    let copy = move |_| {
        let Some(dataset) = page.dataset_untracked() else { return };
        leptos::task::spawn_local(async move {
            let done = JsFuture::from(window().navigator().clipboard().write_text(&dataset.report_text)).await.is_ok();
            page.announcement
                .set(if done { "Report copied" } else { "The browser did not let the report be copied" }.to_owned());
            set_copied.set(done);
            if done {
                set_timeout(
                    move || {
                        set_copied.try_set(false);
                    },
                    std::time::Duration::from_secs(2),
                );
            }
        });
    };
    view! {
        // Both texts hold its width, so that nothing moves.
        <button class="copy" on:click=copy>
            <span class:hidden=copied>"Copy report"</span>
            <span class:hidden=move || !copied.get()>"Copied"</span>
        </button>
        <button on:click=move |_| page.save_json()>"Save JSON"</button>
    }
}

/// Saves a JSON text, given as bytes.
pub(crate) fn save_json(name: &str, text: &wasm_bindgen::JsValue) -> Result<(), wasm_bindgen::JsValue> {
    let kind = web_sys::BlobPropertyBag::new();
    kind.set_type("application/json");
    let blob = web_sys::Blob::new_with_buffer_source_sequence_and_options(&js_sys::Array::of1(text), &kind)?;
    let url = web_sys::Url::create_object_url_with_blob(&blob)?;
    let link: web_sys::HtmlAnchorElement = document().create_element("a")?.unchecked_into();
    link.set_href(&url);
    link.set_download(name);
    link.click();
    // The browser has taken the content by then.
    set_timeout(
        move || {
            let _ = web_sys::Url::revoke_object_url(&url);
        },
        std::time::Duration::from_secs(60),
    );
    Ok(())
}

fn plural(noun: &str, ranks: &str) -> String {
    if text::rank_count(ranks) == 1 { noun.to_owned() } else { format!("{noun}s") }
}

/// Names of functions and operations that may stand in a finding's headline.
fn code_words(finding: &Finding) -> Vec<String> {
    let sites = finding.sides.iter().flat_map(|side| {
        let last = side.last_op.as_ref().and_then(|last| last.call_site.as_ref());
        side.call_site.iter().chain(last)
    });
    let mut words: Vec<String> = sites.map(|site| site.function.clone()).collect();
    words.retain(|word| !word.is_empty());
    words.sort_small();
    words.dedup();
    words
}

/// A sentence in parts: whether the part is code, and the part. Code is what stands between backticks, and every one of
/// `words` that stands alone.
fn headline_parts(headline: &str, words: &[String]) -> Vec<(bool, String)> {
    let mut parts: Vec<(bool, String)> = Vec::new();
    for (index, piece) in headline.split('`').enumerate() {
        if index % 2 == 1 {
            parts.push((true, piece.to_owned()));
            continue;
        }
        let mut rest = piece;
        while let Some((at, word)) = first_word(rest, words) {
            let (before, after) = (rest.get(..at).unwrap_or_default(), rest.get(at + word.len()..).unwrap_or_default());
            if !before.is_empty() {
                parts.push((false, before.to_owned()));
            }
            parts.push((true, word.to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push((false, rest.to_owned()));
        }
    }
    parts
}

fn first_word<'a>(text: &str, words: &'a [String]) -> Option<(usize, &'a str)> {
    let is_part =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.'));
    let stands_alone = |at: usize, word: &str| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + word.len()..).unwrap_or_default());
        !is_part(before.chars().next_back())
            && !after.chars().next().is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let found = words.iter().filter_map(|word| {
        let at = text.match_indices(word.as_str()).map(|(at, _)| at).find(|at| stands_alone(*at, word))?;
        Some((at, word.as_str()))
    });
    found.min_by_key(|(at, word)| (*at, std::cmp::Reverse(word.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(headline: &str, words: &[&str], expected: &str) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let parts = headline_parts(headline, &words);
        let marked: String =
            parts.iter().map(|(is_code, part)| if *is_code { format!("<{part}>") } else { part.clone() }).collect();
        assert_eq!(marked, expected);
    }

    #[test]
    fn code_in_a_sentence() {
        check(
            "it is at mlp (a.py:3), not in attention",
            &["attention", "mlp"],
            "it is at <mlp> (a.py:3), not in <attention>",
        );
        check("at `mlp` now", &["mlp"], "at <mlp> now");
        check("in mlp_forward, in mlp", &["mlp"], "in mlp_forward, in <mlp>");
        check("Model.forward, forward.", &["forward"], "Model.forward, <forward>.");
        check("in forward_step", &["forward", "forward_step"], "in <forward_step>");
        check("é in ü", &["ü"], "é in <ü>");
        check("nothing", &[], "nothing");
    }
}
