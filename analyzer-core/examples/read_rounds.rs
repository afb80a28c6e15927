//! Reads one dump over and over and prints the shortest time of a reading in microseconds.
//!
//! `cargo run --release -p hangscope-analyzer-core --example read_rounds FILE`. `tests/browser/bench-read.js` does the same in the page.

#![expect(clippy::print_stdout, clippy::expect_used, reason = "a measurement prints, and stops without its file")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use hangscope_analyzer_core::dump;

/// As in the page: readings timed together, since its clock is coarse, and how often.
const TOGETHER: u32 = 4;
const ROUNDS: usize = 200;

fn main() {
    let path = std::env::args_os().nth(1).expect("the name of a dump");
    let bytes = std::fs::read(path).expect("a dump that can be read");
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for _ in 0..TOGETHER {
            // The page gets its bytes by a copy into its memory; so here.
            let copy = bytes.clone();
            assert!(!black_box(dump::read("rank_0", black_box(&copy))).dumps.is_empty(), "not a dump");
        }
        best = best.min(started.elapsed() / TOGETHER);
    }
    println!("{:.1}", best.as_secs_f64() * 1e6);
}
