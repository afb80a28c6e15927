//! One order over the rows of all groups.

use hangscope_analyzer_core::Analysis;
use hangscope_analyzer_core::report::ProgramOrderView;
use serde_json::json;

use crate::fake::{Fake, op};

/// A row as people name it: `world 3`, `pp 0→1 #2`.
fn name(analysis: &Analysis, row: u32) -> String {
    let index = analysis.table_index();
    let after = index.bands.partition_point(|band| band.first_row <= row);
    let label = index.bands[after - 1].label.split('[').next().unwrap();
    format!("{label} {}", index.rows.get(row).unwrap().number)
}

/// When a rank issued its part of each row, in the order; what it did not issue is left out.
fn issued(analysis: &Analysis, order: &ProgramOrderView, rank: u32) -> Vec<(String, i64)> {
    let detail = |&row: &u32| Some((name(analysis, row), analysis.cell_detail(row, rank)?.created_ns));
    order.rows.iter().filter_map(detail).filter(|item| item.1 > 0).collect()
}

/// The order, which has every row once.
#[track_caller]
fn order_of(analysis: &Analysis) -> ProgramOrderView {
    let order = analysis.program_order();
    let mut rows = order.rows.clone();
    rows.sort_unstable();
    assert!(rows.into_iter().eq(0..analysis.table_index().rows.len() as u32));
    order
}

/// That the order agrees with the own order of every rank.
#[track_caller]
fn check_agrees(analysis: &Analysis) -> ProgramOrderView {
    let order = order_of(analysis);
    assert_eq!((order.contradicted, order.contradictions.as_slice()), (0, &[][..]));
    for column in &analysis.table_index().ranks {
        let own = issued(analysis, &order, column.rank);
        assert!(own.is_sorted_by_key(|item| item.1), "rank {}: {own:?}", column.rank);
    }
    order
}

/// Contradictions in words: `tp 3 < world 2: 0-1 | 2`.
fn contradictions(analysis: &Analysis) -> Vec<String> {
    let order = order_of(analysis);
    assert_eq!(order.contradicted as usize, order.contradictions.len());
    let words = order.contradictions.iter().map(|found| {
        let rows: Vec<String> = found.rows.iter().map(|&row| name(analysis, row)).collect();
        format!("{}: {}", rows.join(" < "), found.ranks.join(" | "))
    });
    words.collect()
}

/// Four ranks, `tp` of two neighbours each, `dp` across.
fn mesh() -> Fake {
    Fake::new(4).group("1", "mesh_tp", &[0, 1]).group("2", "mesh_tp", &[2, 3]).group("3", "mesh_dp", &[0, 2]).group(
        "4",
        "mesh_dp",
        &[1, 3],
    )
}

fn step(job: &mut Fake) {
    job.all(op("all_gather").on("1")).all(op("all_gather").on("2"));
    job.all(op("reduce_scatter").on("3")).all(op("reduce_scatter").on("4"));
    job.all(op("all_reduce"));
}

#[test]
fn a_healthy_job_goes_step_by_step() {
    let mut job = mesh();
    (0..3).for_each(|_| step(&mut job));
    let analysis = job.analyze();
    let order = check_agrees(&analysis);
    let names: Vec<String> = order.rows.iter().map(|&row| name(&analysis, row)).collect();
    let expected: Vec<String> =
        (1..4).flat_map(|at| ["tp", "tp", "dp", "dp", "world"].map(|group| format!("{group} {at}"))).collect();
    assert_eq!(names, expected);
}

#[test]
fn clocks_of_hosts_do_not_matter() {
    let mut job = mesh();
    (0..3).for_each(|_| step(&mut job));
    job.edit_all(|rank, entry| {
        for field in ["time_created_ns", "time_discovered_completed_ns"] {
            let ns = entry[field].as_i64().unwrap();
            entry[field] = json!(ns + i64::from(rank / 2) * 3_600_000_000_000);
        }
    });
    let analysis = job.analyze();
    let order = check_agrees(&analysis);
    assert_eq!(name(&analysis, order.rows[4]), "world 1");
    // Without times the ranks' own orders are left.
    job.edit_all(|_, entry| entry["time_created_ns"] = json!(0));
    let untimed = order_of(&job.analyze());
    assert_eq!(untimed.contradicted, 0);
    assert_eq!(name(&analysis, untimed.rows[14]), "world 3");
}

#[test]
fn rings_that_wrapped_differently() {
    let mut job = mesh();
    (0..5).for_each(|_| step(&mut job));
    job.wrap(0, 7, 900).wrap(2, 4, 100).wrap(3, 11, 5000);
    let order = check_agrees(&job.analyze());
    // Three rows are in no ring any more.
    assert_eq!(order.rows.len(), 22);
}

#[test]
fn two_groups_in_the_other_order_on_one_rank() {
    let mut job = mesh();
    step(&mut job);
    job.some(&[0, 1, 3], op("all_reduce").at("clip", 20)).some(&[0, 1], op("all_gather").on("1"));
    job.some(&[2], op("all_gather").on("2").scheduled());
    job.some(&[2], op("all_reduce").scheduled().at("clip", 20));
    job.some(&[3], op("all_gather").on("2").scheduled());
    let analysis = job.analyze();
    assert_eq!(contradictions(&analysis), ["tp 2 < world 2: 2 | 3"]);
    // All others have their own order.
    let order = analysis.program_order();
    for rank in [0, 1, 2] {
        assert!(issued(&analysis, &order, rank).is_sorted_by_key(|item| item.1), "rank {rank}");
    }
}

#[test]
fn one_rank_against_three() {
    let mut job = mesh().group("5", "side", &[0, 1, 2, 3]);
    for _ in 0..3 {
        job.some(&[0, 1, 3], op("all_reduce")).some(&[0, 1, 3], op("all_reduce").on("5"));
        job.some(&[2], op("all_reduce").on("5")).some(&[2], op("all_reduce"));
    }
    let analysis = job.analyze();
    let found = contradictions(&analysis);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|words| words.ends_with(": 0-1,3 | 2")), "{found:?}");
    let order = analysis.program_order();
    assert!(issued(&analysis, &order, 3).is_sorted_by_key(|item| item.1));
}

#[test]
fn an_order_that_goes_round() {
    let mut job = Fake::new(3).group("1", "ab", &[0, 1]).group("2", "bc", &[1, 2]).group("3", "ca", &[0, 2]);
    job.some(&[0], op("all_reduce").on("1")).some(&[0], op("all_reduce").on("3"));
    job.some(&[1], op("all_reduce").on("2")).some(&[1], op("all_reduce").on("1"));
    job.some(&[2], op("all_reduce").on("3")).some(&[2], op("all_reduce").on("2"));
    assert_eq!(contradictions(&job.analyze()), ["bc 1 < ab 1 < ca 1: 1 | 0 | 2"]);
}

#[test]
fn messages_of_one_block_have_no_order() {
    let mut job = Fake::trained(2);
    for _ in 0..2 {
        job.batch(0, &["send 0->1", "recv 0<-1"], op("coalesced"));
        job.batch(1, &["send 1->0", "recv 1<-0"], op("coalesced"));
        job.all(op("all_reduce"));
    }
    assert_eq!(contradictions(&job.analyze()), [""; 0]);

    let mut job = Fake::trained(2);
    job.message(0, "send 0->1", op("")).message(0, "recv 0<-1", op(""));
    job.message(1, "send 1->0", op("")).message(1, "recv 1<-0", op(""));
    assert_eq!(contradictions(&job.analyze()), ["world 0→1 #1 < world 1→0 #1: 0 | 1"]);
    // Which send met which receive is not certain where a ring lost some.
    job.wrap(0, 1, 50);
    assert_eq!(contradictions(&job.analyze()), [""; 0]);
}

#[test]
fn those_who_only_wait_contradict_nobody() {
    // Ranks 2 to 7 wait behind the two that contradict each other, and for each other.
    let mut job = Fake::new(8).group("1", "pair", &[0, 1]);
    job.some(&[0], op("all_reduce").on("1")).some(&[0], op("all_reduce"));
    job.some(&[1], op("all_reduce")).some(&[1], op("all_reduce").on("1"));
    for rank in 2..8 {
        job.some(&[rank], op("all_reduce"));
    }
    for _ in 0..4 {
        job.all(op("all_reduce"));
    }
    assert_eq!(contradictions(&job.analyze()), ["pair 1 < world 1: 0 | 1"]);
}

#[test]
fn a_job_without_rows_has_an_empty_order() {
    assert_eq!(Fake::new(2).analyze().program_order(), ProgramOrderView::default());
}
