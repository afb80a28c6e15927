//! The call stacks of all sides of a finding, side by side.

use hangscope_analyzer_core::job::is_library_file;
use hangscope_analyzer_core::report::{Finding, PanelFrame, Side, SideState, Site};
use leptos::prelude::*;

use crate::parts::stack::Stack;
use crate::rank_status::short;
use crate::text;

/// How many stacks are shown; sides beyond them are counted.
const SHOWN: usize = 6;

/// A stack with what another one does not have marked, counted from the outermost frame: the programs were the same until they parted.
fn compared(frames: &[Site], other: &[Site]) -> Vec<PanelFrame> {
    let common = frames.iter().rev().zip(other.iter().rev()).take_while(|(mine, theirs)| mine == theirs).count();
    let parted = if other.is_empty() { 0 } else { frames.len() - common };
    let mark = |(depth, site): (usize, &Site)| PanelFrame {
        function: site.function.clone(),
        file: site.file.clone(),
        line: site.line,
        library: is_library_file(&site.file),
        differs: depth < parted,
        first_difference: depth + 1 == parted,
    };
    frames.iter().enumerate().map(mark).collect()
}

/// Where the stack comes from: `all_reduce, scheduled`, or `left here` for a side that issued nothing.
fn about(side: &Side) -> String {
    match (&side.op, &side.last_op) {
        (Some(op), _) => format!("{op}, {}", crate::parts::side::state_word(side.state)),
        (None, Some(_)) if side.state == SideState::Missing => "left here".to_owned(),
        _ => String::new(),
    }
}

#[component]
pub(crate) fn Stacks(finding: Finding) -> impl IntoView {
    let with_stack: Vec<&Side> = finding.sides.iter().filter(|side| !side.frames.is_empty()).collect();
    let more = with_stack.len().saturating_sub(SHOWN) as u64;
    let stacks = with_stack.iter().take(SHOWN).enumerate().map(|(index, side)| {
        // The largest side is compared with the next one, all others with the largest.
        let other = with_stack.get(usize::from(index == 0));
        let other = other.map(|other| other.frames.as_slice()).unwrap_or_default();
        let title = text::sentence(&text::ranks(&short(&side.ranks)));
        view! { <Stack title about=about(side) frames=compared(&side.frames, other) other=compared(other, &side.frames) /> }
    });
    view! {
        {stacks.collect_view()}
        {(more > 0).then(|| view! { <p class="muted">{format!("{} in the JSON report", text::counted(more, "further side"))}</p> })}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(function: &str, line: u32) -> Site {
        Site { function: function.to_owned(), file: "/me/train.py".to_owned(), line }
    }

    #[test]
    fn stacks_part_from_the_outermost_frame_on() {
        let mine = [site("attention", 32), site("layer", 49), site("main", 9)];
        let other = [site("mlp", 37), site("layer", 51), site("main", 9)];
        let marked = compared(&mine, &other);
        assert_eq!(marked.iter().map(|frame| frame.differs).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(marked.iter().map(|frame| frame.first_difference).collect::<Vec<_>>(), [false, true, false]);
        assert!(compared(&mine, &[]).iter().all(|frame| !frame.differs), "nothing to compare with");
        assert!(compared(&mine, &mine).iter().all(|frame| !frame.differs && !frame.first_difference));
    }
}
