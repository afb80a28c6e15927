//! What a dump costs in memory when it is read.

#[path = "dump/heap.rs"]
mod heap;
#[path = "../benches/read/job.rs"]
mod job;
#[path = "dump/pickler.rs"]
mod pickler;
#[path = "../benches/read/stacks.rs"]
mod stacks;

use hangscope_analyzer_core::dump::read;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

#[test]
fn an_entry_costs_tens_of_bytes() {
    let bytes = job::dump(job::LARGE);
    let (reading, live, peak) = heap::measure(|| read("rank_0", &bytes));
    assert_eq!(reading.faults, []);
    let entries = reading.dumps[0].entries.len();
    assert_eq!(entries, job::LARGE.entries);
    assert!(live <= 60 * entries, "{} bytes an entry", live as f64 / entries as f64);
    assert!(peak <= bytes.len(), "{peak} bytes at the peak for a file of {}", bytes.len());
    // The stacks of all call sites are there, frame for frame.
    let dump = &reading.dumps[0];
    let mut stacks: Vec<_> = dump.entries.iter().map(|(_, entry)| entry.stack).collect();
    assert!(stacks.iter().all(|&stack| dump.symbols.stacks.frames(stack).count() == job::LARGE.frames));
    stacks.sort_unstable();
    stacks.dedup();
    assert_eq!(stacks.len(), job::LARGE.call_sites);
}
