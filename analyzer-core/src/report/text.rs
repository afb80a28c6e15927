//! The report as text for a tired person.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::small_sort::SmallSort as _;

use super::{Finding, Report, Side, SideState, Site, Whom, ranks_in, readable_ranges};

/// What a piece of text is, for those who colour it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
    /// The headline of a fault.
    Fault,
    /// The headline when nothing is wrong.
    Fine,
    /// A heading.
    Heading,
    /// Names of blamed ranks.
    Suspect,
    /// Names of waiting ranks.
    Victim,
    /// Said for completeness.
    Faint,
    /// All else.
    Plain,
}

/// Longest list of notes that the text writes out.
const NOTES: usize = 12;
/// Frames of a stack that the text shows.
const FRAMES: usize = 3;

/// The report as plain text.
pub fn render_text(report: &Report) -> String {
    render_styled(report, |text, _| text.to_string())
}

/// The report as text, each piece passed through `style`. Names from dumps cannot do anything to a terminal.
pub fn render_styled(report: &Report, style: impl Fn(&str, Emphasis) -> String) -> String {
    let style = |text: &str, emphasis: Emphasis| style(&printable(text), emphasis);
    let mut out = Vec::new();
    let fault = !report.findings.is_empty();
    out.push(style(&report.headline, if fault { Emphasis::Fault } else { Emphasis::Fine }));
    if let Some(first) = report.findings.first() {
        out.push(style(
            &format!("{} · {} confidence · {}", first.cause.title(), first.confidence.name(), first.kind.name()),
            Emphasis::Faint,
        ));
    }
    for finding in &report.findings {
        if report.findings.len() > 1 {
            let group = finding.group.as_ref().map(|group| group.label.as_str()).unwrap_or_default();
            out.push(String::new());
            out.push(style(&format!("Finding {}: {} in {group}", finding.id, finding.kind.name()), Emphasis::Heading));
        }
        write_finding(finding, &style, &mut out);
    }
    write_ranks(report, &style, &mut out);
    write_notes(report, &style, &mut out);
    let facts = &report.job;
    out.push(String::new());
    let world = facts.world_size.map(|size| format!(" of {size}")).unwrap_or_default();
    out.push(style(
        &format!(
            "{}{world} ranks read · {} · {} · {} · {}",
            facts.ranks_loaded,
            count(facts.groups.into(), "group", "groups"),
            count(facts.entries, "entry", "entries"),
            count(facts.rows, "row", "rows"),
            if facts.backends.is_empty() { "no operations".to_string() } else { facts.backends.join(", ") }
        ),
        Emphasis::Faint,
    ));
    let mut text = out.join("\n");
    text.push('\n');
    text
}

/// A text in one line, with what would steer a terminal or turn the direction of writing around shown as its number (`\u{1b}`).
fn printable(text: &str) -> String {
    let steers = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut printable = String::with_capacity(text.len());
    for letter in text.chars() {
        if steers(letter) {
            printable.extend(letter.escape_unicode());
        } else {
            printable.push(letter);
        }
    }
    printable
}

fn count(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

fn write_finding(finding: &Finding, style: &impl Fn(&str, Emphasis) -> String, out: &mut Vec<String>) {
    out.push(String::new());
    for (name, list, emphasis) in [
        ("suspect", &finding.suspects, Emphasis::Suspect),
        ("waiting", &finding.victims, Emphasis::Victim),
        ("blocked", &finding.blocked, Emphasis::Plain),
    ] {
        if !list.is_empty() {
            let words = match name {
                "suspect" => "blamed for it",
                "waiting" => "wait here",
                _ => "wait elsewhere because of it",
            };
            out.push(format!("  {name:<8}{}  {}", style(&readable(list), emphasis), style(words, Emphasis::Faint)));
        }
    }
    for side in &finding.sides {
        out.push(String::new());
        out.push(style(&side_title(side), Emphasis::Heading));
        let user: Vec<&Site> = side.frames.iter().filter(|site| !crate::job::is_library_file(&site.file)).collect();
        let shown = if user.is_empty() { side.frames.iter().collect() } else { user };
        for site in shown.iter().take(FRAMES) {
            out.push(format!(
                "    {}  {}",
                style(&site.function, Emphasis::Plain),
                style(&format!("{}:{}", site.file, site.line), Emphasis::Faint)
            ));
        }
        if side.frames.is_empty() {
            out.push(format!("    {}", style("no call stack recorded", Emphasis::Faint)));
        }
    }
    write_list("Evidence", finding.evidence.iter().cloned(), style, out);
    let others = finding.alternatives.iter().map(|other| format!("{}: {}", other.cause.title(), other.why));
    write_list("It could also be", others, style, out);
    write_list("Next steps", finding.next_steps.iter().cloned(), style, out);
}

fn readable(ranges: &str) -> String {
    readable_ranges(&ranks_in(ranges).collect::<Vec<u32>>())
}

fn side_title(side: &Side) -> String {
    let several = side.ranks.contains(['-', ',']);
    let who = format!("{} {}", if several { "Ranks" } else { "Rank" }, readable(&side.ranks));
    match (&side.op, side.state) {
        (Some(op), state) => {
            let shapes = |shapes: &[Vec<i64>]| {
                let texts: Vec<String> = shapes.iter().take(3).map(|shape| format!("{shape:?}")).collect();
                let more = if shapes.len() > 3 { format!(", … {} tensors", shapes.len()) } else { String::new() };
                texts.join(", ") + &more
            };
            let (input, output) = (shapes(&side.input_sizes), shapes(&side.output_sizes));
            let sizes = if input == output || output.is_empty() { input } else { format!("{input} → {output}") };
            let dtypes = if side.input_dtypes.is_empty() { &side.output_dtypes } else { &side.input_dtypes };
            let dtype = dtypes.first().map(|dtype| format!(" {dtype}")).unwrap_or_default();
            format!("{who}: {op} {sizes}{dtype}, {}", state_word(state))
        }
        (None, SideState::Unknown) => format!("{who}: nothing is known"),
        (None, SideState::Completed) => format!("{who}: finished it; only what is unfinished was dumped"),
        (None, _) => match &side.last_op {
            Some(last) => {
                let row = last.seq.map(|seq| format!(" (row {seq} of {})", last.group)).unwrap_or_default();
                format!("{who}: not issued; last seen in {}{row}", last.op)
            }
            None => format!("{who}: not issued; nothing recorded before it"),
        },
    }
}

fn state_word(state: SideState) -> &'static str {
    match state {
        SideState::Missing => "not issued",
        SideState::Scheduled => "scheduled",
        SideState::Started => "started",
        SideState::Completed => "completed",
        SideState::Unknown => "state unknown",
    }
}

fn write_list(
    title: &str,
    lines: impl Iterator<Item = String>,
    style: &impl Fn(&str, Emphasis) -> String,
    out: &mut Vec<String>,
) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    out.push(String::new());
    out.push(style(title, Emphasis::Heading));
    out.extend(lines.into_iter().map(|line| format!("  - {}", style(&line, Emphasis::Plain))));
}

/// Who waits where, ranks that wait in the same place together.
fn write_ranks(report: &Report, style: &impl Fn(&str, Emphasis) -> String, out: &mut Vec<String>) {
    // Place, ranks that wait there, and for whom if all of them wait for the same.
    let mut places: Vec<(String, Vec<u32>, Option<&Whom>)> = Vec::new();
    for state in &report.ranks {
        let Some(place) = &state.waits_in else { continue };
        let row = place.seq.map(|seq| format!(" row {seq}")).unwrap_or_default();
        let text = format!("{}{row} of {}", place.op, place.group);
        // Messages of one group are different places as their other ends are.
        let same = |item: &(String, Vec<u32>, Option<&Whom>)| {
            item.0 == text && (place.seq.is_some() || item.2 == Some(&state.waits_for))
        };
        match places.iter_mut().find(|item| same(item)) {
            Some(item) => {
                item.1.push(state.rank);
                item.2 = item.2.filter(|whom| **whom == state.waits_for);
            }
            None => places.push((text, alloc::vec![state.rank], Some(&state.waits_for))),
        }
    }
    if places.is_empty() {
        return;
    }
    out.push(String::new());
    out.push(style("Who waits where", Emphasis::Heading));
    places.sort_small_by_key(|item| (usize::MAX - item.1.len(), item.1.first().copied()));
    for (text, ranks, whom) in places.iter().take(NOTES) {
        let whom = whom.filter(|whom| !whom.is_empty()).map(|whom| format!(", for {whom}")).unwrap_or_default();
        out.push(format!("  {}  {}", readable_ranges(ranks), style(&format!("{text}{whom}"), Emphasis::Plain)));
    }
    if places.len() > NOTES {
        out.push(format!("  … {} more places", places.len() - NOTES));
    }
}

fn write_notes(report: &Report, style: &impl Fn(&str, Emphasis) -> String, out: &mut Vec<String>) {
    if report.data_quality.is_empty() {
        return;
    }
    out.push(String::new());
    out.push(style("Notes on the data", Emphasis::Heading));
    for note in report.data_quality.iter().take(NOTES) {
        let file = note.file.as_ref().map(|file| format!("{file}: ")).unwrap_or_default();
        let note = format!("{}: {file}{}", note.kind.name(), note.detail);
        out.push(format!("  - {}", style(&note, Emphasis::Plain)));
    }
    if report.data_quality.len() > NOTES {
        out.push(format!("  - … {} more (--format json lists all)", report.data_quality.len() - NOTES));
    }
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(
            printable("a\u{1b}[31mb\r\n\u{202e}c\u{9b}d\u{2066}"),
            r"a\u{1b}[31mb\u{d}\u{a}\u{202e}c\u{9b}d\u{2066}"
        );
        let plain = "größe e\u{301} → [4] `x` · \\ \"y\" 第3层";
        assert_eq!(printable(plain), plain);
    }
}
