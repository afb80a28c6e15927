//! Large dumps and large jobs.

use std::fmt::Write;

use hangscope_analyzer_core::dump::{self, Reading};
use hangscope_analyzer_core::report::{Cause, CellCode, Confidence, QualityKind, RankStatus};

use crate::fake::{Fake, analyze_both_ways, check, check_class, check_healthy, only, op};

/// A dump of so many finished all_reduces, from a record and row on.
fn long_dump(from: u32, count: u32) -> String {
    let mut entries = String::new();
    for at in from..from + count {
        let comma = if at == from { "" } else { "," };
        write!(
            entries,
            r#"{comma}{{"record_id":{at},"process_group":["0","default_pg"],"collective_seq_id":{},"profiling_name":"nccl:all_reduce","state":"completed"}}"#,
            at + 1
        )
        .unwrap();
    }
    let config = r#"{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}}"#;
    format!(r#"{{"version":"2.10","pg_config":{config},"entries":[{entries}]}}"#)
}

// A23
#[test]
fn a_buffer_size_that_was_meant_as_bytes() {
    let readings = vec![
        dump::read("rank_0", long_dump(0, 200_000).as_bytes()),
        dump::read("rank_1", long_dump(198_000, 2_000).as_bytes()),
    ];
    let analysis = hangscope_analyzer_core::analyze(readings);
    let report = analysis.report();
    check_healthy(report);
    assert_eq!((report.job.entries, report.job.rows), (202_000, 200_000));
    let notes: Vec<_> = report.data_quality.iter().filter(|note| note.kind == QualityKind::UnusualSize).collect();
    assert_eq!(notes.len(), 1);
    assert_eq!((notes[0].rank, notes[0].file.as_deref()), (Some(0), Some("rank_0")));
    assert!(
        notes[0].detail.contains("200000 entries") && notes[0].detail.contains("counts entries"),
        "{}",
        notes[0].detail
    );
}

// Rules 7.30, at a size for every day; benches/diagnose measures 1,024 ranks × 2,000 entries
#[test]
fn one_of_256_ranks() {
    let mut job = Fake::new(256);
    for _ in 0..99 {
        job.some(&[0], op("all_reduce").at("train_step", 10));
    }
    let short = job.documents().remove(0).1.to_string();
    job.some(&[0], op("all_reduce").scheduled().at("backward", 20));
    let long = job.documents().remove(0).1.to_string();
    let read = || -> Vec<Reading> {
        let text = |rank: u32| if rank == 77 { &short } else { &long };
        (0..256).map(|rank| dump::read(&format!("nccl_trace_rank_{rank}"), text(rank).as_bytes())).collect()
    };
    let analysis = analyze_both_ways(read);
    let report = analysis.report();
    check(report, "missing_rank", "77", Some(100));
    let finding = only(report);
    check_class(finding, Cause::CpuStuck, Confidence::High);
    assert_eq!(finding.victims, "0-76,78-255");
    assert_eq!((report.job.ranks_loaded, report.job.entries), (256, 256 * 100 - 1));
    assert_eq!(report.ranks.iter().filter(|state| state.status == RankStatus::Suspect).count(), 1);
    assert_eq!(analysis.cells().len(), 256 * 100);
}

/// Every rank sends to every other one, all in one block: memory grows with the messages, not with messages times ranks, nor with the square of
/// the block.
#[test]
fn an_exchange_of_all_with_all_by_messages() {
    const RANKS: u32 = 96;
    let mut job = Fake::new(RANKS);
    for rank in 0..RANKS {
        let others = (0..RANKS).filter(|other| *other != rank);
        let names: Vec<String> = others
            .flat_map(|other| [format!("send {rank}->{other}"), format!("recv {rank}<-{other}")])
            .filter(|name| name != "send 41->90")
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        job.batch(rank, &names, op("").scheduled());
    }
    let analysis = job.analyze();
    let report = analysis.report();
    check(report, "p2p_unmatched", "41", None);
    let index = analysis.table_index();
    let messages = (RANKS * (RANKS - 1)) as usize;
    assert_eq!((index.rows.len(), analysis.cells().len()), (messages, 2 * messages));
    let row = report_row(&analysis);
    assert_eq!(index.rows.get(row).unwrap().number.to_string(), "41→90 #1");
    let band = &index.bands[0];
    assert_eq!(index.ends(band, row), [Some(41), Some(90)]);
    let code = |rank: u32| index.cell_at(band, row, rank).map(|at| CellCode(analysis.cells()[at]));
    assert_eq!(code(41), Some(CellCode::MISSING.with(CellCode::ORIGIN)));
    assert_eq!(code(90), Some(CellCode::SCHEDULED));
    assert_eq!(code(3), None);
}

fn report_row(analysis: &hangscope_analyzer_core::Analysis) -> u32 {
    analysis.table_index().findings[0].row.unwrap()
}
