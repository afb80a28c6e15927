//! Dumps of other recorders, of other versions, and of unfinished entries alone.

use hangscope_analyzer_core::report::{Cause, QualityKind, Report};
use serde_json::{Value, json};

use crate::fake::{Fake, analyze_documents, cell, check, check_healthy, only, op};

fn has_note(report: &Report, kind: QualityKind) -> bool {
    report.data_quality.iter().any(|note| note.kind == kind)
}

/// What gloo of PyTorch 2.15 writes: no state ever leaves `scheduled`, and one group has no name.
fn gloo(job: &Fake) -> Vec<(String, Value)> {
    let mut documents = job.documents();
    for (_, document) in &mut documents {
        let members = document["pg_config"]["0"]["ranks"].clone();
        document["pg_config"] = json!({"": {"name": "", "desc": "", "ranks": members}});
        document["comm_lib_version"] = json!("");
        for entry in document["entries"].as_array_mut().unwrap() {
            entry["profiling_name"] = json!(entry["profiling_name"].as_str().unwrap().replace("nccl:", "gloo:"));
            entry["retired"] = json!(entry["state"] == "completed");
            entry["state"] = json!("scheduled");
            entry["time_discovered_completed_ns"] = json!(0);
        }
    }
    documents
}

// Rules 7.22
#[test]
fn a_recorder_that_never_completes() {
    let mut job = Fake::trained(4);
    let healthy = analyze_documents(&gloo(&job));
    check_healthy(healthy.report());
    assert!(has_note(healthy.report(), QualityKind::WeakStates));
    assert_eq!(healthy.report().job.backends, ["gloo"]);
    assert_eq!(cell(&healthy, "world", "3", 2), "completed");

    job.some(&[0, 1, 3], op("all_reduce").scheduled());
    let hung = analyze_documents(&gloo(&job));
    check(hung.report(), "missing_rank", "2", Some(4));
    assert_eq!(only(hung.report()).cause, Cause::CpuStuck);
    assert!(has_note(hung.report(), QualityKind::WeakStates));
}

/// What torchcomms writes: one counter for all communicators from 0, no frames, the backend in place of a description.
pub fn torchcomms(programs: &[&[(&str, &str)]], members: &[(&str, &[u32])]) -> Vec<(String, Value)> {
    let document = |rank: u32, program: &[(&str, &str)]| {
        let own = members.iter().filter(|(_, members)| members.contains(&rank));
        let config: serde_json::Map<String, Value> = own
            .map(|(name, members)| {
                let ranks = format!("{members:?}").replace(' ', "");
                ((*name).to_owned(), json!({"name": name, "desc": "nccl", "ranks": ranks}))
            })
            .collect();
        let entry = |(at, (comm, state)): (usize, &(&str, &str))| {
            json!({
                "record_id": at, "pg_id": members.iter().position(|(name, _)| name == comm), "process_group": [comm, "nccl"],
                "collective_seq_id": at, "p2p_seq_id": 0, "op_id": at, "profiling_name": "nccl:all_reduce",
                "time_created_ns": 1_700_000_000_000_000_000_i64 + at as i64 * 1_000_000_000,
                "input_sizes": [[16]], "output_sizes": [[16]], "input_dtypes": ["Float"], "output_dtypes": ["Float"],
                "state": state, "time_discovered_started_ns": 0, "time_discovered_completed_ns": 0,
                "retired": *state == "completed", "timeout_ms": 600_000, "is_p2p": false,
            })
        };
        let entries: Vec<Value> = program.iter().enumerate().map(entry).collect();
        json!({"version": "2.10", "pg_config": config, "pg_status": {}, "entries": entries})
    };
    let named =
        |(rank, program): (u32, &&[(&str, &str)])| (format!("comm_lib_trace_rank_{rank}"), document(rank, program));
    (0..).zip(programs).map(named).collect()
}

// Rules 7.23
#[test]
fn communicators_that_share_a_counter() {
    const DONE: &str = "completed";
    let members: [(&str, &[u32]); 3] = [("main", &[0, 1, 2, 3]), ("left", &[0, 1]), ("right", &[2, 3])];
    // Ranks 0 and 1 do more beside the main communicator than 2 and 3: their counters run ahead.
    let [left, right, main] = [("left", DONE), ("right", DONE), ("main", DONE)];
    let (many, few) = ([main, left, left, main, left, left, main], [main, right, main, right, main]);
    let analysis = analyze_documents(&torchcomms(&[&many, &many, &few, &few], &members));
    check_healthy(analysis.report());
    let index = analysis.table_index();
    let rows: Vec<_> = index.bands.iter().map(|band| (band.name.as_str(), band.row_count)).collect();
    assert_eq!(rows, [("main", 3), ("left", 4), ("right", 2)]);
    assert!(index.rows.iter().all(|row| row.agrees), "{:?}", index.rows);

    // Rank 3 does not come to the third operation of the main communicator.
    let (mut many, mut few) = (many, few);
    (many[6].1, few[4].1) = ("scheduled", "scheduled");
    let hung = analyze_documents(&torchcomms(&[&many, &many, &few, &few[..4]], &members));
    check(hung.report(), "missing_rank", "3", Some(3));
    let finding = only(hung.report());
    assert_eq!((finding.group.as_ref().unwrap().name.as_str(), finding.victims.as_str()), ("main", "0-2"));
}

// A20, Rules 7.26
#[test]
fn absent_from_a_dump_of_unfinished_entries_is_not_missing() {
    let trained = || {
        let mut job = Fake::new(4);
        for _ in 0..40 {
            job.all(op("all_reduce"));
        }
        job
    };
    let mut job = trained();
    job.all(op("all_reduce").scheduled()).only_active();
    let report = job.report();
    check(&report, "all_joined", "", Some(41));
    only(&report);
    assert_eq!(report.job.entries, 4);
    assert!(has_note(&report, QualityKind::OnlyActive));

    // Rank 3 finished row 41, as its counter says; that it is absent from the dump is no reason to say that it never issued it.
    let mut job = trained();
    job.some(&[0, 1, 2], op("broadcast").scheduled()).some(&[3], op("broadcast")).all(op("all_reduce").scheduled());
    job.only_active();
    let analysis = job.analyze();
    let report = analysis.report();
    assert_eq!(only(report).suspects, "", "{}", report.headline);
    assert!(report.headline.starts_with("Rank 3 finished broadcast"), "{}", report.headline);
    assert_eq!(cell(&analysis, "world", "41", 3), "completed");
}

// Rules 7.27
#[test]
fn mixed_versions_and_a_rank_without_frames() {
    let mut job = Fake::trained(4);
    job.some(&[0, 1, 3], op("all_reduce").scheduled().at("backward", 20));
    job.version(0, "2.7").version(3, "2.7");
    job.edit_all(|rank, entry| {
        if rank == 1 {
            entry.as_object_mut().unwrap().remove("frames");
        }
    });
    let report = job.report();
    check(&report, "missing_rank", "2", Some(4));
    assert_eq!(only(&report).cause, Cause::CpuStuck);
    assert_eq!(report.job.dump_versions, ["2.7", "2.10"]);
    let note = |kind| report.data_quality.iter().find(|note| note.kind == kind).unwrap();
    assert_eq!(note(QualityKind::NoFrames).rank, Some(1));
    let versions = &note(QualityKind::MixedVersions).detail;
    assert!(versions.contains("2.7") && versions.contains("2.10"), "{versions}");
}

// Rules 7.23, ranks that are in one communicator alone
#[test]
fn a_rank_in_one_communicator_counts_from_the_same_number() {
    const DONE: &str = "completed";
    let members: [(&str, &[u32]); 2] = [("main", &[0, 1, 2, 3]), ("left", &[0, 1])];
    // Ranks 0 and 1 have one more operation between any two of the main communicator: their counters run ahead.
    let both: [(&str, &str); 6] =
        [("main", DONE), ("left", DONE), ("main", DONE), ("left", DONE), ("main", DONE), ("left", DONE)];
    let one: [(&str, &str); 3] = [("main", DONE); 3];
    let analysis = analyze_documents(&torchcomms(&[&both, &both, &one, &one], &members));
    check_healthy(analysis.report());
    let index = analysis.table_index();
    assert_eq!(index.bands.iter().map(|band| band.row_count).sum::<u32>(), 6);
    assert!(index.rows.iter().all(|row| row.agrees), "{:?}", index.rows);

    // Rank 3 does not come to the third operation of the main communicator.
    let mut waits = both;
    waits[4].1 = "scheduled";
    let mut waits_too = one;
    waits_too[2].1 = "scheduled";
    let hung = torchcomms(&[&waits[..5], &waits[..5], &waits_too, &one[..2]], &members);
    let hung = analyze_documents(&hung);
    check(hung.report(), "missing_rank", "3", Some(3));
    let finding = only(hung.report());
    assert_eq!((finding.group.as_ref().unwrap().name.as_str(), finding.victims.as_str()), ("main", "0-2"));
}
