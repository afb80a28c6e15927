//! Times that mislead: clocks of different hosts, long waits that were fine, files of another day.

use serde_json::json;

use crate::job::{Job, op};

const HOUR_MS: i64 = 3_600_000;

/// Two hosts of four, the second one's clock five hours ahead; a tensor-parallel group on each.
fn two_hosts() -> Job {
    let mut job = Job::new(8);
    job.group("1", "tp", &[0, 1, 2, 3]);
    job.group("2", "tp", &[4, 5, 6, 7]);
    job.skew_ms(&[4, 5, 6, 7], 5 * HOUR_MS);
    for _ in 0..4 {
        job.all(op("all_reduce").on("1").at("attention", 30));
        job.all(op("all_reduce").on("2").at("attention", 30));
        job.all(op("all_reduce").at("backward", 60).size(&[4096]));
    }
    job
}

/// One rank is stuck in its data loader before its tensor-parallel row; its group waits there, the other host in the
/// gradient row. By the wall clock one host's waits are five hours older than the other's; that says nothing. The
/// stuck rank is the only one that waits for nothing.
#[test]
fn hosts_with_clocks_hours_apart_do_not_hide_who_is_stuck() {
    for (stuck, own, other) in [(1, "1", "2"), (6, "2", "1")] {
        let mut job = two_hosts();
        let hosts = [vec![0, 1, 2, 3], vec![4, 5, 6, 7]];
        let (near, far) = if stuck < 4 { (&hosts[0], &hosts[1]) } else { (&hosts[1], &hosts[0]) };
        let waiting: Vec<u32> = near.iter().copied().filter(|rank| *rank != stuck).collect();
        job.some(&waiting, op("all_reduce").on(own).at("attention", 30).scheduled());
        job.some(far, op("all_reduce").on(other).at("attention", 30));
        job.wait_ms(40);
        job.some(far, op("all_reduce").at("backward", 60).size(&[4096]).scheduled());
        let answer = job.answer();
        answer.verdict_in(&["missing_rank"]).blames(&[&stuck.to_string()]).in_row(own, 5);
    }
}

/// The same two hosts, and everything has finished. Only a comparison of two hosts' clocks could find a row that took
/// hours.
#[test]
fn hosts_with_clocks_hours_apart_are_healthy() {
    two_hosts().answer().healthy();
}

/// The first step compiled: nine minutes on rank 3, whose cache was cold, seconds on the others, which waited in the
/// row, within the limit of ten.
#[test]
fn a_cold_compilation_within_the_limit_is_healthy() {
    let mut job = Job::new(4);
    job.some(&[0, 1, 2], op("all_reduce").at("backward", 60).took_ms(540_300));
    job.wait_ms(540_000);
    job.some(&[3], op("all_reduce").at("backward", 60).took_ms(300));
    job.wait_ms(400);
    job.train(5);
    job.answer().healthy();
}

/// Rank 0 fetched the data set while the others waited in a barrier for which they had been given half an hour; rank
/// 0 itself gives it a minute, and took a second. Every rank finished within its own limit. The waits are over the
/// common limit and over rank 0's.
#[test]
fn a_long_barrier_within_each_ranks_own_limit_is_healthy() {
    let mut job = Job::new(4);
    job.train(2);
    let barrier = op("all_reduce_barrier").size(&[1]).at("prepare_data", 20);
    job.some(&[1, 2, 3], barrier.clone().timeout_ms(1_800_000).took_ms(701_000));
    job.wait_ms(700_000);
    job.some(&[0], barrier.timeout_ms(60_000).took_ms(1_000));
    job.wait_ms(1_100);
    job.train(5);
    job.answer().healthy();
}

/// Rank 3 wrote a checkpoint for more than ten minutes and then issued the row; by then the watchdog of the others
/// tore the job down, which released the row on all. Three of four took too long and rank 3 took seconds, yet they
/// only waited for it: a majority that is late is not what is wrong.
#[test]
fn ranks_that_waited_too_long_are_not_the_slow_ones() {
    let mut job = Job::new(4);
    job.train(5);
    job.some(&[0, 1, 2], op("all_reduce").at("backward", 60).size(&[1024]).took_ms(630_000));
    job.wait_ms(625_000);
    job.some(&[3], op("all_reduce").at("backward", 60).size(&[1024]).took_ms(5_000));
    job.answer().hung().blames(&["3", ""]).never_blames(&[0, 1, 2]);
}

/// Rank 2 was killed and left no dump, but the folder still holds its dump of yesterday's run, which got further:
/// there the row in which the others wait is long complete. The three that wait have done nothing wrong, though they
/// are "behind" rank 2 and a day ahead by the clock.
#[test]
fn a_file_of_yesterdays_run_does_not_put_the_others_behind() {
    let mut yesterday = Job::new(4);
    yesterday.train(25);
    yesterday.all(op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    let mut job = Job::new(4);
    job.wait_ms(24 * HOUR_MS);
    job.train(13);
    job.some(&[0, 1, 3], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.swap_file(2, &mut yesterday);
    job.answer().hung().never_blames(&[0, 1, 3]);
}

/// The rank's clock was set while its record `at` was on the device.
fn set_clock(job: &mut Job, rank: u32, at: i64, ms: i64) {
    job.edit(&[rank], |entry| {
        let record = entry["record_id"].as_i64().unwrap();
        let after = [("time_created_ns", record > at), ("time_discovered_completed_ns", record >= at)];
        for (key, moved) in after {
            if let (true, Some(time)) = (moved, entry[key].as_i64()) {
                entry[key] = json!(time + ms * 1_000_000);
            }
        }
    });
}

/// The clock of rank 1's host was set forward by an hour while a row was running, which therefore seems to have taken
/// an hour there. The others finished it in milliseconds, which an all_reduce cannot without rank 1, and ten more
/// steps followed.
#[test]
fn a_clock_set_forward_accuses_nobody() {
    let mut job = Job::new(4);
    job.train(15);
    set_clock(&mut job, 1, 14, HOUR_MS);
    job.answer().blames_nobody();
}

/// The clock of rank 1's host was set back by an hour between its two pending calls, so that the later one has the
/// earlier time. Its records tell the order: it waits in the pair's row first, for rank 0, which is stuck and in
/// neither.
#[test]
fn a_clock_set_back_does_not_turn_the_order_of_calls() {
    let mut job = Job::new(4);
    job.group("1", "tp", &[0, 1]);
    job.group("2", "tp", &[2, 3]);
    for _ in 0..4 {
        job.all(op("all_reduce").on("1").at("attention", 50));
        job.all(op("all_reduce").on("2").at("attention", 50));
        job.all(op("all_reduce").at("backward", 60).size(&[1024]));
    }
    job.all(op("all_reduce").on("2").at("attention", 50));
    job.some(&[1], op("all_reduce").on("1").at("attention", 50).scheduled());
    job.some(&[1, 2, 3], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    set_clock(&mut job, 1, 8, -HOUR_MS);
    job.answer().verdict_in(&["missing_rank"]).blames(&["0"]).in_row("1", 5);
}
