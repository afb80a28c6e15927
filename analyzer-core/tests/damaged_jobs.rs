//! Jobs of damaged and contradicting dumps: the whole way from bytes to the last cell must end, whatever is in them.

#![allow(clippy::unwrap_used, reason = "a test may stop where its own set-up fails")]

use std::fs;
use std::path::{Path, PathBuf};

use hangscope_analyzer_core::dump::{self, Reading};
use hangscope_analyzer_core::report::{render_json, render_text};
use hangscope_analyzer_core::{Analysis, analyze};

/// A small generator of numbers that look random and are the same on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }
}

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/dumps");
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    found.sort();
    found
}

/// Everything that can be asked of an analysis.
fn exhaust(analysis: &Analysis) {
    let report = analysis.report();
    assert!(!report.headline.is_empty());
    assert!(render_text(report).ends_with('\n') && render_json(report).ends_with('\n'));
    let index = analysis.table_index();
    let cells: usize = index.bands.iter().map(|band| band.row_bytes() * band.row_count as usize).sum();
    assert_eq!(cells, analysis.cells().len());
    for row in 0..index.rows.len() as u32 {
        for column in &index.ranks {
            let _ = analysis.cell_detail(row, column.rank);
        }
    }
}

#[test]
fn flipped_bytes() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for scenario in scenarios() {
        let original = files(&scenario.join("pickle"));
        for _ in 0..12 {
            let mut damaged = original.clone();
            for (_, bytes) in &mut damaged {
                for _ in 0..dice.roll(6) {
                    let at = dice.roll(bytes.len());
                    bytes[at] = dice.roll(256) as u8;
                }
            }
            exhaust(&analyze(damaged.iter().map(|(name, bytes)| dump::read(name, bytes)).collect()));
        }
    }
}

#[test]
fn dumps_that_break_off() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for scenario in scenarios() {
        let original = files(&scenario.join("pickle"));
        for _ in 0..6 {
            let readings: Vec<Reading> = original
                .iter()
                .map(|(name, bytes)| dump::read(name, &bytes[..bytes.len() - dice.roll(bytes.len() / 2)]))
                .collect();
            exhaust(&analyze(readings));
        }
    }
}

#[test]
fn ranks_of_different_jobs() {
    let all = scenarios();
    let mut dice = Dice(0x1234_5678_9abc_def1);
    for _ in 0..60 {
        let readings = (0..6)
            .map(|rank| {
                let own = files(&all[dice.roll(all.len())].join("pickle"));
                let (_, bytes) = &own[dice.roll(own.len())];
                dump::read(&format!("rank_{rank}"), bytes)
            })
            .collect();
        exhaust(&analyze(readings));
    }
}

#[test]
fn extreme_numbers() {
    let entry = |seq: u64, group: &str, op: &str| {
        format!(
            r#"{{"record_id": {seq}, "pg_id": -9, "process_group": ["{group}", ""], "collective_seq_id": {seq}, "p2p_seq_id": {seq},
            "op_id": 1, "profiling_name": "{op}", "time_created_ns": 9223372036854775807, "time_discovered_completed_ns": -9223372036854775808,
            "input_sizes": [[9223372036854775807, 9223372036854775807]], "output_sizes": [[-1]], "input_dtypes": [], "output_dtypes": [],
            "state": "started", "retired": true, "timeout_ms": 4294967295, "is_p2p": true}}"#
        )
    };
    let entries = [
        entry(0, "0", "nccl:all_to_all"),
        entry(4_294_967_295, "0", "nccl:all_reduce"),
        entry(4_294_967_294, "0", "nccl:send 0->4294967295"),
        entry(7, "0", "nccl:recv 4294967295<-0"),
        entry(7, "", "nccl:recv 0<-0"),
        entry(7, "0", "coalesced"),
        entry(7, "0", "::: "),
    ];
    for ranks in ["[0, 4294967295]", "[]", "[4294967295]", "[0, 1, 2, 3, 4, 5, 6, 7, 8]"] {
        let document = format!(
            r#"{{"version": "9.9.9", "pg_config": {{"0": {{"name": "0", "desc": "", "ranks": "{ranks}"}}}}, "entries": [{}]}}"#,
            entries.join(",")
        );
        for names in [&["rank_0", "rank_4294967295"][..], &["rank_4294967295"], &["rank_0", "rank_1", "rank_2"]] {
            exhaust(&analyze(names.iter().map(|name| dump::read(name, document.as_bytes())).collect()));
        }
    }
}

#[test]
fn one_dump_that_claims_many_members() {
    let members: Vec<String> = (0..200_000).map(|rank: u32| rank.to_string()).collect();
    let entries: Vec<String> = (1..2000)
        .map(|seq| {
            format!(
                r#"{{"process_group": ["0", "default_pg"], "collective_seq_id": {seq}, "profiling_name": "nccl:all_reduce", "state": "scheduled"}}"#
            )
        })
        .collect();
    let document = format!(
        r#"{{"version": "2.10", "pg_config": {{"0": {{"name": "0", "desc": "default_pg", "ranks": "[{}]"}}}}, "entries": [{}]}}"#,
        members.join(","),
        entries.join(",")
    );
    let analysis = analyze(vec![dump::read("rank_0", document.as_bytes())]);
    assert!(analysis.cells().len() < 1 << 28);
    assert!(analysis.report().data_quality.len() < 100, "{}", analysis.report().data_quality.len());
}
