//! What it costs to line up and to diagnose a job, beside reading it, and how that grows with ranks and with entries.
//!
//! `cargo bench -p hangscope-analyzer-core --bench diagnose`; numbers of ranks may follow after `--`.

#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and stops when its own data are wrong"
)]

mod mesh;
#[path = "../../tests/dump/pickler.rs"]
mod pickler;
#[path = "../read/stacks.rs"]
mod stacks;

use std::time::{Duration, Instant};

use hangscope_analyzer_core::align::Table;
use hangscope_analyzer_core::diagnose::{Case, diagnose};
use hangscope_analyzer_core::dump::{self, Reading};
use hangscope_analyzer_core::job::Job;
use hangscope_analyzer_core::report;

use mesh::{Fault, Mesh};

/// Time of each stage.
#[derive(Clone, Copy, Debug, Default)]
struct Stages {
    read: Duration,
    merge: Duration,
    align: Duration,
    diagnose: Duration,
}

fn main() {
    let asked: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let ranks = if asked.is_empty() { vec![64, 256, 1024] } else { asked };
    println!(
        "{:>6} {:>8} {:>6} {:>10} {:>10} {:>10} {:>10} {:>22}",
        "ranks", "entries", "fault", "read", "merge", "align", "diagnose", "(align+diagnose)/read"
    );
    for fault in [Fault::Stop, Fault::Skip, Fault::Early, Fault::Lost, Fault::None] {
        for &ranks in &ranks {
            run(Mesh { ranks, entries: 2000, fault });
        }
    }
    for entries in [500, 1000, 2000, 4000] {
        run(Mesh { ranks: 256, entries, fault: Fault::Skip });
    }
}

fn run(mesh: Mesh) {
    let stages = measure(mesh);
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    println!(
        "{:>6} {:>8} {:>6} {:>10} {:>10} {:>10} {:>10} {:>22.3}",
        mesh.ranks,
        mesh.entries,
        format!("{:?}", mesh.fault),
        ms(stages.read),
        ms(stages.merge),
        ms(stages.align),
        ms(stages.diagnose),
        (stages.align + stages.diagnose).as_secs_f64() / stages.read.as_secs_f64()
    );
}

fn measure(mesh: Mesh) -> Stages {
    let stacks = stacks::stacks(30, 150);
    let mut stages = Stages::default();
    let mut readings: Vec<Reading> = Vec::new();
    for rank in 0..mesh.ranks {
        let Some(bytes) = mesh.dump(rank, &stacks) else { continue };
        let begin = Instant::now();
        let reading = dump::read(&format!("rank_{rank}"), &bytes);
        stages.read += begin.elapsed();
        readings.push(reading);
    }
    let mut clock = Instant::now();
    let mut lap = || core::mem::replace(&mut clock, Instant::now()).elapsed();
    lap();
    let job = Job::assemble(readings);
    stages.merge = lap();
    let table = Table::align(&job);
    stages.align = lap();
    let case = Case::new(&job, &table);
    let drafts = diagnose(&case);
    let report = report::build(&case, &drafts);
    stages.diagnose = lap();

    let expected = if mesh.fault == Fault::None { String::new() } else { mesh.culprit().to_string() };
    let blamed = report.findings.first().map(|finding| finding.suspects.clone()).unwrap_or_default();
    assert_eq!(blamed, expected, "{}", report.headline);
    stages
}
