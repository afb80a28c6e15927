//! Reading alone, for whoever measures it: `cargo xtask bench-wasm` calls this and nothing else of the page.

use hangscope_analyzer_core::dump;
use wasm_bindgen::prelude::wasm_bindgen;

/// Reads a dump, forgets it, and gives the number of its entries.
#[wasm_bindgen]
pub fn read_once(bytes: &[u8]) -> u32 {
    let reading = dump::read("rank_0", bytes);
    reading.dumps.iter().map(|dump| dump.entries.len() as u32).sum()
}
