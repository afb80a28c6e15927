//! What a dump does not show: wrapped and reset rings, unfinished entries only, files that break off, dumps of
//! different moments.

use crate::job::{Job, op};

/// Ranks 1 to 3 do much in a group of their own, so their rings wrapped; rank 0's did not. Only rank 0 still shows
/// the two rows of the checkpoint group and the first steps. Nothing says that the others did not take part: their
/// windows begin later.
#[test]
fn the_only_rank_with_an_unwrapped_ring_did_not_act_alone() {
    let mut job = Job::new(4);
    job.group("1", "checkpoint", &[0, 1, 2, 3]);
    job.group("2", "experts", &[1, 2, 3]);
    job.all(op("broadcast").on("1").at("load", 15));
    job.all(op("broadcast").on("1").at("load", 16));
    for _ in 0..10 {
        job.train(1);
        job.train_on("2", 2);
    }
    for (rank, holds) in [(1, 60), (2, 55), (3, 50)] {
        job.ring(rank, holds);
    }
    job.answer().healthy();
}

/// The checkpoint thread of rank 1 died, so that rank 1 never issued row 3 of the checkpoint group, in which the
/// others' main threads wait before the next step. Rank 3 issued it too, but is chatty: its ring has overwritten that
/// entry while it was pending, so rank 3 seems to wait for nothing although rank 1 waits for it in the next step. Its
/// counters still tell: it enqueued row 3 and did not complete it. Rank 1 left the row out.
#[test]
fn a_rank_whose_pending_entry_was_overwritten_is_not_idle() {
    let mut job = Job::new(4);
    job.group("1", "checkpoint", &[0, 1, 2, 3]);
    job.group("2", "local", &[3]);
    job.all(op("all_reduce").on("1").at("save_async", 80));
    job.train(3);
    job.all(op("all_reduce").on("1").at("save_async", 80));
    job.train(3);
    job.some(&[0, 2, 3], op("all_reduce").on("1").at("save_async", 80).scheduled());
    for _ in 0..3 {
        job.train(1);
        job.train_on("2", 4);
    }
    job.some(&[1], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.ring(3, 40);
    job.answer().hung().blames(&["1", ""]).never_blames(&[0, 2, 3]);
}

/// The recorder of rank 2 was reset after the checkpoint group's last row: its records count from 0, so its ring does
/// not look wrapped, and it has no entry of the group whose rows the others show. Rank 3 is stuck before row 31,
/// where all others wait.
#[test]
fn a_rank_whose_recorder_was_reset_left_nothing_out() {
    let mut job = Job::new(4);
    job.group("1", "checkpoint", &[0, 1, 2, 3]);
    job.all(op("broadcast").on("1").at("load", 15));
    job.all(op("broadcast").on("1").at("load", 16));
    job.train(10);
    job.some(&[0, 1, 2], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.reset(2, 12);
    job.answer().verdict_in(&["missing_rank"]).blames(&["3"]).in_row("0", 31);
}

/// The same, and everything has finished.
#[test]
fn a_reset_recorder_in_a_healthy_job_is_healthy() {
    let mut job = Job::new(4);
    job.group("1", "checkpoint", &[0, 1, 2, 3]);
    job.all(op("broadcast").on("1").at("load", 15));
    job.train(10);
    job.reset(2, 12);
    job.answer().healthy();
}

/// Dumps hold unfinished entries only. Rank 3, the root of a broadcast, finished its part early; its file is empty,
/// and its counters say that it enqueued and completed row 31. So it was there: it is not missing, and nobody else
/// has done anything wrong either. The network lost the data.
#[test]
fn a_root_that_finished_early_is_not_missing_from_a_dump_of_unfinished_entries() {
    let mut job = Job::new(4);
    job.train(10);
    job.some(&[0, 1, 2], op("broadcast").at("sync_weights", 90).size(&[512]).scheduled());
    job.some(&[3], op("broadcast").at("sync_weights", 90).size(&[512]));
    job.only_active();
    job.answer().hung().notes("only_active").blames_nobody();
}

/// Rank 3 is stuck; the whole file of rank 3 says so. Rank 2 waits with the others, but its file breaks off long
/// before the row: what it did after that is unknown.
#[test]
fn a_file_that_breaks_off_does_not_share_the_blame() {
    let mut job = Job::new(4);
    job.train(10);
    job.some(&[0, 1, 2], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.cut(2, 70);
    job.answer().notes("truncated").verdict_in(&["missing_rank"]).blames(&["3"]);
}

/// Rank 2 was killed while it wrote its dump, after it had been stuck. What it did last cannot be read, so at most
/// one can say that the others wait for a rank whose file breaks off; those that wait are innocent.
#[test]
fn a_file_that_breaks_off_at_the_culprit_blames_nobody_else() {
    let mut job = Job::new(4);
    job.train(10);
    job.some(&[0, 1, 3], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.cut(2, 70);
    job.answer().hung().notes("truncated").never_blames(&[0, 1, 3]);
}

/// Somebody fetched the traces of a healthy job over HTTP, one rank after another, a second each. The later a rank
/// was asked, the more it shows; all that is shown has finished. An all_reduce that finished anywhere was joined by
/// all: rank 0 is not missing, its trace is older.
#[test]
fn traces_fetched_one_after_another_show_no_missing_rank() {
    let mut job = Job::new(4);
    for step in 0..11 {
        let shown: Vec<u32> = (0..4).filter(|rank| step < 8 + rank).collect();
        for line in [60, 61, 62] {
            job.some(&shown, op("all_reduce").at("backward", line).size(&[1024]));
            job.wait_ms(300);
        }
    }
    job.answer().healthy();
}

/// Rank 3's file is of a trace asked for half an hour earlier; it did not write another. Since then all four did 30
/// rows more, or the others could not have finished them. Rank 1's file is whole, shows those rows, and shows that it
/// never issued the one in which ranks 0 and 2 wait. Whether rank 3 did is not known.
#[test]
fn a_file_of_half_an_hour_ago_does_not_share_the_blame() {
    let mut job = Job::new(4);
    job.train(10);
    job.wait_ms(1_800_000);
    for _ in 0..10 {
        for line in [60, 61, 62] {
            job.some(&[0, 1, 2], op("all_reduce").at("backward", line).size(&[1024]));
            job.wait_ms(50);
        }
    }
    job.some(&[0, 2], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.answer().hung().blames(&["1"]).in_row("0", 61);
}

/// A group is used for the first time. Rank 2 is stuck before that; since it has not used the group, its file does
/// not list it. The files of those that wait do.
#[test]
fn a_group_that_a_file_does_not_list_yet_still_has_its_members() {
    let mut job = Job::new(4);
    job.group("1", "evaluation", &[0, 1, 2]);
    job.train(5);
    job.some(&[0, 1], op("all_reduce").on("1").at("evaluate", 95).size(&[2]).scheduled());
    job.some(&[3], op("all_reduce").at("backward", 60).size(&[1024]).scheduled());
    job.unlisted(2, "1");
    job.answer().verdict_in(&["missing_rank"]).blames(&["2"]).never_blames(&[0, 1, 3]);
}
