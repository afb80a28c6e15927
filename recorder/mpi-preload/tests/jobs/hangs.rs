//! Jobs that hang: all ranks that live leave dumps, and these tell which rank is to blame.

use std::process::Command;

use crate::installation::Library;
use crate::job::Job;

const ALL: &[u32] = &[0, 1, 2, 3];

fn c_hangs(mpi: Library, fault: &str, verdict: (&str, &str, &str)) {
    let (kind, suspects, group) = verdict;
    Job::of_c(mpi, fault, &[]).hang(ALL).must_be(kind, suspects, group);
}

/// The faults that are tried on each library. A rank that skips one of several equal operations takes part in the rest,
/// until it waits in the end of MPI where the others wait in the last of them.
macro_rules! faults {
    ($($name:ident: $mpi:ident $fault:literal => $verdict:literal $suspects:literal $group:literal;)*) => {$(
        #[test]
        fn $name() {
            c_hangs(Library::$mpi, $fault, ($verdict, $suspects, $group));
        }
    )*};
}

faults! {
    skipped_all_reduce_on_mpich: Mpich "skip" => "op_mismatch" "2" "world";
    sleeping_rank_on_mpich: Mpich "sleep" => "missing_rank" "1" "world";
    send_without_receive_on_mpich: Mpich "send" => "p2p_unmatched" "3" "world tag 1[0-3]";
    receive_without_send_on_mpich: Mpich "recv" => "p2p_unmatched" "3" "world tag 1[0-3]";
    wait_for_all_without_one_partner_on_mpich: Mpich "waitall" => "p2p_unmatched" "2" "world tag 2[0-3]";
    exchange_without_one_rank_on_mpich: Mpich "exchange" => "p2p_unmatched" "2" "world tag 3[0-3]";
    skip_in_one_half_on_mpich: Mpich "split" => "op_mismatch" "3" "split 1 of world[2,3]";
    receive_from_anybody_on_mpich: Mpich "any" => "all_joined" "" "world tag 1[0-3]";

    two_that_send_before_they_receive_on_mpich: Mpich "deadlock" => "cross_group_deadlock" "" "world tag 6[0-3]";
    begun_all_reduce_without_one_rank_on_mpich: Mpich "begun" => "missing_rank" "3" "world";
    duplicate_without_one_rank_on_mpich: Mpich "make" => "missing_rank" "3" "world";

    skipped_all_reduce_on_open_mpi: OpenMpi "skip" => "op_mismatch" "2" "world";
    sleeping_rank_on_open_mpi: OpenMpi "sleep" => "missing_rank" "1" "world";
    send_without_receive_on_open_mpi: OpenMpi "send" => "p2p_unmatched" "3" "world tag 1[0-3]";
    wait_for_all_without_one_partner_on_open_mpi: OpenMpi "waitall" => "p2p_unmatched" "2" "world tag 2[0-3]";
    exchange_without_one_rank_on_open_mpi: OpenMpi "exchange" => "p2p_unmatched" "2" "world tag 3[0-3]";
    skip_in_one_half_on_open_mpi: OpenMpi "split" => "op_mismatch" "3" "split 1 of world[2,3]";

    wait_for_all_without_one_partner_by_the_standards_interface:
        Standard "waitall" => "p2p_unmatched" "2" "world tag 2[0-3]";
}

fn killed_rank(mpi: Library) {
    let dumps = Job::of_c(mpi, "kill", &[]).hang(&[0, 1, 2]);
    dumps.must_be("no_dump", "3", "world");
    assert!(dumps.said.contains("rank 3 is gone"), "{}", dumps.said);
}

#[test]
fn killed_rank_on_mpich() {
    killed_rank(Library::Mpich);
}

#[test]
fn killed_rank_on_open_mpi() {
    killed_rank(Library::OpenMpi);
}

#[test]
fn python_that_skips_a_barrier_on_mpich() {
    let dumps = Job::of_python(Library::Mpich, "skip", &[]).hang(ALL);
    dumps.must_be("op_mismatch", "2", "world");
    // The bindings have given the interpreter's lock away by then. Other versions' frames are not read without it.
    if ["3.11.", "3.12.", "3.13."].iter().any(|known| python_version().starts_with(known)) {
        let headline = &dumps.report().headline;
        assert!(headline.contains("wait in <module> (faults.py:62)"), "{headline}");
    }
}

/// The version of the Python that runs the tests' programs.
fn python_version() -> String {
    let python = Library::Mpich.programs().join("python");
    let output =
        Command::new(python).args(["-c", "import platform; print(platform.python_version())"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn python_that_sleeps_on_open_mpi() {
    Job::of_python(Library::OpenMpi, "sleep", &[]).hang(ALL).must_be("missing_rank", "1", "world");
}

/// The bindings look for the message before they receive it.
#[test]
fn python_that_receives_in_vain_on_mpich() {
    Job::of_python(Library::Mpich, "recv", &[]).hang(ALL).must_be("p2p_unmatched", "0", "world tag 9[0-3]");
}

/// Each rank has its own time limit, and hears of the others by the trigger file.
#[test]
fn without_a_channel_all_ranks_dump_as_well() {
    let dumps = Job::of_c(Library::Mpich, "sleep", &[("HANGSCOPE_CHANNEL", "off")]).hang(ALL);
    dumps.must_be("missing_rank", "1", "world");
}

/// With native stacks the verdict says where in the program the ranks wait.
#[test]
fn native_stacks_name_the_place_in_a_c_program() {
    let dumps = Job::of_c(Library::Mpich, "sleep", &[("HANGSCOPE_STACKS", "native")]).hang(ALL);
    dumps.must_be("missing_rank", "1", "world");
    assert!(dumps.report().headline.contains("reduce (faults.c:"), "{}", dumps.report().headline);
}
