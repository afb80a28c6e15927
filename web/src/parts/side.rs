//! A finding in short words: its title, and what each side did.

use hangscope_analyzer_core::job::is_library_file;
use hangscope_analyzer_core::report::{Finding, Kind, Side, SideState, Site, ranges, ranks_in};
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
    if is_suspect(finding, side) {
        Tone::Suspect
    } else if finding.tie || side.state == SideState::Completed {
        // Who is through waits for nothing here.
        Tone::Neutral
    } else {
        Tone::Victim
    }
}

/// Whether the finding blames the side. What happened in several groups alike has the sides of the first, and the suspects of all.
pub(crate) fn is_suspect(finding: &Finding, side: &Side) -> bool {
    let is_in = |part| text::parse_ranges(&finding.suspects).any(|suspects| holds(suspects, part));
    !side.ranks.is_empty() && text::parse_ranges(&side.ranks).all(is_in)
}

/// Whether the first range has all of the second. Ranges of the report are as long as can be.
fn holds((first, last): (u32, u32), (from, to): (u32, u32)) -> bool {
    first <= from && to <= last
}

/// Where else the same is true of whom: `rank 14 likewise, in tp[14,15]`.
fn likewise(finding: &Finding, side: &Side) -> Option<String> {
    let (first, rest) = finding.also.split_first()?;
    let all = match tone(finding, side) {
        Tone::Suspect => &finding.suspects,
        Tone::Victim => &finding.victims,
        Tone::Neutral => return None,
    };
    if !rest.is_empty() {
        return Some(format!("likewise in {} other groups", rest.len() + 1));
    }
    let is_there = |rank: &u32| text::parse_ranges(&first.ranks).any(|part| holds(part, (*rank, *rank)));
    let others = ranges(ranks_in(all).filter(is_there));
    (!others.is_empty()).then(|| format!("{} likewise, in {}", text::ranks(&short(&others)), first.label))
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
    let is_suspect = is_suspect(finding, side);
    let did = match (finding.kind, side.state) {
        (_, SideState::Unknown) if side.last_op.is_some() => verb("was last seen in", "were last seen in"),
        (Kind::NoDump, SideState::Unknown) => "left no dump",
        (_, SideState::Unknown) => verb("is not known", "are not known"),
        (
            Kind::SizeMismatch | Kind::DtypeMismatch | Kind::SplitMismatch | Kind::RootMismatch | Kind::P2pSizeMismatch,
            _,
        ) => "passed",
        (Kind::SkippedCollective, _) if is_suspect => "went on to",
        (Kind::OrderMismatch | Kind::OpMismatch, _) if is_suspect => "issued instead",
        (Kind::ExtraCollective, _) if is_suspect => "alone issued",
        (_, SideState::Completed) if side.op.is_none() => "completed it",
        (_, SideState::Completed) => "completed",
        (Kind::RankBehind, _) if is_suspect => verb("has not finished", "have not finished"),
        (Kind::RankBehind, SideState::Started) => "started",
        (_, SideState::Scheduled | SideState::Started) if is_suspect => verb("is in", "are in"),
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
    let likewise = likewise(&finding, &side).map(|text| view! { <small>{text}</small> });
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
            {likewise}
            {stack}
        </div>
    }
}

#[cfg(test)]
mod tests {
    use hangscope_analyzer_core::report::{FindingGroup, LastOp};

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
        finding.kind = Kind::OpMismatch;
        check(&finding, &side("5", SideState::Started), "Rank 5 issued instead");
        finding.kind = Kind::ExtraCollective;
        check(&finding, &side("5", SideState::Started), "Rank 5 alone issued");
        finding.kind = Kind::CallSiteMismatch;
        check(&finding, &side("5", SideState::Started), "Rank 5 is in");
        check(&finding, &side("4", SideState::Started), "Rank 4 waits in");
        finding.kind = Kind::DtypeMismatch;
        check(&finding, &side("5", SideState::Scheduled), "Rank 5 passed");
    }

    #[test]
    fn what_happened_in_several_groups_has_the_sides_of_one() {
        let group = |label: &str, ranks: &str| FindingGroup {
            label: label.to_owned(),
            ranks: ranks.to_owned(),
            name: String::new(),
            desc: String::new(),
        };
        let mut finding = Finding { kind: Kind::RankBehind, ..example::finding() };
        finding.suspects = "12,14".to_owned();
        finding.victims.clear();
        finding.also = vec![group("tp[14,15]", "14-15")];
        let (behind, through) =
            (side("12", SideState::Scheduled), Side { op: None, ..side("13", SideState::Completed) });
        assert_eq!(
            (title(&finding, &behind).as_str(), tone(&finding, &behind)),
            ("Rank 12 has not finished", Tone::Suspect)
        );
        assert_eq!(likewise(&finding, &behind).as_deref(), Some("rank 14 likewise, in tp[14,15]"));
        assert_eq!(
            (title(&finding, &through).as_str(), tone(&finding, &through)),
            ("Rank 13 completed it", Tone::Neutral)
        );
        assert_eq!(likewise(&finding, &through), None);

        finding.suspects = "12,14,16".to_owned();
        finding.also.push(group("tp[16,17]", "16-17"));
        assert_eq!(likewise(&finding, &behind).as_deref(), Some("likewise in 2 other groups"));
        finding.also.clear();
        assert_eq!(likewise(&finding, &behind), None);
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
