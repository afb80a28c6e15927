//! A call stack, beside another one.

use hangscope_analyzer_core::report::PanelFrame;
use leptos::prelude::*;

use crate::text;

/// A line of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
enum StackLine {
    /// A frame, and what the other stack has in its place, if that is something else.
    Frame { frame: PanelFrame, other: String },
    /// Frames of a library, one after the other.
    Library(Vec<PanelFrame>),
}

/// The lines of a stack, innermost first. `other` is the stack that it is compared with.
fn stack_lines(frames: &[PanelFrame], other: &[PanelFrame]) -> Vec<StackLine> {
    let mut lines: Vec<StackLine> = Vec::new();
    for (depth, frame) in frames.iter().enumerate() {
        if frame.library {
            match lines.last_mut() {
                Some(StackLine::Library(run)) => run.push(frame.clone()),
                _ => lines.push(StackLine::Library(vec![frame.clone()])),
            }
            continue;
        }
        // Counted from the outermost frame.
        let height = frames.len() - depth;
        let opposite = other.len().checked_sub(height).and_then(|index| other.get(index));
        let other = match opposite {
            Some(opposite) if frame.differs => other_text(frame, opposite),
            _ => String::new(),
        };
        lines.push(StackLine::Frame { frame: frame.clone(), other });
    }
    lines
}

/// What is different in the other frame: `mlp :37`, `:51`, `forward model.py:12`.
fn other_text(frame: &PanelFrame, other: &PanelFrame) -> String {
    let place =
        if other.file == frame.file { format!(":{}", other.line) } else { text::place(&other.file, other.line) };
    if other.function == frame.function { place } else { format!("{} {place}", other.function) }
}

/// `2 torch frames`, `1 library frame`.
fn library_text(frames: &[PanelFrame]) -> String {
    let of_torch = frames.iter().all(|frame| frame.file.contains("torch"));
    text::counted(frames.len() as u64, if of_torch { "torch frame" } else { "library frame" })
}

#[component]
pub(crate) fn Stack(title: String, about: String, frames: Vec<PanelFrame>, other: Vec<PanelFrame>) -> impl IntoView {
    let (open, set_open) = signal(false);
    let library: Vec<PanelFrame> = frames.iter().filter(|frame| frame.library).cloned().collect();
    // Above the frames stands what all library frames are folded into, with the names of the innermost.
    let fold = (!library.is_empty()).then(|| {
        let names: Vec<_> = library.iter().map(|frame| frame.function.clone()).collect();
        view! {
            <button class="fold" aria-expanded=move || open.get().to_string() on:click=move |_| set_open.update(|open| *open = !*open)>
                <span>{library_text(&library)}</span>
                <small>{names.join(", ")}</small>
            </button>
        }
    });
    let lines = stack_lines(&frames, &other).into_iter().map(|line| match line {
        StackLine::Frame { frame, other } => {
            let class = match (frame.differs, frame.first_difference) {
                (_, true) => "f diff first",
                (true, false) => "f diff",
                _ => "f",
            };
            let marker = frame.first_difference.then(|| view! { <span class="unseen">"the stacks part here: "</span> });
            let place = text::place(&frame.file, frame.line);
            let other = (!other.is_empty()).then(|| view! { <span class="other">" | " {other}</span> });
            view! {
                <li class=class title=format!("{}:{}", frame.file, frame.line)>
                    {marker}
                    <span>{frame.function}</span>
                    <small>{place} {other}</small>
                </li>
            }
            .into_any()
        }
        StackLine::Library(run) => {
            let run = StoredValue::new(run);
            let frames = move || {
                open.get().then(|| {
                    let frames = run.get_value().into_iter();
                    frames
                        .map(|frame| {
                            let place = text::place(&frame.file, frame.line);
                            view! {
                                <li class="f lib" title=frame.file>
                                    <span>{frame.function}</span>
                                    <small>{place}</small>
                                </li>
                            }
                        })
                        .collect_view()
                })
            };
            view! { {frames} }.into_any()
        }
    });
    let empty = frames.is_empty();
    view! {
        <section class="stack">
            <h3>{title} " " <span>{about}</span></h3>
            {fold}
            <ol>{lines.collect_view()}</ol>
            {empty
                .then(|| {
                    view! { <p class="muted">"No call stack was recorded. PyTorch: TORCH_INCLUDE_STACK_TRACE=1 in the job. hangscope record: --stacks native."</p> }
                })}
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, line: u32, library: bool, differs: bool) -> PanelFrame {
        let file = if library { "/x/torch/a.py" } else { "/me/train.py" };
        PanelFrame {
            function: function.to_owned(),
            file: file.to_owned(),
            line,
            library,
            differs,
            first_difference: false,
        }
    }

    #[test]
    fn frames_stand_beside_those_of_the_same_height() {
        let mine = [
            frame("wrapper", 1, true, true),
            frame("all_reduce", 2, true, true),
            frame("attention", 32, false, true),
            frame("layer", 49, false, true),
            frame("main", 9, false, false),
        ];
        let other = [frame("mlp", 37, false, true), frame("layer", 51, false, true), frame("main", 9, false, false)];
        let lines = stack_lines(&mine, &other);
        assert_eq!(lines[0], StackLine::Library(mine[..2].to_vec()));
        let others: Vec<_> = lines[1..]
            .iter()
            .map(|line| match line {
                StackLine::Frame { other, .. } => other.as_str(),
                StackLine::Library(_) => "library",
            })
            .collect();
        assert_eq!(others, ["mlp :37", ":51", ""]);
        assert_eq!(library_text(&mine[..2]), "2 torch frames");
        assert_eq!(library_text(&other[..1]), "1 library frame");
    }

    #[test]
    fn without_another_stack() {
        let mine = [frame("attention", 32, false, true)];
        assert_eq!(stack_lines(&mine, &[]), [StackLine::Frame { frame: mine[0].clone(), other: String::new() }]);
        assert_eq!(stack_lines(&[], &mine), []);
    }
}
