//! Waits that go round, as a small graph: who waits where, and for whom.

use hangscope_analyzer_core::report::{CycleStep, Finding, ranks_in};
use leptos::prelude::*;

use crate::rank_status::short;
use crate::text::{self, length};

/// How many nodes are drawn; of a longer cycle the last one stands for the rest.
const NODES: usize = 12;
/// Up to this many nodes each has room for the group and the place in the code.
const ROOMY: usize = 4;
/// How many steps the list for screen readers has.
const LISTED: usize = 100;
const WIDTH: f64 = 520.0;
const MARGIN: f64 = 2.0;

/// A rectangle of the drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Box {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Box {
    fn center(&self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    /// Where a ray from the middle leaves the rectangle, and a little farther.
    fn edge(&self, (dx, dy): (f64, f64)) -> (f64, f64) {
        const AWAY: f64 = 3.0;
        let (x, y) = self.center();
        let along = |half: f64, part: f64| if part == 0.0 { f64::INFINITY } else { half / part.abs() };
        let reach = along(self.width / 2.0, dx).min(along(self.height / 2.0, dy));
        let length = dx.hypot(dy).max(1.0);
        (x + dx * reach + dx / length * AWAY, y + dy * reach + dy / length * AWAY)
    }
}

/// Columns and rows of a grid whose edge has room for so many nodes.
fn grid(nodes: usize) -> (usize, usize) {
    match nodes {
        0..=2 => (2, 1),
        3..=4 => (2, 2),
        5..=6 => (3, 2),
        7..=8 => (4, 2),
        9..=10 => (4, 3),
        _ => (4, 4),
    }
}

/// The nodes' places, clockwise along the edge of the grid, and the height of the drawing.
fn places(nodes: usize) -> (Vec<Box>, f64) {
    let (columns, rows) = grid(nodes);
    let height = if nodes <= ROOMY { 66.0 } else { 36.0 };
    let (gap_x, gap_y) = (if columns == 2 { 60.0 } else { 26.0 }, 28.0);
    let width = (WIDTH - 2.0 * MARGIN - gap_x * (columns as f64 - 1.0)) / columns as f64;
    let top = (0..columns).map(|column| (column, 0));
    let right = (1..rows).map(|row| (columns - 1, row));
    let bottom = (0..columns - 1).rev().filter(|_| rows > 1).map(|column| (column, rows - 1));
    let left = (1..rows.saturating_sub(1)).rev().map(|row| (0, row));
    let place = |(column, row): (usize, usize)| Box {
        x: MARGIN + column as f64 * (width + gap_x),
        y: MARGIN + row as f64 * (height + gap_y),
        width,
        height,
    };
    let boxes = top.chain(right).chain(bottom).chain(left).map(place).take(nodes).collect();
    (boxes, 2.0 * MARGIN + rows as f64 * height + (rows as f64 - 1.0) * gap_y)
}

/// The path of an arrow from one node to another, head included. Of two nodes that wait for each other, each arrow keeps to its side.
fn arrow(from: &Box, to: &Box, beside: f64) -> String {
    const HEAD: f64 = 7.0;
    let ((x1, y1), (x2, y2)) = (from.center(), to.center());
    let (dx, dy) = (x2 - x1, y2 - y1);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let aside = (-uy * beside, ux * beside);
    let start = from.edge((dx, dy));
    let end = to.edge((-dx, -dy));
    let (sx, sy, ex, ey) = (start.0 + aside.0, start.1 + aside.1, end.0 + aside.0, end.1 + aside.1);
    let (bx, by) = (ex - ux * HEAD, ey - uy * HEAD);
    let (wx, wy) = (-uy * HEAD / 2.0, ux * HEAD / 2.0);
    let [sx, sy, ex, ey]: [String; 4] = [sx, sy, ex, ey].map(one_digit);
    let [bx, by, cx, cy] = [bx + wx, by + wy, bx - wx, by - wy].map(one_digit);
    format!("M{sx} {sy}L{ex} {ey}M{bx} {by}L{ex} {ey}L{cx} {cy}")
}

fn one_digit(value: f64) -> String {
    text::decimal(value, 1)
}

/// `all_to_all, row 11`, `send 0→1 #1`.
fn operation(step: &CycleStep) -> String {
    match (step.p2p, step.place.seq) {
        (Some(p2p), _) => format!("{} {}→{} #{}", step.place.op, p2p.src, p2p.dst, p2p.nth),
        (None, Some(seq)) => format!("{}, row {seq}", step.place.op),
        (None, None) => step.place.op.clone(),
    }
}

/// `Ranks 0-5 wait in all_to_all, row 11 of shard[0-7], for ranks 6-7`.
fn sentence(step: &CycleStep) -> String {
    let verb = if text::rank_count(&step.ranks) == 1 { "waits" } else { "wait" };
    let of = if step.p2p.is_some() { "in" } else { "of" };
    let whom =
        if step.waits_for.is_empty() { String::new() } else { format!(", for {}", text::ranks(&step.waits_for)) };
    format!(
        "{} {verb} in {} {of} {}{whom}",
        text::sentence(&text::ranks(&step.ranks)),
        operation(step),
        step.place.group
    )
}

/// A text that is no wider than so many letters.
fn fitted(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

/// The lines of a node.
fn lines(finding: &Finding, step: &CycleStep, roomy: bool) -> Vec<String> {
    let mut lines = vec![text::ranks(&short(&step.ranks)), operation(step)];
    if roomy {
        lines.push(step.place.group.clone());
        lines.extend(call_site(finding, step));
    }
    lines
}

/// Where in the user's code a step's ranks wait, if a side says it.
fn call_site(finding: &Finding, step: &CycleStep) -> Option<String> {
    let first = ranks_in(&step.ranks).next()?;
    let side = finding.sides.iter().find(|side| ranks_in(&side.ranks).any(|rank| rank == first))?;
    let site = side.call_site.as_ref().or_else(|| side.last_op.as_ref()?.call_site.as_ref())?;
    Some(text::site(site))
}

#[component]
pub(crate) fn CycleGraph(finding: Finding) -> impl IntoView {
    let steps = finding.cycle.clone();
    let folds = steps.len() > NODES;
    let nodes = steps.len().min(NODES);
    let (boxes, height) = places(nodes);
    let roomy = nodes <= ROOMY;
    let width = boxes.first().map_or(0.0, |place| place.width);
    // What a letter of the style sheet's 12 and 11 pixels takes.
    let (bold_letters, letters) = (((width - 8.0) / 7.4) as usize, ((width - 8.0) / 6.7) as usize);
    let suspects: Vec<u32> = ranks_in(&finding.suspects).collect();
    let drawn = steps.iter().take(if folds { NODES - 1 } else { NODES });
    let mut shapes = Vec::new();
    for (step, place) in drawn.zip(&boxes) {
        let is_suspect = ranks_in(&step.ranks).any(|rank| suspects.contains(&rank));
        let class = if is_suspect { "cyclenode suspect" } else { "cyclenode" };
        let lines = lines(&finding, step, roomy);
        let first = place.y + (place.height - 15.0 * lines.len() as f64) / 2.0 + 11.0;
        let [x, y, width, height] = [place.x, place.y, place.width, place.height].map(length);
        let center = length(place.center().0);
        let texts = lines.iter().enumerate().map(|(line, text)| {
            let (class, letters) = if line == 0 { ("who", bold_letters) } else { ("where", letters) };
            view! { <text class=class x=center.clone() y=length(first + 15.0 * line as f64)>{fitted(text, letters)}</text> }
        });
        shapes.push(
            view! {
                <g class=class>
                    <title>{sentence(step)}</title>
                    <rect x=x y=y width=width height=height rx="6" />
                    {texts.collect_view()}
                </g>
            }
            .into_any(),
        );
    }
    if folds && let Some(place) = boxes.last() {
        let [x, y, width, height] = [place.x, place.y, place.width, place.height].map(length);
        let text = format!("and {} more", text::thousands((steps.len() + 1 - NODES) as u64));
        let middle = place.center();
        shapes.push(
            view! {
                <g class="cyclenode rest">
                    <rect x=x y=y width=width height=height rx="6" />
                    <text class="who" x=length(middle.0) y=length(middle.1 + 4.0)>{text}</text>
                </g>
            }
            .into_any(),
        );
    }
    let beside = if nodes == 2 { 9.0 } else { 0.0 };
    let arrows = boxes.iter().zip(boxes.iter().cycle().skip(1)).map(|(from, to)| arrow(from, to, beside));
    let arrows: Vec<String> = arrows.collect();
    let label = format!(
        "A circle of {}: each waits for the next, the last for the first",
        text::counted(steps.len() as u64, "wait")
    );
    let more = steps.len().saturating_sub(LISTED) as u64;
    view! {
        <div class="cycle">
            <svg role="img" aria-label=label viewBox=format!("0 0 {} {}", length(WIDTH), length(height)) style=format!("max-width:{}px", length(WIDTH))>
                {arrows.into_iter().map(|d| view! { <path class="cyclearrow" d=d /> }).collect_view()}
                {shapes}
            </svg>
            <ol class="unseen" aria-label="The circle, step by step">
                {steps.iter().take(LISTED).map(|step| view! { <li>{sentence(step)}</li> }).collect_view()}
                {(more > 0).then(|| view! { <li>{format!("and {} more", text::thousands(more))}</li> })}
            </ol>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use hangscope_analyzer_core::report::{P2pPlace, Place};

    use super::*;

    fn step(ranks: &str, seq: Option<u32>, p2p: Option<P2pPlace>, waits_for: &str) -> CycleStep {
        let op = if p2p.is_some() { "send" } else { "all_reduce" };
        CycleStep {
            ranks: ranks.to_owned(),
            place: Place { group: "world".to_owned(), seq, op: op.to_owned() },
            p2p,
            waits_for: waits_for.to_owned(),
        }
    }

    #[test]
    fn nodes_neither_overlap_nor_leave_the_drawing() {
        for nodes in 1..=NODES {
            let (boxes, height) = places(nodes);
            assert_eq!(boxes.len(), nodes);
            for (at, one) in boxes.iter().enumerate() {
                assert!(one.x >= 0.0 && one.x + one.width <= WIDTH && one.y >= 0.0 && one.y + one.height <= height);
                let apart = |other: &Box| {
                    one.x + one.width < other.x
                        || other.x + other.width < one.x
                        || one.y + one.height < other.y
                        || other.y + other.height < one.y
                };
                assert!(boxes.iter().skip(at + 1).all(apart), "{nodes} nodes");
            }
        }
    }

    #[test]
    fn arrows_stay_between_their_nodes() {
        let (boxes, _) = places(2);
        let path = arrow(&boxes[0], &boxes[1], 9.0);
        assert!(
            path.starts_with(&format!("M{:.1} 44.0L{:.1} 44.0M", boxes[0].x + boxes[0].width + 3.0, boxes[1].x - 3.0)),
            "{path}"
        );
        assert_ne!(arrow(&boxes[1], &boxes[0], 9.0), path);
    }

    #[test]
    fn in_words() {
        let message = P2pPlace { src: 0, dst: 1, nth: 1 };
        assert_eq!(sentence(&step("0", None, Some(message), "1")), "Rank 0 waits in send 0→1 #1 in world, for rank 1");
        assert_eq!(
            sentence(&step("0-5", Some(11), None, "6-7")),
            "Ranks 0-5 wait in all_reduce, row 11 of world, for ranks 6-7"
        );
        assert_eq!(fitted("all_reduce", 6), "all_r…");
        assert_eq!(fitted("→→", 2), "→→");
    }
}
