//! Ranks that hear of each other.

use hangscope_analyzer_core::report::Kind;

use crate::job::{Job, wait_until};

/// Gives all ranks time to find each other.
fn pause() {
    std::thread::sleep(std::time::Duration::from_secs(1));
}

/// Rank 2 leaves out an operation.
#[test]
fn one_ranks_limit_makes_all_dump() {
    let mut job = Job::start(4, &[("HANGSCOPE_TIMEOUT", "3s")]);
    job.warm_up();
    for rank in [0, 1, 3] {
        job.ranks[rank].tell("op 8");
    }
    job.wait_for_dumps(0..4);
    let analysis = job.analyse();
    let finding = &analysis.report().findings[0];
    assert_eq!((finding.kind, finding.suspects.as_str()), (Kind::MissingRank, "2"), "{}", analysis.report().headline);

    // Rank 0 hears of all dumps.
    job.ranks[0].wait_to_say("all 4 ranks have written their dumps");
    job.ranks[0].wait_to_say("hangscope analyze");
    let said = job.end(0);
    assert!(said.contains(&format!("hangscope analyze {}", job.folder.path().display())), "{said}");
    // Rank 2 waits for nothing, and dumps all the same, because others asked. Only who was first says why.
    let silent = job.end(2);
    assert!(!silent.contains("dump"), "{silent}");
    let rest = said + &job.end(1) + &job.end(3);
    assert!(rest.contains("all_reduce #2 of world has not ended for"), "{rest}");
    assert!(!rest.contains("; wrote"), "{rest}");
}

/// A signal to one of them is enough.
#[test]
fn a_signal_to_one_rank_makes_all_dump() {
    let mut job = Job::start(3, &[("HANGSCOPE_TIMEOUT", "1h")]);
    job.warm_up();
    pause();
    job.ranks[2].signal("USR2");
    job.wait_for_dumps(0..3);
}

#[test]
fn members_find_each_other_by_the_communicators_number() {
    let mut job = Job::start(3, &[("HANGSCOPE_TIMEOUT", "3s")]);
    // The communicator's own order of ranks is not the job's.
    for (rank, place) in [(0, 1), (2, 0)] {
        job.ranks[rank].tell(&format!("comm 9f {place} 2 159"));
        job.ranks[rank].tell("op 8");
    }
    job.ranks[1].tell("comm other 0 1");
    job.wait_for_dumps(0..3);
    let analysis = job.analyse();
    let report = analysis.report();
    let group = report.findings[0].group.as_ref().unwrap();
    assert_eq!((group.name.as_str(), group.ranks.as_str()), ("9f", "0,2"));
    assert!(report.data_quality.iter().all(|note| !note.detail.contains("member")), "{:?}", report.data_quality);
}

#[test]
fn ranks_dump_alone_when_rank_0_is_dead() {
    let mut job = Job::start(3, &[("HANGSCOPE_TIMEOUT", "3s")]);
    job.warm_up();
    pause();
    drop(job.end(0));
    for rank in [1, 2] {
        job.ranks[rank].tell("op 8");
    }
    job.wait_for_dumps(1..3);
    job.ranks[1].wait_to_say("this rank watches alone");
    let analysis = job.analyse();
    let report = analysis.report();
    assert_eq!(report.findings[0].kind, Kind::NoDump, "{}", report.headline);
    assert_eq!(report.findings[0].suspects, "0", "{}", report.headline);
}

#[test]
fn a_frozen_rank_is_named_by_rank_0() {
    let mut job = Job::start(3, &[("HANGSCOPE_TIMEOUT", "3s")]);
    job.warm_up();
    pause();
    job.ranks[1].signal("STOP");
    for rank in [0, 2] {
        job.ranks[rank].tell("op 8");
    }
    job.wait_for_dumps([0, 2]);
    job.ranks[0].wait_to_say("2 ranks have written their dumps; none from rank 1 (no answer yet)");
    assert!(!job.dump_path(1).exists());
}

#[test]
fn a_killed_rank_is_told_and_one_that_ends_well_is_not() {
    let mut job = Job::start(3, &[("HANGSCOPE_TIMEOUT", "1h")]);
    job.warm_up();
    pause();
    job.ranks[2].tell("finish");
    drop(job.end(2));
    let process = job.ranks[1].id();
    drop(job.end(1));
    job.ranks[0].wait_to_say(&format!("rank 1 is gone: process {process} on "));
    let said = job.end(0);
    assert!(!said.contains("rank 2"), "{said}");
}

#[test]
fn strangers_are_turned_away() {
    let mut job = Job::start(2, &[("HANGSCOPE_TIMEOUT", "1h"), ("HANGSCOPE_TOKEN", "right")]);
    job.warm_up();
    let port = job.port.clone();
    let mut stranger = std::net::TcpStream::connect(&port);
    wait_until("the channel", || {
        stranger = std::net::TcpStream::connect(&port);
        stranger.is_ok()
    });
    use std::io::Write as _;
    let mut stranger = stranger.unwrap();
    let hello = r#"{"kind":"hello","version":1,"token":"wrong","rank":1,"host":"x","process":1}"#;
    let dump = r#"{"kind":"dump","rank":1,"reason":"mischief"}"#;
    write!(stranger, "{hello}\n{dump}\n").unwrap();
    let mut noise = std::net::TcpStream::connect(&port).unwrap();
    noise.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    job.ranks[0].wait_to_say("rank 1 on x was turned away from the side channel");
    // Time for what it must not do.
    pause();
    assert!(!job.dump_path(0).exists());
}
