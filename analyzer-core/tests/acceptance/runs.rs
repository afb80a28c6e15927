//! Dumps that do not belong together, and clocks that disagree.

use hangscope_analyzer_core::analyze;
use hangscope_analyzer_core::dump::Reading;
use hangscope_analyzer_core::job::Job;
use hangscope_analyzer_core::report::{Confidence, Quality, QualityKind};
use serde_json::{Value, json};

use crate::fake::{Fake, op};

const SECOND: i64 = 1_000_000_000;

/// Shifts the clock of some ranks.
fn shift(job: &mut Fake, of: impl Fn(u32) -> i64) {
    job.edit_all(|rank, entry| {
        for key in ["time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns"] {
            if let Some(ns) = entry[key].as_i64().filter(|&ns| ns > 0) {
                entry[key] = Value::from(ns + of(rank) * SECOND);
            }
        }
    });
}

fn named(mut readings: Vec<Reading>, folder: &str) -> Vec<Reading> {
    for dump in readings.iter_mut().flat_map(|reading| &mut reading.dumps) {
        dump.file = format!("{folder}/{}", dump.file);
    }
    readings
}

fn notes(readings: Vec<Reading>, kind: QualityKind) -> Vec<Quality> {
    Job::assemble(readings).quality.into_iter().filter(|note| note.kind == kind).collect()
}

#[test]
fn a_clock_that_is_ahead() {
    let mut job = Fake::trained(4);
    job.some(&[0, 1, 3], op("all_reduce").scheduled());
    assert_eq!(notes(job.readings(), QualityKind::ClockSkew), []);
    shift(&mut job, |rank| if rank == 2 { 30 } else { 0 });
    let found = notes(job.readings(), QualityKind::ClockSkew);
    assert_eq!((found.len(), found[0].rank), (1, Some(2)));
    let expected = "the clock of rank 2 is at least 29 s ahead of that of ranks 0-1,3; \
                    times of different ranks are not compared";
    assert_eq!(found[0].detail, expected);
    let confidence = |job: &Fake| analyze(job.readings()).report().findings[0].confidence;
    assert_eq!(confidence(&job), Confidence::High);

    // Hosts seldom differ by so much: a folder that was written over in part does.
    shift(&mut job, |rank| if rank == 2 { 300 } else { 0 });
    let found = notes(job.readings(), QualityKind::ClockSkew);
    assert!(found[0].detail.contains("or the dumps are of different runs"), "{}", found[0].detail);
    assert_eq!(confidence(&job), Confidence::Medium);
}

#[test]
fn what_is_no_skew() {
    // Little, and by far.
    let mut job = Fake::trained(4);
    shift(&mut job, i64::from);
    assert_eq!(notes(job.readings(), QualityKind::ClockSkew), []);

    // A late rank, for which the others wait.
    let mut job = Fake::trained(4);
    job.edit_all(|rank, entry| {
        let created = entry["time_created_ns"].as_i64().unwrap();
        if rank == 3 {
            entry["time_created_ns"] = json!(created + 40 * SECOND);
        }
        entry["time_discovered_completed_ns"] = json!(created + 41 * SECOND);
    });
    assert_eq!(notes(job.readings(), QualityKind::ClockSkew), []);

    // Roots go on before the others have come.
    let mut job = Fake::new(4);
    for _ in 0..9 {
        job.all(op("broadcast"));
    }
    shift(&mut job, |rank| if rank > 0 { 30 } else { 0 });
    assert_eq!(notes(job.readings(), QualityKind::ClockSkew), []);

    // Nor does anybody wait for an empty tensor.
    let mut job = Fake::new(4);
    for _ in 0..9 {
        job.all(op("all_reduce").size(&[0]));
    }
    shift(&mut job, |rank| if rank > 0 { 30 } else { 0 });
    assert_eq!(notes(job.readings(), QualityKind::ClockSkew), []);
}

#[test]
fn jobs_of_different_sizes_in_one_folder() {
    let mut readings = Fake::trained(8).readings();
    readings.truncate(6);
    let mut small = Fake::trained(4);
    // The smaller job is newer, so its dumps are used where both have one.
    shift(&mut small, |_| 7200);
    readings.extend(named(small.readings(), "b"));
    let job = Job::assemble(readings);
    let expected = "the dumps are of more than one job: ranks 0-5 say that it has 8 ranks (0-7), \
                    ranks 0-3 say that it has 4 ranks (0-3); only the job of ranks 0-3 is looked at: analyse each job by itself";
    assert_eq!(details(&job, QualityKind::MembershipConflict), [expected]);
    assert_eq!(details(&job, QualityKind::DuplicateRank), [""; 0]);
    assert_eq!((used(&job), job.missing_ranks.len()), (vec!["b"; 4], 0));
}

#[test]
fn of_jobs_at_the_same_time_the_larger_is_looked_at() {
    let small = Fake::trained(4);
    let readings = [Fake::trained(8).readings(), named(small.readings(), "b")].concat();
    let job = Job::assemble(readings);
    assert_eq!(used(&job), ["a"; 8]);
    assert!(job.other_runs_left_out);
}

/// Rank 2's dump was written over by another job: that it is not there says nothing about rank 2.
#[test]
fn nobody_is_blamed_for_a_dump_that_was_written_over() {
    let mut job = Fake::trained(8);
    job.all(op("all_reduce").scheduled());
    let mut readings = job.readings();
    readings[2] = Fake::trained(4).readings().remove(2);
    let report = analyze(readings).report().clone();
    let finding = &report.findings[0];
    assert_eq!((finding.suspects.as_str(), finding.confidence), ("", Confidence::Low), "{}", report.headline);
    assert!(report.headline.starts_with("Rank 2 left no dump"), "{}", report.headline);
}

#[test]
fn jobs_of_one_size_are_not_mixed() {
    // Both hang at the same time, and now the one, now the other has the newer dump of a rank.
    let mut one = Fake::trained(4);
    shift(&mut one, |rank| i64::from(rank % 2) * 2);
    let mut other = Fake::trained(4);
    shift(&mut other, |rank| 1 + i64::from(rank / 3) * 3);
    let job = Job::assemble([named(one.readings(), "one"), named(other.readings(), "other")].concat());
    assert_eq!(used(&job), ["other"; 4]);
    assert_eq!(
        details(&job, QualityKind::DuplicateRank),
        ["second dumps of ranks 0-3; those in other are newer and are used instead"]
    );
    assert!(job.other_runs_left_out);
    let report = analyze([named(one.readings(), "one"), named(other.readings(), "other")].concat()).report().clone();
    assert!(
        report.headline.ends_with("; dumps of another job or run are left out (see the notes)"),
        "{}",
        report.headline
    );

    // A stray dump in the folder of another node is one dump, and says nothing about its folder.
    let mut stray = Fake::trained(4);
    shift(&mut stray, |_| -2);
    let stray: Vec<Reading> = stray.readings().into_iter().skip(3).collect();
    let job = Fake::trained(4).readings();
    let (first, second) = job.split_at(2);
    let mut first = named(first.to_vec(), "node0");
    // The node with the stray dump has the newest one.
    first.extend(named(stray, "node0"));
    let job = Job::assemble([first, named(second.to_vec(), "node1")].concat());
    assert_eq!(used(&job), ["node0", "node0", "node1", "node1"]);
}

#[test]
fn snapshots_of_one_run_are_no_other_run() {
    let mut job = Fake::trained(2);
    let first = named(job.readings(), "first");
    job.all(op("all_reduce"));
    let job = Job::assemble([named(job.readings(), "second"), first].concat());
    assert_eq!(used(&job), ["second"; 2]);
    assert!(!job.other_runs_left_out);
}

fn details(job: &Job, kind: QualityKind) -> Vec<&str> {
    job.quality.iter().filter(|note| note.kind == kind).map(|note| note.detail.as_str()).collect()
}

/// The folder of each dump in use.
fn used(job: &Job) -> Vec<&str> {
    job.ranks.iter().map(|dump| dump.file.split_once('/').map_or("a", |(folder, _)| folder)).collect()
}

#[test]
fn default_groups_of_their_own_are_no_conflict() {
    let mut job = Fake::new(2).group("0", "default_pg", &[0]).group("0#", "default_pg", &[1]);
    job.all(op("all_reduce")).all(op("all_reduce").on("0#"));
    assert_eq!(notes(job.readings(), QualityKind::MembershipConflict), []);
}

#[test]
fn a_dump_left_over_from_an_earlier_run() {
    let old = Fake::trained(4);
    let mut new = Fake::trained(4);
    shift(&mut new, |_| 3600);
    new.lose(3);
    let readings = [named(old.readings(), "old"), named(new.readings(), "new")].concat();
    let left_over = |readings: Vec<Reading>| -> Vec<Quality> {
        let doubles = notes(readings, QualityKind::DuplicateRank);
        doubles.into_iter().filter(|note| note.detail.contains("left over")).collect()
    };
    let found = left_over(readings.clone());
    assert_eq!((found.len(), found[0].rank), (1, Some(3)));
    assert!(found[0].detail.starts_with("the only dumps of rank 3 end 3597 s before"), "{}", found[0].detail);
    let job = Job::assemble(readings.clone());
    assert_eq!((used(&job), job.missing_ranks.as_slice()), (vec!["new"; 3], [3].as_slice()));
    assert_eq!(notes(readings, QualityKind::ClockSkew), [], "runs, not clocks");

    // A rank that has hung since and left the same entries again is none of an earlier run.
    let stuck: Vec<Reading> = old.readings().into_iter().skip(3).collect();
    let readings = [named(old.readings(), "old"), named(new.readings(), "new"), named(stuck, "new")].concat();
    assert_eq!(left_over(readings), []);

    // All ranks of the newer run are there.
    let mut whole = Fake::trained(4);
    shift(&mut whole, |_| 3600);
    assert_eq!(left_over([named(old.readings(), "old"), named(whole.readings(), "new")].concat()), []);
}
