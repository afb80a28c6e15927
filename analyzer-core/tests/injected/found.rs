//! Cases in which an earlier engine blamed the wrong rank, or the right one for the wrong reason.

use crate::fault::Fault;
use crate::plan::{Batching, Plan};
use crate::properties::{
    a_lost_past_changes_no_blame, a_lost_victim_changes_no_blame, blame_is_right, healthy_is_silent, names_are_nothing,
};
use crate::simulator::Streams;

/// One rank without anything special; each case says what is more.
fn plan() -> Plan {
    Plan {
        dp: 1,
        tp: 1,
        pp: 1,
        experts: 1,
        steps: 3,
        layers: 1,
        micro: 1,
        batching: Batching::Never,
        menu: 0,
        streams: Streams::One,
        lenient: false,
        ahead: [1; 3],
        timing: false,
        frames: [true; 3],
        ring: [1000; 3],
        status: false,
        fault: Fault::Nothing,
        culprit: 0,
        at: 0,
        lost: Vec::new(),
    }
}

#[test]
fn a_block_that_the_ring_cut_in_two() {
    let ring = [1000, 30, 1000];
    let plan =
        Plan { dp: 2, pp: 3, steps: 2, layers: 2, micro: 2, batching: Batching::Always, menu: 180, ring, ..plan() };
    assert_eq!(healthy_is_silent(&plan), Ok(()));
}

#[test]
fn first_stage_does_what_other_stages_do_not() {
    let shape = Plan { pp: 3, micro: 3, batching: Batching::Pairs, menu: 10, ..plan() };
    assert_eq!(blame_is_right(&Plan { fault: Fault::Extra, culprit: 1, at: 6, ..shape }), Ok(()));
    let shape = Plan { tp: 2, pp: 3, layers: 2, menu: 52, ahead: [5; 3], ..plan() };
    assert_eq!(blame_is_right(&Plan { fault: Fault::NoMessage, culprit: 2, at: 269, ..shape }), Ok(()));
}

#[test]
fn groups_of_other_stages_do_not_decide_a_pair() {
    let shape =
        Plan { tp: 2, pp: 2, steps: 2, micro: 2, batching: Batching::Pairs, menu: 98, ahead: [1, 1, 2], ..plan() };
    let plan = Plan { frames: [false; 3], fault: Fault::Twice, culprit: 3, at: 551, ..shape };
    assert_eq!(blame_is_right(&plan), Ok(()));
}

#[test]
fn messages_back_say_nothing_of_messages_forth() {
    assert_eq!(blame_is_right(&Plan { pp: 2, fault: Fault::LeftEarly, ..plan() }), Ok(()));
}

#[test]
fn one_call_too_many_that_met_the_others_next() {
    let shape = Plan { tp: 2, steps: 2, layers: 2, menu: 64, streams: Streams::PerGroup, ahead: [100; 3], ..plan() };
    for at in 0..8 {
        assert_eq!(blame_is_right(&Plan { fault: Fault::Twice, at, ..shape.clone() }), Ok(()), "{at}");
    }
    let shape = Plan { pp: 2, micro: 2, batching: Batching::Pairs, menu: 128, lenient: true, ..plan() };
    assert_eq!(blame_is_right(&Plan { fault: Fault::Extra, at: 102, ..shape }), Ok(()));
}

#[test]
fn numbers_of_two_groups_that_run_on_by_chance() {
    let plan = Plan { dp: 2, tp: 3, steps: 2, menu: 11, timing: true, fault: Fault::DeviceStuck, at: 189, ..plan() };
    assert_eq!(a_lost_past_changes_no_blame(&plan), Ok(()));
    let plan =
        Plan { dp: 2, tp: 3, pp: 2, micro: 2, batching: Batching::Pairs, menu: 39, at: 263, timing: false, ..plan };
    assert_eq!(a_lost_past_changes_no_blame(&Plan { steps: 3, fault: Fault::Size, ..plan }), Ok(()));
}

#[test]
fn clocks_an_hour_apart() {
    let plan = Plan { dp: 3, tp: 2, steps: 2, fault: Fault::Stop, culprit: 2, at: 288, ..plan() };
    assert_eq!(names_are_nothing(&plan), Ok(()));
}

#[test]
fn messages_are_not_counted_from_the_edge_of_a_ring() {
    let shape = Plan { dp: 3, pp: 2, experts: 3, layers: 2, batching: Batching::Always, menu: 39, ..plan() };
    let plan = Plan { ring: [30, 1000, 1000], fault: Fault::Skip, culprit: 3, at: 399, ..shape };
    assert_eq!(blame_is_right(&plan), Ok(()));
}

#[test]
fn the_same_line_comes_several_times_in_a_step() {
    let shape = Plan { tp: 2, pp: 3, micro: 3, batching: Batching::Always, menu: 130, frames: [false; 3], ..plan() };
    assert_eq!(a_lost_past_changes_no_blame(&Plan { fault: Fault::LeftEarly, at: 104, ..shape }), Ok(()));
}

#[test]
fn a_rank_without_stacks_has_no_say_where_only_the_place_differs() {
    let shape = Plan { dp: 2, tp: 3, pp: 2, layers: 2, micro: 3, batching: Batching::Pairs, menu: 173, ..plan() };
    let plan = Plan { frames: [true, false, true], fault: Fault::Twice, culprit: 3, at: 405, ..shape };
    assert_eq!(blame_is_right(&plan), Ok(()));
}

#[test]
fn rings_that_hold_nothing_finished_leave_nothing_out() {
    let shape = Plan { dp: 2, tp: 4, pp: 4, micro: 3, batching: Batching::Pairs, menu: 110, ahead: [100; 3], ..plan() };
    let plan = Plan { ring: [1000, 30, 30], status: true, fault: Fault::DeviceStuck, culprit: 12, at: 474, ..shape };
    assert_eq!(blame_is_right(&plan), Ok(()));
}

#[test]
fn a_device_that_waits_in_something_older_is_not_late() {
    let shape = Plan { dp: 4, pp: 2, steps: 2, micro: 3, menu: 96, ahead: [5; 3], timing: true, ..plan() };
    assert_eq!(a_lost_past_changes_no_blame(&Plan { fault: Fault::NoMessage, culprit: 4, at: 267, ..shape }), Ok(()));
}

#[test]
fn clocks_of_ranks_that_finished_nothing_together_are_not_compared() {
    let shape = Plan { dp: 3, tp: 2, pp: 2, steps: 2, layers: 2, micro: 3, batching: Batching::Always, ..plan() };
    let shape = Plan { menu: 98, ring: [30, 1000, 1000], fault: Fault::Death, culprit: 3, at: 703, ..shape };
    assert_eq!(names_are_nothing(&Plan { lost: vec![1], ..shape }), Ok(()));
}

#[test]
fn a_block_of_which_only_the_end_is_left() {
    let shape =
        Plan { dp: 4, tp: 2, pp: 4, experts: 2, menu: 198, streams: Streams::PerGroup, ahead: [2; 3], ..plan() };
    let plan = Plan { fault: Fault::Size, culprit: 25, at: 70, ..shape };
    assert_eq!(a_lost_past_changes_no_blame(&plan), Ok(()));
}

#[test]
fn what_a_rank_did_before_its_window_is_no_precedent() {
    let shape = Plan { dp: 2, pp: 2, experts: 2, layers: 2, micro: 2, menu: 103, ..plan() };
    assert_eq!(a_lost_past_changes_no_blame(&Plan { fault: Fault::Twice, at: 1, ..shape }), Ok(()));
}

#[test]
fn siblings_without_stacks_do_not_decide_between_two_with_them() {
    let shape =
        Plan { dp: 2, tp: 3, experts: 2, steps: 2, layers: 2, menu: 59, frames: [false, false, true], ..plan() };
    let plan = Plan { fault: Fault::Skip, culprit: 2, at: 361, ..shape };
    assert_eq!(a_lost_victim_changes_no_blame(&plan), Ok(()));
}

#[test]
fn clocks_do_not_decide_what_left_the_ring() {
    let shape = Plan { tp: 3, pp: 2, layers: 2, micro: 3, menu: 163, ahead: [20; 3], ring: [30, 1000, 70], ..plan() };
    let plan = Plan { status: true, fault: Fault::LeftEarly, culprit: 4, ..shape };
    assert_eq!(names_are_nothing(&plan), Ok(()));
}
