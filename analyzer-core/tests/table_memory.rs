//! What lining up and diagnosing a job costs in memory, beside its entries.

#[path = "dump/heap.rs"]
mod heap;
#[allow(dead_code, reason = "the benchmark needs all of it")]
#[path = "../benches/growth/job.rs"]
mod job;

use hangscope_analyzer_core::align::Table;
use hangscope_analyzer_core::analyze;
use hangscope_analyzer_core::diagnose::{Case, diagnose};
use hangscope_analyzer_core::job::Job as Assembled;
use hangscope_analyzer_core::report;

use job::{Fault, Job, Shape};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// Bytes an entry: live after the analysis beside the job itself, and the most on the way.
fn cost(job: Job) -> (f64, f64) {
    let (assembled, job_live, _) = heap::measure(|| Assembled::assemble(job.readings()));
    let entries: usize = assembled.ranks.iter().map(|dump| dump.entries.len()).sum();
    let (reported, _, peak) = heap::measure(|| {
        let table = Table::align(&assembled);
        let case = Case::new(&assembled, &table);
        report::build(&case, &diagnose(&case))
    });
    assert_eq!(reported.findings.is_empty(), job.fault == Fault::None, "{}", reported.headline);
    drop(assembled);
    let (analysis, live, _) = heap::measure(|| analyze(job.readings()));
    assert_eq!(*analysis.report(), reported);
    let each = |bytes: usize| bytes as f64 / entries as f64;
    (each(live.saturating_sub(job_live)), each(peak))
}

#[test]
fn an_entry_costs_a_few_bytes_more() {
    for fault in [Fault::None, Fault::Skip, Fault::Stop] {
        let job = Job { shape: Shape::Mesh, ranks: 256, entries: 1000, fault, nameless: false };
        let (live, peak) = cost(job);
        println!("{job:?}: live {live:.1}, peak {peak:.1}");
        assert!(live <= 8.0 && peak <= 16.0, "{job:?}: {live:.1} bytes an entry live, {peak:.1} at the peak");
    }
}

#[test]
fn messages_cost_more_and_not_much_more() {
    let job = Job { shape: Shape::Stages, ranks: 64, entries: 1000, fault: Fault::None, nameless: false };
    let (live, peak) = cost(job);
    println!("{job:?}: live {live:.1}, peak {peak:.1}");
    assert!(live <= 24.0 && peak <= 40.0, "{job:?}: {live:.1} bytes an entry live, {peak:.1} at the peak");
}
