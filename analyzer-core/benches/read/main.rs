//! How fast the reader is, beside a scan that keeps nothing and beside serde-pickle, and how much memory it takes.
//!
//! Ratios and heap first, of rounds in turns; then divan's tables of the same three, for the spread.
//!
//! `cargo bench -p hangscope-analyzer-core --bench read`; with `-- --profile` it only reads, for a profiler to look at.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints, and stops when its own data are wrong"
)]

mod bare_scan;
#[path = "../../tests/dump/heap.rs"]
mod heap;
mod job;
#[path = "../../tests/dump/pickler.rs"]
mod pickler;
mod stacks;

use std::hint::black_box;
use std::time::{Duration, Instant};

use hangscope_analyzer_core::dump;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// Rounds of each measurement; the fastest counts, because everything that disturbs makes it slower.
const ROUNDS: usize = 200;

fn main() {
    let bytes = job::dump(job::LARGE);
    let steps = bare_scan::bare_scan(&bytes).expect("the generator writes what the scan knows");
    println!(
        "one rank: {} entries, {} frames a stack, {} call sites: {} bytes, {steps} opcodes",
        job::LARGE.entries,
        job::LARGE.frames,
        job::LARGE.call_sites,
        bytes.len()
    );
    let reading = dump::read("rank_0", &bytes);
    assert!(reading.faults.is_empty() && reading.dumps[0].entries.len() == job::LARGE.entries, "{:?}", reading.faults);

    if std::env::args().any(|argument| argument == "--profile") {
        (0..20 * ROUNDS).for_each(|_| drop(black_box(dump::read("rank_0", black_box(&bytes)))));
        return;
    }

    // In turns, so that a slow second of the machine hits all of them.
    let mut best = [Duration::MAX; 3];
    for round in 0..ROUNDS {
        best[0] = best[0].min(time(|| bare_scan::bare_scan(black_box(&bytes))));
        best[1] = best[1].min(time(|| dump::read("rank_0", black_box(&bytes))));
        if round % 10 == 0 {
            best[2] = best[2].min(time(|| tree_of(black_box(&bytes))));
        }
    }
    let [scan, read, tree] = best;
    for (name, time) in [("bare scan", scan), ("read", read), ("serde-pickle", tree)] {
        println!(
            "{name:>14}: {:>8.1} µs  {:>7.1} MB/s  {:>6.2} × the bare scan  {:>6.0} ns an entry",
            time.as_secs_f64() * 1e6,
            bytes.len() as f64 / time.as_secs_f64() / 1e6,
            time.as_secs_f64() / scan.as_secs_f64(),
            time.as_secs_f64() * 1e9 / job::LARGE.entries as f64
        );
    }
    let (reading, live, peak) = heap::measure(|| dump::read("rank_0", &bytes));
    let entries = reading.dumps[0].entries.len();
    println!(
        "  heap of read: {:.1} bytes an entry live, {:.1} at the peak",
        live as f64 / entries as f64,
        peak as f64 / entries as f64
    );
    let (_tree, live, peak) = heap::measure(|| tree_of(&bytes));
    println!(
        "  serde-pickle: {:.1} bytes an entry live, {:.1} at the peak",
        live as f64 / entries as f64,
        peak as f64 / entries as f64
    );
    // The same three with their spread.
    divan::main();
}

#[divan::bench(name = "bare scan")]
fn bench_bare_scan(bencher: divan::Bencher<'_, '_>) {
    let bytes = job::dump(job::LARGE);
    bencher
        .counter(divan::counter::BytesCount::of_slice(&bytes))
        .bench_local(|| bare_scan::bare_scan(black_box(&bytes)));
}

#[divan::bench(name = "read")]
fn bench_read(bencher: divan::Bencher<'_, '_>) {
    let bytes = job::dump(job::LARGE);
    bencher
        .counter(divan::counter::BytesCount::of_slice(&bytes))
        .bench_local(|| dump::read("rank_0", black_box(&bytes)));
}

#[divan::bench(name = "serde-pickle", sample_count = 10)]
fn bench_serde_pickle(bencher: divan::Bencher<'_, '_>) {
    let bytes = job::dump(job::LARGE);
    bencher.counter(divan::counter::BytesCount::of_slice(&bytes)).bench_local(|| tree_of(black_box(&bytes)));
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let elapsed = start.elapsed();
    drop(result);
    elapsed
}

/// What serde-pickle makes of it. By default it takes a dict that is used often for one that holds itself and refuses the file; with
/// this option it reads on and leaves such values out, so it does less than its full work here.
fn tree_of(bytes: &[u8]) -> serde_pickle::Value {
    let options = serde_pickle::DeOptions::new().replace_recursive_structures();
    serde_pickle::value_from_slice(bytes, options).expect("pickle")
}
