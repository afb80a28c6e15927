//! A finding in short words: its title, and what each side did.

use hangscope_analyzer_core::job::is_library_file;
use hangscope_analyzer_core::report::{Finding, Kind, Side, SideState, Site};
use leptos::prelude::*;

use crate::page::{More, Page};
use crate::rank_status::short;
use crate::text;

/// How many of the user's frames a side shows.
const FRAMES: usize = 2;

/// In what light a side stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tone {
    Suspect,
    Victim,
    Neutral,
}

/// One line for a finding: `Skipped collective: all_reduce in tp[4-7], row 18, rank 5`.
pub(crate) fn finding_title(finding: &Finding) -> String {
    let mut parts = vec![match &finding.group {
        Some(group) => format!("{} in {}", finding.op, group.label),
        None => finding.op.clone(),
    }];
    if let Some(seq) = finding.seq {
        parts.push(format!("row {seq}"));
    }
    if let Some(p2p) = finding.p2p {
        parts.push(format!("message {} from {} to {}", p2p.nth, p2p.src, p2p.dst));
    }
    if !finding.suspects.is_empty() {
        parts.push(text::ranks(&finding.suspects));
    }
    format!("{}: {}", kind_title(finding.kind), parts.join(", "))
}

/// A kind as a person says it.
pub(crate) fn kind_title(kind: Kind) -> String {
    match kind {
        Kind::MissingRank => "Never issued".to_owned(),
        Kind::SkippedCollective => "Skipped".to_owned(),
        Kind::ExtraCollective => "Issued by nobody else".to_owned(),
        Kind::RankBehind => "Behind on the device".to_owned(),
        Kind::AllJoined => "All joined, not finished".to_owned(),
        Kind::P2pUnmatched => "Message without its other end".to_owned(),
        Kind::P2pSizeMismatch => "Message sizes differ".to_owned(),
        other => text::sentence(&other.name().replace('_', " ")),
    }
}

/// `all_reduce [4096]`, `_all_gather_base [64] → [512]`.
fn call(op: &str, side: &Side) -> String {
    const SHOWN: usize = 3;
    let sizes = |sizes: &[Vec<i64>]| match sizes {
        [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|shape| shape == first) => {
            format!("{first:?} × {}", sizes.len())
        }
        _ => {
            let mut texts: Vec<String> = sizes.iter().take(SHOWN).map(|shape| format!("{shape:?}")).collect();
            if sizes.len() > SHOWN {
                texts.push(format!("… {} tensors", sizes.len()));
            }
            texts.join(", ")
        }
    };
    let (input, output) = (sizes(&side.input_sizes), sizes(&side.output_sizes));
    let mut text = op.to_owned();
    if !input.is_empty() {
        text.push_str(&format!(" {input}"));
    }
    if !output.is_empty() && output != input {
        text.push_str(&format!(" → {output}"));
    }
    text
}

fn tone(finding: &Finding, side: &Side) -> Tone {
    if !finding.suspects.is_empty() && side.ranks == finding.suspects {
        Tone::Suspect
    } else if finding.tie {
        Tone::Neutral
    } else {
        Tone::Victim
    }
}

fn title(finding: &Finding, side: &Side) -> String {
    let count = text::rank_count(&side.ranks);
    let one = count == 1;
    let who = if one {
        format!("Rank {}", side.ranks)
    } else if side.ranks.len() <= 9 {
        format!("Ranks {}", side.ranks)
    } else {
        text::counted(count, "rank")
    };
    if side.state == SideState::Missing {
        return format!("{who} never issued it");
    }
    let verb = |singular: &'static str, plural: &'static str| if one { singular } else { plural };
    let is_suspect = tone(finding, side) == Tone::Suspect;
    let did = match (finding.kind, side.state) {
        (_, SideState::Unknown) if side.last_op.is_some() => verb("was last seen in", "were last seen in"),
        (Kind::NoDump, SideState::Unknown) => "left no dump",
        (_, SideState::Unknown) => verb("is not known", "are not known"),
        (
            Kind::SizeMismatch | Kind::DtypeMismatch | Kind::SplitMismatch | Kind::RootMismatch | Kind::P2pSizeMismatch,
            _,
        ) => "passed",
        (Kind::SkippedCollective | Kind::ExtraCollective | Kind::OrderMismatch | Kind::OpMismatch, _) if is_suspect => {
            "went on to"
        }
        (_, SideState::Completed) => "completed",
        (_, SideState::Started) if finding.kind == Kind::RankBehind => "started",
        _ => verb("waits in", "wait in"),
    };
    format!("{who} {did}")
}

/// How far a side came, in a word.
pub(crate) fn state_word(state: SideState) -> &'static str {
    match state {
        SideState::Missing => "not issued",
        SideState::Scheduled => "scheduled",
        SideState::Started => "started",
        SideState::Completed => "completed",
        SideState::Unknown => "not known",
    }
}

/// Dtypes of the tensors, each once: `BFloat16`, `BFloat16 → Float`.
fn dtypes(side: &Side) -> String {
    let distinct = |dtypes: &[String]| {
        let mut seen: Vec<&str> = Vec::new();
        for dtype in dtypes {
            if !seen.contains(&dtype.as_str()) {
                seen.push(dtype);
            }
        }
        seen.join(", ")
    };
    let (input, output) = (distinct(&side.input_dtypes), distinct(&side.output_dtypes));
    if output.is_empty() || input == output {
        input
    } else if input.is_empty() {
        output
    } else {
        format!("{input} → {output}")
    }
}

/// The innermost frames of the user's own program.
fn user_frames(side: &Side) -> Vec<&Site> {
    if let (Some(last), SideState::Missing) = (&side.last_op, side.state)
        && side.frames.is_empty()
    {
        return last.call_site.iter().collect();
    }
    let own: Vec<&Site> = side.frames.iter().filter(|site| !is_library_file(&site.file)).take(FRAMES).collect();
    if own.is_empty() { side.call_site.iter().collect() } else { own }
}

#[component]
pub(crate) fn SideCard(finding: Finding, side: Side) -> impl IntoView {
    let class = match tone(&finding, &side) {
        Tone::Suspect => "site suspect",
        Tone::Victim => "site victim",
        Tone::Neutral => "site neutral",
    };
    let what = match (&side.op, &side.last_op) {
        (Some(op), _) => format!("{} {}", call(op, &side), dtypes(&side)),
        (None, Some(last)) => {
            let row = last.seq.map(|seq| format!(", row {seq}")).unwrap_or_default();
            let left = if side.state == SideState::Missing { "left here: " } else { "" };
            format!("{left}{} in {}{row}", last.op, last.group)
        }
        (None, None) => String::new(),
    };
    let state = side.op.is_some().then(|| state_word(side.state));
    let frames: Vec<String> = user_frames(&side).into_iter().map(text::site).collect();
    let no_frames = frames.is_empty() && side.state != SideState::Unknown;
    let advice = (side.state == SideState::Unknown && side.op.is_none())
        .then(|| view! { <small>"what it did is unknown: look for its file and its log"</small> });
    let page = Page::of_context();
    let show_stacks =
        move |_| page.more.update(|more| *more = if *more == Some(More::Stacks) { None } else { Some(More::Stacks) });
    let stack = (!side.frames.is_empty()).then(|| {
        view! {
            <button
                class="link"
                aria-expanded=move || (page.more.get() == Some(More::Stacks)).to_string()
                aria-label=format!("Call stack of {}", text::ranks(&short(&side.ranks)))
                on:click=show_stacks
            >
                "Call stack"
            </button>
        }
    });
    view! {
        <div class=class title=text::ranks(&short(&side.ranks))>
            <h3>{title(&finding, &side)}</h3>
            <div class="fr">{what} {state.map(|state| view! { ", " <span>{state}</span> })}</div>
            {frames.into_iter().map(|frame| view! { <small>{frame}</small> }).collect_view()}
            {no_frames.then(|| view! { <small>"no call stack recorded"</small> })}
            {advice}
            {stack}
        </div>
    }
}

#[cfg(test)]
mod tests {
    use hangscope_analyzer_core::report::LastOp;

    use super::*;
    use crate::example;

    fn side(ranks: &str, state: SideState) -> Side {
        let op = (state != SideState::Missing).then(|| "all_reduce".to_owned());
        Side { op, state, ..example::side(ranks) }
    }

    #[test]
    fn titles_of_findings() {
        let mut finding = example::finding();
        assert_eq!(finding_title(&finding), "Never issued: all_reduce in tp[4-7], row 18, rank 5");
        finding.kind = Kind::SizeMismatch;
        finding.group = None;
        finding.seq = None;
        finding.suspects.clear();
        assert_eq!(finding_title(&finding), "Size mismatch: all_reduce");
    }

    #[test]
    fn what_sides_did() {
        let mut finding = example::finding();
        let check = |finding: &Finding, side: &Side, expected| assert_eq!(title(finding, side), expected);
        check(&finding, &side("5", SideState::Missing), "Rank 5 never issued it");
        check(&finding, &side("4,6-7", SideState::Started), "Ranks 4,6-7 wait in");
        check(&finding, &side("0-3,8-11,13-40", SideState::Scheduled), "36 ranks wait in");
        let mut left = side("5", SideState::Missing);
        left.last_op =
            Some(LastOp { group: "world".to_owned(), op: "barrier".to_owned(), seq: Some(3), call_site: None });
        check(&finding, &left, "Rank 5 never issued it");
        left.state = SideState::Unknown;
        check(&finding, &left, "Rank 5 was last seen in");
        check(&finding, &side("5", SideState::Unknown), "Rank 5 is not known");
        finding.kind = Kind::SkippedCollective;
        check(&finding, &side("5", SideState::Scheduled), "Rank 5 went on to");
        check(&finding, &side("4", SideState::Scheduled), "Rank 4 waits in");
        finding.kind = Kind::DtypeMismatch;
        check(&finding, &side("5", SideState::Scheduled), "Rank 5 passed");
    }

    #[test]
    fn calls() {
        assert_eq!(call("_all_gather_base", &side("5", SideState::Started)), "_all_gather_base [64] → [512]");
        let mut same = side("5", SideState::Started);
        same.output_sizes = same.input_sizes.clone();
        assert_eq!(call("all_reduce", &same), "all_reduce [64]");
        same.input_sizes = vec![vec![8]; 64];
        same.output_sizes = vec![vec![1], vec![2], vec![3], vec![4]];
        assert_eq!(call("reduce", &same), "reduce [8] × 64 → [1], [2], [3], … 4 tensors");
        same.input_sizes.clear();
        same.output_sizes.clear();
        assert_eq!(call("barrier", &same), "barrier");
    }

    #[test]
    fn only_the_users_frames() {
        let site = |file: &str| Site { function: "f".to_owned(), file: file.to_owned(), line: 1 };
        let mut side = side("5", SideState::Started);
        side.frames = vec![site("/x/site-packages/torch/a.py"), site("/me/a.py"), site("/me/b.py"), site("/me/c.py")];
        assert_eq!(
            user_frames(&side).iter().map(|site| site.file.as_str()).collect::<Vec<_>>(),
            ["/me/a.py", "/me/b.py"]
        );
    }
}
