//! One fault in a job of many groups.

use hangscope_analyzer_core::report::{Cause, Kind, RankStatus, Report};

use crate::fake::{Fake, Op, check, check_says, only, op};

/// Eight ranks, tp fastest, then dp, then pp. Groups 1-4 are tp, 5-8 dp, 9-12 pp.
fn mesh() -> Fake {
    let mut job = Fake::new(8);
    let mut name = 0;
    let kinds: [(&str, [[u32; 2]; 4]); 3] = [
        ("mesh_tp", [[0, 1], [2, 3], [4, 5], [6, 7]]),
        ("mesh_dp", [[0, 2], [1, 3], [4, 6], [5, 7]]),
        ("mesh_pp", [[0, 4], [1, 5], [2, 6], [3, 7]]),
    ];
    for (desc, groups) in kinds {
        for members in groups {
            name += 1;
            job = job.group(&name.to_string(), desc, &members);
        }
    }
    job
}

fn tp(rank: u32) -> String {
    (1 + rank / 2).to_string()
}

fn dp(rank: u32) -> String {
    (5 + rank / 4 * 2 + rank % 2).to_string()
}

fn pp(rank: u32) -> String {
    (9 + rank % 4).to_string()
}

/// What a rank does in a step: attention and MLP of its tensor group, then gradients, pipeline and the whole job.
fn step(rank: u32, mlp: &Op) -> [Op; 5] {
    [
        op("all_reduce").on(&tp(rank)).at("attention", 20),
        mlp.clone().on(&tp(rank)).at("mlp", 30),
        op("all_reduce").on(&dp(rank)).size(&[64]).at("sync_grads", 60),
        op("all_reduce").on(&pp(rank)).size(&[2]).at("tied_weights", 65),
        op("all_reduce").on("0").size(&[1]).at("clip", 70),
    ]
}

/// A step that everybody finishes.
fn whole_step(job: &mut Fake, mlp: &Op) {
    for rank in 0..8 {
        for op in step(rank, mlp) {
            job.some(&[rank], op);
        }
    }
}

/// A rank issues the first ops of a step, of which the last one does not finish.
fn stuck(job: &mut Fake, rank: u32, ops: &[Op]) {
    let (last, done) = ops.split_last().unwrap();
    for op in done {
        job.some(&[rank], op.clone());
    }
    job.some(&[rank], last.clone().scheduled());
}

fn check_rest_waits(report: &Report, suspect: usize, victims: &str, blocked: &str) {
    let finding = only(report);
    assert_eq!((finding.victims.as_str(), finding.blocked.as_str()), (victims, blocked));
    for (rank, state) in report.ranks.iter().enumerate() {
        let waits = matches!(state.status, RankStatus::Victim | RankStatus::Blocked);
        assert!(waits || (rank == suspect && state.status == RankStatus::Suspect), "{state:?}");
    }
}

/// Rank 3 skips its attention; rank 2 issues its MLP too or not, and everybody else goes as far as that lets them.
fn skipped_attention(ahead: bool) -> Fake {
    let mlp = op("_all_gather_base").sizes(&[8], &[16]);
    let mut job = mesh();
    whole_step(&mut job, &mlp);
    for rank in 0..8 {
        let ops = step(rank, &mlp);
        match rank {
            2 => stuck(&mut job, rank, &ops[..1]),
            3 => stuck(&mut job, rank, &ops[1..2]),
            0 | 1 => stuck(&mut job, rank, &ops[..3]),
            _ => stuck(&mut job, rank, &ops[..4]),
        }
        if rank == 2 && ahead {
            job.some(&[rank], ops[1].clone().scheduled());
        }
    }
    job
}

// A22
#[test]
fn one_mismatch_in_a_mesh_is_one_finding() {
    let report = skipped_attention(true).report();
    check(&report, "skipped_collective", "3", Some(3));
    let finding = only(&report);
    assert_eq!(finding.cause, Cause::CpuDivergence);
    assert_eq!(finding.group.as_ref().map(|group| group.label.as_str()), Some("tp[2,3]"));
    check_says(&report, &["other groups of the same kind"]);
    assert!(report.headline.contains("attention"), "{}", report.headline);
    check_rest_waits(&report, 3, "2", "0-1,4-7");
}

// A22, rank 2 issues nothing ahead
#[test]
fn one_mismatch_in_a_mesh_is_one_finding_where_nobody_is_ahead() {
    let report = skipped_attention(false).report();
    let finding = only(&report);
    assert!(matches!(finding.kind, Kind::SkippedCollective | Kind::OpMismatch), "{}", report.headline);
    assert_eq!((finding.suspects.as_str(), finding.seq, finding.cause), ("3", Some(3), Cause::CpuDivergence));
    assert_eq!(finding.group.as_ref().map(|group| group.label.as_str()), Some("tp[2,3]"));
    check_says(&report, &["other groups of the same kind"]);
    check_rest_waits(&report, 3, "2", "0-1,4-7");
}

// A22, the two operations of the layer are alike but for their call sites
#[test]
fn one_skip_that_a_like_operation_hides() {
    let mlp = op("all_reduce");
    let mut job = mesh();
    whole_step(&mut job, &mlp);
    for rank in 0..8 {
        let ops = step(rank, &mlp);
        match rank {
            // Its attention meets the MLP of rank 3, and its MLP nobody.
            2 => stuck(&mut job, rank, &ops[..2]),
            3 => stuck(&mut job, rank, &ops[1..]),
            0 => stuck(&mut job, rank, &ops[..3]),
            1 | 5 | 7 => stuck(&mut job, rank, &ops),
            _ => stuck(&mut job, rank, &ops[..4]),
        }
    }
    let report = job.report();
    assert_eq!(
        (report.verdict.as_str(), only(&report).suspects.as_str()),
        ("skipped_collective", "3"),
        "{}",
        report.headline
    );
    assert_eq!(only(&report).group.as_ref().map(|group| group.label.as_str()), Some("tp[2,3]"));
    // The row that rank 3 skipped, or the first one that hangs for it.
    assert!(matches!(only(&report).seq, Some(3 | 4)), "{}", report.headline);
    check_rest_waits(&report, 3, "2", "0-1,4-7");
}

// Rules 7.5
#[test]
fn a_rank_that_sleeps_in_a_mesh() {
    let mlp = op("_all_gather_base").sizes(&[8], &[16]);
    let mut job = mesh();
    for _ in 0..20 {
        whole_step(&mut job, &mlp);
    }
    for rank in (0..8).filter(|&rank| rank != 5) {
        let ops = step(rank, &mlp);
        match rank {
            4 => stuck(&mut job, rank, &ops[..1]),
            6 | 7 => stuck(&mut job, rank, &ops[..3]),
            _ => stuck(&mut job, rank, &ops[..4]),
        }
    }
    let report = job.report();
    check(&report, "missing_rank", "5", Some(41));
    let finding = only(&report);
    assert_eq!(finding.cause, Cause::CpuStuck);
    assert_eq!(finding.group.as_ref().map(|group| group.label.as_str()), Some("tp[4,5]"));
    check_rest_waits(&report, 5, "4", "0-3,6-7");
}
