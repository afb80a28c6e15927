//! Collectives that do not meet.

use hangscope_analyzer_core::analyze;
use hangscope_analyzer_core::report::{Cause, CellCode, Confidence, QualityKind, RankStatus, SideState};

use crate::fake::{Fake, check, check_class, check_healthy, check_says, only, op, sites};

// A1, Rules 7.13
#[test]
fn the_first_rank_can_be_the_culprit() {
    for odd in 0..4 {
        let mut job = Fake::trained(4);
        for rank in 0..4 {
            let size = if rank == odd { 8 } else { 16 };
            job.some(&[rank], op("all_reduce").size(&[size]).scheduled().at("backward", 20));
        }
        let report = job.report();
        check(&report, "size_mismatch", &odd.to_string(), Some(4));
        let finding = only(&report);
        check_class(finding, Cause::BadArguments, Confidence::High);
        assert_eq!(finding.group.as_ref().map(|group| group.label.as_str()), Some("world"));
        let sizes: Vec<_> = finding.sides.iter().map(|side| side.input_sizes.clone()).collect();
        assert_eq!(sizes, [[[16]], [[8]]]);
        assert!(report.headline.contains("backward"), "{}", report.headline);
        // The file of the culprit comes first, second, third or last: the report is the same.
        for turn in 1..4 {
            let mut readings = job.readings();
            readings.rotate_left(turn);
            assert_eq!(*analyze(readings).report(), report);
        }
    }
}

// A1, two against two
#[test]
fn two_against_two_is_a_tie() {
    let mut job = Fake::trained(4);
    job.some(&[0, 1], op("all_reduce").size(&[8]).scheduled()).some(&[2, 3], op("all_reduce").scheduled());
    let report = job.report();
    check(&report, "size_mismatch", "", Some(4));
    let finding = &report.findings[0];
    assert!(finding.tie);
    assert_eq!(finding.sides.iter().map(|side| side.ranks.as_str()).collect::<Vec<_>>(), ["0-1", "2-3"]);
    assert!(report.ranks.iter().all(|state| state.status == RankStatus::Victim));
    // One side is marked, so that the two can be told apart.
    let analysis = job.analyze();
    let marked: Vec<bool> =
        analysis.cells()[3 * 4..].iter().map(|&code| CellCode(code).has(CellCode::DIFFERS)).collect();
    assert_eq!(marked, [false, false, true, true]);
}

// A2
#[test]
fn a_skipped_op_is_named_and_its_tail_is_consequence() {
    let mut job = Fake::trained(4);
    let gather = op("all_gather").sizes(&[16], &[64]).scheduled().at("evaluate", 30);
    job.some(&[0, 2, 3], op("broadcast").scheduled().at("sync", 20)).some(&[0, 2, 3], gather.clone());
    job.some(&[1], gather);
    let report = job.report();
    check(&report, "skipped_collective", "1", Some(4));
    let finding = only(&report);
    check_class(finding, Cause::CpuDivergence, Confidence::High);
    assert_eq!((finding.op.as_str(), finding.tie), ("broadcast", false));
    assert!(finding.evidence.iter().any(|line| line.contains("row 4 is the others' row 5")), "{:?}", finding.evidence);
    assert!(report.headline.contains("broadcast") && report.headline.contains("sync"), "{}", report.headline);
    let sides: Vec<_> = finding.sides.iter().map(|side| (side.ranks.as_str(), side.op.as_deref())).collect();
    assert_eq!(sides, [("0,2-3", Some("broadcast")), ("1", Some("all_gather"))]);
    assert_eq!(sites(finding), ["sync", "evaluate"]);
    assert_eq!(finding.victims, "0,2-3");
}

// A3
#[test]
fn an_extra_op_is_named() {
    let mut job = Fake::trained(4);
    job.some(&[2], op("all_reduce").size(&[1]).scheduled().at("log_metrics", 40));
    job.all(op("all_reduce").scheduled());
    let report = job.report();
    check(&report, "extra_collective", "2", Some(4));
    let finding = only(&report);
    check_class(finding, Cause::CpuDivergence, Confidence::High);
    check_says(&report, &["row 5 is the others' row 4"]);
    assert!(report.headline.contains("log_metrics"), "{}", report.headline);
    assert_eq!(finding.victims, "0-1,3");
}

#[test]
fn another_op_at_the_same_place() {
    let mut job = Fake::trained(4);
    job.some(&[0, 1, 3], op("all_reduce").scheduled().at("backward", 20));
    job.some(&[2], op("broadcast").scheduled().at("recover", 15));
    check(&job.report(), "op_mismatch", "2", Some(4));
}

#[test]
fn two_ops_in_the_other_order() {
    let mut job = Fake::trained(4);
    let (a, b) = (op("all_reduce").scheduled().at("a", 20), op("broadcast").scheduled().at("b", 21));
    job.some(&[0, 1, 3], a.clone()).some(&[0, 1, 3], b.clone()).some(&[2], b).some(&[2], a);
    check(&job.report(), "order_mismatch", "2", Some(4));
}

// Rules 7.12
#[test]
fn a_dtype_that_differs() {
    let mut job = Fake::trained(4);
    job.some(&[0, 1, 2], op("all_reduce").scheduled()).some(&[3], op("all_reduce").dtype("Half").scheduled());
    let report = job.report();
    check(&report, "dtype_mismatch", "3", Some(4));
    let finding = only(&report);
    check_class(finding, Cause::BadArguments, Confidence::High);
    let dtypes: Vec<_> = finding.sides.iter().map(|side| side.input_dtypes.join(",")).collect();
    assert_eq!(dtypes, ["Float", "Half"]);
    check_says(&report, &["rank 3", "Half"]);
}

#[test]
fn equal_elements_in_another_shape_are_no_fault() {
    let mut job = Fake::trained(4);
    job.some(&[0, 1, 2], op("all_reduce").size(&[4, 4])).some(&[3], op("all_reduce").size(&[16]));
    check_healthy(&job.report());
}

#[test]
fn a_rank_that_stopped_before_the_row() {
    let mut job = Fake::trained(8);
    job.some(&[0, 1, 2, 3, 4, 6, 7], op("all_reduce").scheduled().at("backward", 20));
    let report = job.report();
    check(&report, "missing_rank", "5", Some(4));
    let finding = &report.findings[0];
    assert_eq!((finding.cause, finding.victims.as_str()), (Cause::CpuStuck, "0-4,6-7"));
    let missing = finding.sides.iter().find(|side| side.ranks == "5").unwrap();
    assert_eq!(missing.last_op.as_ref().and_then(|last| last.seq), Some(3));
}

// A12
#[test]
fn a_checkpoint_barrier() {
    let mut job = Fake::trained(8);
    let barrier = op("all_reduce_barrier").size(&[1]).scheduled().at("save_checkpoint", 77);
    job.some(&[1, 2, 3, 4, 5, 6, 7], barrier);
    job.edit_all(|_, entry| entry["collective_seq_id"] = (entry["collective_seq_id"].as_u64().unwrap() + 28952).into());
    let report = job.report();
    check(&report, "missing_rank", "0", Some(28956));
    let finding = only(&report);
    check_class(finding, Cause::CpuStuck, Confidence::High);
    assert_eq!((finding.op.as_str(), finding.victims.as_str()), ("all_reduce_barrier", "1-7"));
    // Where the others wait, and where rank 0 was last.
    assert_eq!(sites(finding), ["save_checkpoint", "train_step"]);
    let last = finding.sides.iter().find_map(|side| side.last_op.as_ref()).unwrap();
    assert_eq!((last.group.as_str(), last.op.as_str(), last.seq), ("world", "all_reduce", Some(28955)));
    assert!(
        report.headline.contains("save_checkpoint") && report.headline.contains("train_step"),
        "{}",
        report.headline
    );
    assert_eq!((report.ranks[0].waits_in.is_none(), report.ranks[7].waits_for.clone()), (true, "0".into()));
}

// A4
#[test]
fn a_rank_without_a_dump_is_named_only_where_nothing_else_explains_the_wait() {
    let mut job = Fake::trained(4);
    job.all(op("all_reduce").scheduled()).lose(2);
    let report = job.report();
    check(&report, "no_dump", "2", Some(4));
    let finding = only(&report);
    check_class(finding, Cause::ProcessLost, Confidence::Medium);
    let log = |step: &String| step.contains("log of rank 2") && step.contains("exception");
    assert!(finding.next_steps.iter().any(log), "{:?}", finding.next_steps);
    assert_eq!(report.ranks[2].status, RankStatus::Suspect);
    assert_eq!((report.job.ranks_missing.as_str(), finding.victims.as_str()), ("2", "0-1,3"));
    assert!(report.data_quality.iter().any(|note| (note.kind, note.rank) == (QualityKind::NoDump, Some(2))));

    let mut job = Fake::trained(4);
    job.some(&[0, 1, 2], op("all_reduce").scheduled()).lose(2);
    let report = job.report();
    check(&report, "missing_rank", "3", Some(4));
    only(&report);
    assert_eq!(report.ranks[2].status, RankStatus::NoDump);
    let unknown = report.findings[0].sides.iter().find(|side| side.ranks == "2").unwrap();
    assert_eq!(unknown.state, SideState::Unknown);
}

#[test]
fn losing_a_victims_dump_does_not_change_who_is_blamed() {
    for lost in [0, 1, 3] {
        let mut job = Fake::trained(4);
        job.some(&[0, 1, 3], op("all_reduce").scheduled()).lose(lost);
        check(&job.report(), "missing_rank", "2", Some(4));
    }
}

#[test]
fn only_the_origins_group_is_a_finding() {
    // dp × tp mesh: rank 3 stops before its tp op; the others wait in dp and in the world for it.
    let mut job = Fake::new(4).group("1", "mesh_tp", &[0, 1]).group("2", "mesh_tp", &[2, 3]);
    job = job.group("3", "mesh_dp", &[0, 2]).group("4", "mesh_dp", &[1, 3]);
    for _ in 0..3 {
        for group in ["1", "2", "3", "4", "0"] {
            job.all(op("all_reduce").on(group).at(group, 10));
        }
    }
    job.all(op("all_reduce").on("1").at("1", 10));
    job.some(&[2], op("all_reduce").on("2").scheduled().at("2", 10));
    job.some(&[0], op("all_reduce").on("3").scheduled().at("3", 10));
    job.some(&[1], op("all_reduce").on("4").scheduled().at("4", 10));
    let report = job.report();
    check(&report, "missing_rank", "3", Some(4));
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    let finding = &report.findings[0];
    assert_eq!(finding.group.as_ref().map(|group| group.label.as_str()), Some("tp[2,3]"));
    assert_eq!((finding.victims.as_str(), finding.blocked.as_str()), ("2", "0-1"));
}

#[test]
fn siblings_decide_a_pair() {
    // Four tp pairs; rank 3 skips the first of two ops.
    let mut job = Fake::new(8);
    for pair in 0..4u32 {
        job = job.group(&(pair + 1).to_string(), "mesh_tp", &[pair * 2, pair * 2 + 1]);
    }
    for pair in 1..=4 {
        let group = pair.to_string();
        job.all(op("all_reduce").on(&group).at("attention", 20));
        job.all(op("all_gather").on(&group).sizes(&[8], &[16]).at("mlp", 30));
    }
    for rank in (0..8).filter(|&rank| rank != 3) {
        let group = (rank / 2 + 1).to_string();
        let state = |op: crate::fake::Op| if rank == 2 { op.scheduled() } else { op };
        job.some(&[rank], state(op("all_reduce").on(&group).at("attention", 20)));
        job.some(&[rank], state(op("all_gather").on(&group).sizes(&[8], &[16]).at("mlp", 30)));
    }
    job.some(&[3], op("all_gather").on("2").sizes(&[8], &[16]).at("mlp", 30).scheduled());
    let report = job.report();
    check(&report, "skipped_collective", "3", Some(3));
    assert_eq!(report.findings.len(), 1);
}

// A24, Rules 7.6
#[test]
fn one_group_before_the_other() {
    let mut job = Fake::new(4).group("1", "a", &[0, 1, 2, 3]).group("2", "b", &[0, 1, 2, 3]);
    job.all(op("all_reduce").on("1")).all(op("all_reduce").on("2"));
    let a = op("all_reduce").on("1").scheduled().at("sync_a", 50);
    let b = op("all_reduce").on("2").scheduled().at("sync_b", 51);
    job.some(&[0, 2, 3], a.clone()).some(&[0, 2, 3], b.clone()).some(&[1], b).some(&[1], a);
    let report = job.report();
    check(&report, "order_mismatch", "1", Some(2));
    let finding = only(&report);
    check_class(finding, Cause::CpuDivergence, Confidence::High);
    assert!(report.headline.contains("sync_a") && report.headline.contains("sync_b"), "{}", report.headline);
    assert_eq!(finding.victims, "0,2-3");
    let mut steps: Vec<_> = finding
        .cycle
        .iter()
        .map(|step| (step.ranks.as_str(), &step.place.group[..1], step.waits_for.as_str()))
        .collect();
    steps.sort_unstable();
    assert_eq!(steps, [("0,2-3", "a", "1"), ("1", "b", "0,2-3")]);
}

// A9
#[test]
fn waits_across_groups_without_a_skip() {
    let all: Vec<u32> = (0..8).collect();
    let mut job = Fake::new(8).group("1", "shard", &all).group("2", "replicate", &all);
    for _ in 0..5 {
        job.all(op("all_to_all").on("1").at("input_dist", 20));
        job.all(op("all_to_all").on("1").at("output_dist", 21));
        job.all(op("allreduce_coalesced").on("2").at("sync", 30));
    }
    job.some(&[0, 1, 2, 3, 4, 5], op("all_to_all").on("1").at("input_dist", 20).scheduled());
    job.some(&[6, 7], op("allreduce_coalesced").on("2").at("flush", 33).scheduled());
    let report = job.report();
    check(&report, "cross_group_deadlock", "6-7", Some(11));
    let finding = only(&report);
    assert_eq!((finding.group.as_ref().unwrap().desc.as_str(), finding.victims.as_str()), ("shard", "0-5"));
    assert!(report.headline.contains("input_dist") && report.headline.contains("flush"), "{}", report.headline);
    assert_eq!(sites(finding), ["input_dist", "flush"]);
    let place = |rank: usize| report.ranks[rank].waits_in.as_ref().map(|place| (place.op.as_str(), place.seq));
    assert_eq!(place(0), Some(("all_to_all", Some(11))));
    assert_eq!(place(7), Some(("allreduce_coalesced", Some(6))));
    assert_eq!([0, 7].map(|rank: usize| report.ranks[rank].waits_for.to_string()), ["6-7", "0-5"]);
}

// A17, Rules 7.8
#[test]
fn a_device_that_lags() {
    for behind in [1, 2] {
        let mut job = Fake::trained_with_timing(4);
        for rank in 0..4 {
            let call = op("all_reduce").at("backward", 20);
            job.some(&[rank], if rank == behind { call.scheduled() } else { call.started() });
        }
        let report = job.report();
        check(&report, "rank_behind", &behind.to_string(), Some(4));
        let finding = only(&report);
        check_class(finding, Cause::GpuStuck, Confidence::Medium);
        let states: Vec<_> = finding.sides.iter().map(|side| side.state).collect();
        assert_eq!(states, [SideState::Started, SideState::Scheduled]);
        assert!(report.headline.contains("backward"), "{}", report.headline);
        assert!(finding.alternatives.iter().all(|other| other.cause != Cause::GpuStuck), "{:?}", finding.alternatives);
    }
}

// A18
#[test]
fn half_of_a_broadcast() {
    let mut job = Fake::trained_with_timing(4);
    job.some(&[0, 1], op("broadcast")).some(&[2, 3], op("broadcast").started());
    let report = job.report();
    check(&report, "rank_behind", "", Some(4));
    let finding = only(&report);
    check_class(finding, Cause::NetworkOrHardware, Confidence::Medium);
    assert_eq!((finding.victims.as_str(), finding.tie), ("2-3", false));
    let sides: Vec<_> = finding.sides.iter().map(|side| (side.ranks.as_str(), side.state)).collect();
    assert!(
        sides.contains(&("0-1", SideState::Completed)) && sides.contains(&("2-3", SideState::Started)),
        "{sides:?}"
    );
    assert!(report.ranks.iter().all(|state| state.status != RankStatus::Suspect));
}

// A25
#[test]
fn a_mismatch_that_everybody_got_past() {
    let mut job = Fake::new(4);
    job.all(op("all_reduce")).some(&[0, 2, 3], op("all_reduce")).some(&[1], op("all_reduce").size(&[8]));
    job.all(op("all_reduce")).all(op("all_reduce"));
    let report = job.report();
    check(&report, "size_mismatch", "1", Some(2));
    assert!(report.headline.contains("did not hang there"), "{}", report.headline);
    let finding = only(&report);
    assert_eq!((finding.cause, finding.victims.as_str(), finding.blocked.as_str()), (Cause::BadArguments, "", ""));
    let statuses: Vec<_> = report.ranks.iter().map(|state| state.status).collect();
    assert_eq!(statuses, [RankStatus::Ok, RankStatus::Suspect, RankStatus::Ok, RankStatus::Ok]);
}

#[test]
fn two_call_sites_that_always_meet_are_no_fault() {
    let mut job = Fake::trained_with_timing(4);
    for _ in 0..3 {
        job.some(&[0], op("broadcast").at("send_weights", 20)).some(&[1, 2, 3], op("broadcast").at("get_weights", 30));
    }
    job.some(&[0], op("broadcast").at("send_weights", 20).started());
    job.some(&[1, 2, 3], op("broadcast").at("get_weights", 30).started());
    check(&job.report(), "all_joined", "", Some(7));
}

// A21, Rules 7.24
#[test]
fn an_unknown_op_is_matched_by_its_name() {
    let mut job = Fake::trained(4);
    job.all(op("frobnicate"));
    let healthy = job.report();
    check_healthy(&healthy);
    assert!(healthy.data_quality.iter().all(|note| note.kind != QualityKind::Unreadable), "{:?}", healthy.data_quality);
    let mut odd = job.clone();
    job.some(&[0, 1, 2], op("frobnicate").scheduled());
    check(&job.report(), "missing_rank", "3", Some(5));
    odd.some(&[0, 1, 2], op("frobnicate").scheduled().at("a", 7)).some(&[3], op("defrobnicate").scheduled().at("b", 8));
    check(&odd.report(), "op_mismatch", "3", Some(5));
}

#[test]
fn the_table_is_loud_at_the_origin_only() {
    let mut job = Fake::trained(4);
    job.some(&[0, 1, 3], op("all_reduce").scheduled()).some(&[0, 1, 3], op("all_reduce").scheduled());
    let analysis = job.analyze();
    let index = analysis.table_index();
    assert_eq!((index.bands.len(), index.rows.len()), (1, 5));
    let row = |row: usize| {
        analysis.cells()[row * 4..][..4]
            .iter()
            .map(|&code| (CellCode(code).name(), CellCode(code).has(CellCode::ORIGIN)))
            .collect::<Vec<_>>()
    };
    assert_eq!(row(0), [("completed", false); 4]);
    assert_eq!(row(3)[2], ("missing", true));
    assert_eq!(row(4)[2], ("not issued", false));
    assert_eq!(row(3)[0], ("scheduled", false));
    assert_eq!(index.findings[0].row, Some(3));
    assert_eq!(index.findings[0].columns, [2]);
    let agrees = |row| index.rows.get(row).unwrap().agrees;
    assert!(agrees(0) && !agrees(3));
    let detail = analysis.cell_detail(3, 2).unwrap();
    assert!(detail.frames_of_last_op && detail.note.contains("never issued"), "{detail:?}");
    assert_eq!(detail.other.unwrap().ranks, "0-1,3");
    assert!(analysis.cell_detail(99, 0).is_none() && analysis.cell_detail(0, 99).is_none());
}

#[test]
fn what_differs_after_the_origin_is_quiet() {
    let mut job = Fake::trained(4);
    let (a, b, c) = (op("all_reduce").at("a", 20), op("broadcast").at("b", 21), op("reduce").at("c", 22));
    for step in [a, b.clone(), c.clone()] {
        job.some(&[0, 1, 3], step.scheduled());
    }
    job.some(&[2], b.scheduled()).some(&[2], c.scheduled());
    let analysis = job.analyze();
    check(analysis.report(), "skipped_collective", "2", Some(4));
    let differing: Vec<usize> =
        (0..analysis.cells().len()).filter(|&at| CellCode(analysis.cells()[at]).has(CellCode::DIFFERS)).collect();
    assert_eq!(differing, [3 * 4 + 2]);
}

#[test]
fn a_mismatch_that_everybody_got_past_is_not_why_the_job_hangs() {
    let mut job = Fake::trained(4);
    job.some(&[0, 2, 3], op("all_reduce")).some(&[1], op("all_reduce").size(&[8])).all(op("all_reduce"));
    job.some(&[0, 1, 2], op("all_reduce").scheduled());
    let report = job.report();
    check(&report, "missing_rank", "3", Some(6));
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
}

#[test]
fn where_half_of_the_dumps_are_lost_nobody_is_blamed_for_it() {
    let mut job = Fake::trained(4);
    job.all(op("all_reduce").scheduled()).lose(1).lose(3);
    let report = job.report();
    check(&report, "no_dump", "", Some(4));
    assert_eq!(report.findings[0].confidence, Confidence::Low);
}
