//! The real plugin under the stand-in for NCCL, in several processes: healthy, and with each fault, from the dumps to the
//! verdict.

mod support;

use std::fs;
use std::process::ExitStatus;
use std::thread::sleep;
use std::time::Duration;

use hangscope_analyzer_core::dump::State;
use hangscope_nccl_exercise::Ending;
use support::{Setup, blamed};

const ALL: &[u32] = &[0, 1, 2, 3];

fn verdict(setup: &Setup, arguments: &[&str], dumping: &[u32]) -> (String, String) {
    blamed(&setup.hang(arguments, dumping))
}

fn expected(kind: &str, suspects: &str) -> (String, String) {
    (kind.to_owned(), suspects.to_owned())
}

#[test]
fn a_skipped_collective_is_found() {
    assert_eq!(verdict(&Setup::usual(), &["--skip", "1:8"], ALL), expected("skipped_collective", "1"));
}

#[test]
fn a_rank_that_sleeps_is_found() {
    let analysis = Setup::usual().hang(&["--sleep", "2:8"], ALL);
    assert_eq!(blamed(&analysis), expected("missing_rank", "2"));
    // NCCL tells a rank its own place in a pair alone; by the side channel they know who the other one is.
    assert!(analysis.job().groups.iter().all(|group| !group.assumed));
}

#[test]
fn a_wrong_size_is_found() {
    assert_eq!(verdict(&Setup::usual(), &["--wrong-size", "3:6"], ALL), expected("size_mismatch", "3"));
}

#[test]
fn swapped_collectives_are_found() {
    assert_eq!(verdict(&Setup::usual(), &["--swap", "2:7"], ALL), expected("order_mismatch", "2"));
}

#[test]
fn a_rank_that_died_is_found() {
    let analysis = Setup::usual().hang(&["--exit", "3:8", "--synchronous"], &[0, 1, 2]);
    assert_eq!(blamed(&analysis), expected("no_dump", "3"));
}

#[test]
fn a_receive_that_is_left_out_is_found() {
    let arguments = ["--no-recv", "0:11", "--synchronous"];
    assert_eq!(verdict(&Setup::usual(), &arguments, ALL), expected("p2p_unmatched", "0"));
}

#[test]
fn two_ranks_tell_who_sleeps() {
    let setup = Setup { ranks: 2, ..Setup::usual() };
    assert_eq!(verdict(&setup, &["--sleep", "0:4"], &[0, 1]), expected("missing_rank", "0"));
}

#[test]
fn channels_tell_as_much_without_cuda() {
    for version in ["4", "5", "6"] {
        let setup = Setup { version, ..Setup::usual() };
        let setup = setup.with("HANGSCOPE_CUDA_LIBRARY", "off").with("HANGSCOPE_NCCL_KERNELCH", "1");
        let verdict = verdict(&setup, &["--sleep", "1:8", "--synchronous"], ALL);
        assert_eq!(verdict, expected("missing_rank", "1"), "version {version}");
    }
}

#[test]
fn version_5_has_events_too() {
    let setup = Setup { version: "5", ..Setup::usual() };
    assert_eq!(verdict(&setup, &["--skip", "1:8"], ALL), expected("skipped_collective", "1"));
}

/// Nothing tells of ends, so no rank asks for dumps; a person does, by the file. They hold the calls, and blame nobody.
#[test]
fn calls_alone_are_shown_and_nobody_is_blamed() {
    let setup = Setup::usual().with("HANGSCOPE_CUDA_LIBRARY", "off").with("HANGSCOPE_TIMEOUT", "300ms");
    let run = setup.start(&["--skip", "1:8"]);
    sleep(Duration::from_secs(2));
    assert_eq!(run.dumps(), 0, "no time limit is watched");
    fs::write(run.folder.path().join("dump-now"), "now").unwrap();
    run.wait_for_dumps(ALL);
    // Two rounds of eight entries; one rank left one out.
    let analysis = run.ask_until([16, 15, 16, 16]);
    assert_eq!(blamed(&analysis), expected("all_joined", ""));
}

#[test]
fn a_healthy_program_leaves_finished_operations_alone() {
    for version in ["4", "5", "6"] {
        let run = Setup { version, ..Setup::usual() }.with("HANGSCOPE_NCCL_KERNELCH", "1").finish(&["--small", "20"]);
        let analysis = run.analysis();
        let report = analysis.report();
        assert_eq!((report.verdict.as_str(), report.job.ranks_loaded), ("no_fault", 4), "version {version}");
        // The world, and two pairs.
        assert_eq!(report.job.groups, 3);
        // Three rounds of five collectives and a block of three, and the small ones.
        assert_eq!(report.job.entries, 4 * (3 * (5 + 3) + 20));
    }
}

#[test]
fn events_tell_of_every_end() {
    let run = Setup::usual().finish(&[]);
    let analysis = run.analysis();
    let job = analysis.job();
    for rank in 0..4 {
        let rank = job.rank_idx(rank).unwrap();
        assert!(job.rank(rank).entries.iter().all(|(_, entry)| entry.state == State::Completed));
    }
}

#[test]
fn graphs_are_left_alone() {
    for kernel_ch in ["0", "1"] {
        for version in ["4", "5", "6"] {
            // A broken capture makes the program fail.
            let setup = Setup { version, ..Setup::usual() }.with("HANGSCOPE_NCCL_KERNELCH", kernel_ch);
            let run = setup.finish(&["--replays", "3", "--rounds", "1"]);
            let entries = run.analysis().report().job.entries;
            // Versions with calls tell that they are captured; version 4 tells of replays as of new operations, on request.
            let replayed = if (version, kernel_ch) == ("4", "1") { 3 } else { 0 };
            assert_eq!(entries, 4 * 8 * (1 + replayed), "version {version}, channels {kernel_ch}");
        }
    }
}

/// A way of NCCL's that tells of nothing but calls, and a program that does nothing for long after it.
#[test]
fn a_pause_after_a_broadcast_is_no_hang() {
    // Operation 3 is a broadcast; everybody sleeps before the next one.
    let sleeps: Vec<String> = (0..4).map(|rank| format!("{rank}:4:5")).collect();
    let mut arguments = vec!["--rounds", "1"];
    sleeps.iter().for_each(|sleep| arguments.extend(["--sleep", sleep]));
    let mut run = Setup::usual().with("HANGSCOPE_TIMEOUT", "3s").start(&arguments);
    let ending = run.job.wait(Duration::from_secs(40)).unwrap();
    assert!(matches!(&ending, Ending::Over(statuses) if statuses.iter().all(ExitStatus::success)), "{ending:?}");
    assert_eq!(run.dumps(), 0);
}
