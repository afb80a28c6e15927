//! Sizes as people write them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::symbols::{ArgsId, ShapesId, Symbols};

/// Most shapes that a text writes out.
const SHOWN: usize = 3;

/// Input and output sizes of a call: `[4096]`, `[64] → [512]`; empty for a call without tensors.
pub fn sizes_text(symbols: &Symbols, args: ArgsId) -> String {
    let args = symbols.args.get(args);
    let (input, output) = (shapes_text(symbols, args.input_sizes), shapes_text(symbols, args.output_sizes));
    match (input.is_empty(), output.is_empty()) {
        (_, true) => input,
        (true, false) => output,
        _ if input == output => input,
        _ => format!("{input} → {output}"),
    }
}

/// One side's sizes: `[4096]`, `[4, 8], [16]`, `[8] × 64`; empty for none.
pub fn shapes_text(symbols: &Symbols, shapes: ShapesId) -> String {
    let shapes = symbols.shape_lists.get(shapes);
    let text = |shape| {
        let extents: Vec<String> = symbols.shapes.get(shape).iter().map(|extent| format!("{extent}")).collect();
        format!("[{}]", extents.join(", "))
    };
    match shapes {
        [] => String::new(),
        [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|shape| shape == first) => {
            format!("{} × {}", text(*first), shapes.len())
        }
        _ => {
            let mut texts: Vec<String> = shapes.iter().take(SHOWN).map(|&shape| text(shape)).collect();
            if shapes.len() > SHOWN {
                texts.push(format!("… {} tensors", shapes.len()));
            }
            texts.join(", ")
        }
    }
}
