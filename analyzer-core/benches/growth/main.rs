//! How the work after reading grows: many groups, many entries, many ranks, many messages, each at three sizes.
//!
//! `cargo bench -p hangscope-analyzer-core --bench growth`; names of jobs may follow after `--`,
//! or the size of one large job: `10240x2000`.

#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and stops when its own data are wrong"
)]

mod job;

use std::time::Instant;

use hangscope_analyzer_core::align::Table;
use hangscope_analyzer_core::analyze;
use hangscope_analyzer_core::diagnose::{Case, diagnose};
use hangscope_analyzer_core::job::Job as Assembled;
use hangscope_analyzer_core::report::{self, ColourBy};

use job::{Fault, Job, Shape};

const STAGES: [&str; 6] = ["merge", "line up", "diagnose", "whole", "order", "layers"];

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let sizes = asked.iter().filter_map(|asked| asked.split_once('x'));
    let large: Vec<(usize, usize)> =
        sizes.filter_map(|(ranks, entries)| Some((ranks.parse().ok()?, entries.parse().ok()?))).collect();
    if !large.is_empty() {
        large.into_iter().for_each(|(ranks, entries)| run_large(ranks, entries));
        return;
    }
    let job = |shape, ranks, entries| Job { shape, ranks, entries, fault: Fault::None, nameless: false };
    let nameless = |job: Job| Job { nameless: true, ..job };
    let kinds = [
        ("pairs", [job(Shape::Pairs, 100, 300), job(Shape::Pairs, 142, 426), job(Shape::Pairs, 200, 600)]),
        ("nameless-pairs", [100, 142, 200].map(|ranks| nameless(job(Shape::Pairs, ranks, 3 * ranks)))),
        ("entries", [50_000, 100_000, 200_000].map(|entries| job(Shape::Mesh, 8, entries))),
        ("ranks", [1024, 2048, 4096].map(|ranks| job(Shape::Mesh, ranks, 100))),
        ("nameless-ranks", [1024, 2048, 4096].map(|ranks| nameless(job(Shape::Mesh, ranks, 100)))),
        ("messages", [25_000, 50_000, 100_000].map(|entries| job(Shape::Stages, 16, entries))),
        ("exchange", [128, 181, 256].map(|ranks| job(Shape::Exchange, ranks, 2 * Job::exchange(ranks)))),
        ("stages", [256, 512, 1024].map(|ranks| job(Shape::Stages, ranks, 400))),
    ];
    print!("{:<16} {:<6} {:>9} {:>9}", "job", "fault", "entries", "groups");
    STAGES.iter().for_each(|stage| print!(" {stage:>9}"));
    println!();
    for (name, sizes) in kinds {
        if !asked.is_empty() && !asked.iter().any(|asked| asked == name) {
            continue;
        }
        for fault in [Fault::None, Fault::Skip, Fault::Stop, Fault::Lost] {
            let measured = sizes.map(|job| run(name, Job { fault, ..job }));
            let [small, _, large] = &measured;
            print!("{:<16} {:<6} {:>8.1}x {:>9}", "", "", large.entries as f64 / small.entries as f64, "");
            for (small, large) in small.stages.iter().zip(large.stages) {
                print!(" {:>8.1}x", large / small);
            }
            println!();
        }
    }
}

struct Measured {
    entries: u64,
    /// Milliseconds of each stage.
    stages: [f64; STAGES.len()],
}

/// One large job from readings to the page's questions, with what the process has taken at the most so far.
fn run_large(ranks: usize, entries: usize) {
    let job = Job { shape: Shape::Mesh, ranks, entries, fault: Fault::Skip, nameless: false };
    let mut clock = Instant::now();
    let mut lap = |what: &str| {
        let seconds = core::mem::replace(&mut clock, Instant::now()).elapsed().as_secs_f64();
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let most = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: not known").to_owned();
        println!(
            "{ranks} x {entries} {what}: {seconds:.2} s, {}",
            most.split_whitespace().collect::<Vec<_>>().join(" ")
        );
        clock = Instant::now();
    };
    let readings = job.readings();
    lap("made");
    let analysis = analyze(readings);
    lap("analysed");
    let order = analysis.program_order();
    lap("put in one order");
    let layers = [ColourBy::Signature, ColourBy::CallSite].map(|by| analysis.layer(by));
    lap("coloured twice");
    check(&job, &analysis, &order, &layers);
    drop(layers);
    let rows = analysis.rows_with_frame("step").len();
    lap("searched");
    println!("{rows} rows: {}", analysis.report().headline);
}

/// So many rounds, of which the fastest of each stage counts.
const ROUNDS: usize = 3;

fn run(name: &str, job: Job) -> Measured {
    let mut best = [f64::INFINITY; STAGES.len()];
    let mut facts = (0, 0, String::new());
    for _ in 0..ROUNDS {
        let (readings, again) = (job.readings(), job.readings());
        let mut clock = Instant::now();
        let mut lap = || core::mem::replace(&mut clock, Instant::now()).elapsed().as_secs_f64() * 1e3;
        lap();
        let assembled = Assembled::assemble(readings);
        let merge = lap();
        let table = Table::align(&assembled);
        let align = lap();
        let case = Case::new(&assembled, &table);
        let report = report::build(&case, &diagnose(&case));
        let diagnose = lap();
        drop(case);
        drop((table, assembled));
        lap();
        let analysis = analyze(again);
        let whole = lap();
        let order = analysis.program_order();
        let ordered = lap();
        let layers = [ColourBy::Signature, ColourBy::CallSite].map(|by| analysis.layer(by));
        let coloured = lap();
        check(&job, &analysis, &order, &layers);
        for (best, ms) in best.iter_mut().zip([merge, align, diagnose, whole, ordered, coloured]) {
            *best = best.min(ms);
        }
        facts = (report.job.entries, report.job.groups, report.headline);
    }
    let (entries, groups, headline) = facts;
    print!("{:<16} {:<6} {:>9} {:>9}", name, format!("{:?}", job.fault), entries, groups);
    best.iter().for_each(|ms| print!(" {ms:>6.0} ms"));
    println!("  {}", headline.chars().take(60).collect::<String>());
    Measured { entries, stages: best }
}

/// A benchmark of wrong answers would be worth nothing.
fn check(
    job: &Job,
    analysis: &hangscope_analyzer_core::Analysis,
    order: &report::ProgramOrderView,
    layers: &[report::Layer; 2],
) {
    let report = analysis.report();
    let suspects = report.findings.first().map(|finding| finding.suspects.clone()).unwrap_or_default();
    let expected = if job.fault == Fault::None { String::new() } else { job.culprit().to_string() };
    // Where every rank has a program of its own, it may be that nobody can be singled out; an innocent one must not be.
    let is_open = job.shape != Shape::Mesh && job.fault != Fault::None && suspects.is_empty();
    assert!(suspects == expected || is_open, "{job:?}: {}", report.headline);
    assert_eq!(order.rows.len(), analysis.table_index().rows.len());
    assert!(layers.iter().all(|layer| layer.codes.len() == analysis.cells().len() && !layer.legend.is_empty()));
}
