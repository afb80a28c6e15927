//! Jobs that end well.

use std::collections::BTreeSet;

use crate::installation::Library;
use crate::job::{Dumps, Job};

/// A limit that no operation of a healthy program reaches, on whatever machine.
const AT_EXIT: &[(&str, &str)] = &[("HANGSCOPE_DUMP_AT_EXIT", "1"), ("HANGSCOPE_TIMEOUT", "1h")];

/// Names of groups as people say them.
fn labels(dumps: &Dumps) -> BTreeSet<String> {
    let job = dumps.analysis.job();
    (0..job.groups.len()).map(|at| job.label(hangscope_analyzer_core::job::GroupIdx(at as u32))).collect()
}

fn c_program_ends_well(mpi: Library) {
    let dumps = Job::of_c(mpi, "none", AT_EXIT).end_well();
    dumps.must_be("no_fault", "", "");
    let job = &dumps.report().job;
    assert_eq!((job.ranks_loaded, job.world_size), (4, Some(4)));
    assert_eq!(job.backends, ["mpi"]);
    let labels = labels(&dumps);
    for label in [
        "world",
        "world tag 3[0-3]",
        "split 1 of world[0,1]",
        "split 1 of world[2,3]",
        "duplicate 2 of world[0-3]",
        "group 3 of world[0,2]",
        "ranks 0,2 of world[0,2]",
        "grid 4 of world[0-3]",
        "part of a grid 1 of grid 4 of world[2,3]",
        "MPI_COMM_SELF[1]",
    ] {
        assert!(labels.contains(label), "no {label}: {labels:?}");
    }
}

#[test]
fn c_on_mpich() {
    c_program_ends_well(Library::Mpich);
}

#[test]
fn c_on_open_mpi() {
    c_program_ends_well(Library::OpenMpi);
}

#[test]
fn c_by_the_standards_interface() {
    c_program_ends_well(Library::Standard);
}

#[test]
fn python_on_mpich() {
    Job::of_python(Library::Mpich, "none", AT_EXIT).end_well().must_be("no_fault", "", "");
}

/// Its bindings use the large-count functions, since they find them, and Open MPI has none.
#[test]
fn python_on_open_mpi() {
    Job::of_python(Library::OpenMpi, "none", AT_EXIT).end_well().must_be("no_fault", "", "");
}

#[test]
fn a_program_whose_recorder_is_off_runs_as_ever() {
    let dumps = Job::of_c(Library::Mpich, "none", &[("HANGSCOPE_BUFFER_SIZE", "0"), ("HANGSCOPE_DUMP_AT_EXIT", "1")]);
    let dumps = dumps.end_well();
    assert_eq!(dumps.report().job.ranks_loaded, 0);
    assert_eq!(dumps.said, "");
}
