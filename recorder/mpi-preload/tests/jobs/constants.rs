//! The constants of the binary interfaces, against what the libraries' own headers say.

use std::collections::BTreeMap;
use std::process::Command;

use hangscope_mpi::{Abi, AbiKind, Handles};

use crate::installation::Library;

/// What a header says, by name.
fn of_header(mpi: Library) -> BTreeMap<String, i64> {
    let mut launcher = mpi.launcher(1);
    let program = mpi.build("constants");
    launcher.push(program.to_str().unwrap().to_owned());
    let output = Command::new("timeout").arg("30").args(&launcher).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| {
            let (name, number) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), number.parse().unwrap())
        })
        .collect()
}

/// What is built in, by the same names.
fn of_ours(abi: &Abi) -> BTreeMap<String, i64> {
    let Abi { kind: _, handles, .. } = *abi;
    let word = |word: usize| i64::from_ne_bytes((word as u64).to_ne_bytes());
    let numbers = [
        ("handle_bytes", word(abi.handle_bytes)),
        ("status_bytes", word(abi.status_bytes)),
        ("source_at", word(abi.source_at)),
        ("tag_at", word(abi.tag_at)),
        ("error_at", word(abi.error_at)),
        ("status_ignore", word(abi.status_ignore)),
        ("statuses_ignore", word(abi.status_ignore)),
        ("in_place", word(abi.in_place)),
        ("any_source", abi.any_source.into()),
        ("any_tag", abi.any_tag.into()),
        ("proc_null", abi.proc_null.into()),
        ("undefined", abi.undefined.into()),
        ("err_in_status", abi.err_in_status.into()),
        ("err_pending", abi.err_pending.into()),
        ("success", 0),
        ("count_bytes", 8),
    ];
    let Handles { comm_world, comm_null, request_null, message_null, datatype_null, byte } = handles;
    let handles = [
        ("comm_world", comm_world),
        ("comm_null", comm_null),
        ("request_null", request_null),
        ("message_null", message_null),
        ("datatype_null", datatype_null),
        ("byte", byte),
    ];
    let handles = handles.into_iter().map(|(name, handle)| (name, word(handle)));
    // Open MPI's handles are addresses, which are looked up.
    let handles = handles.filter(|_| abi.kind != AbiKind::OpenMpi);
    numbers.into_iter().chain(handles).map(|(name, number)| (name.to_owned(), number)).collect()
}

#[test]
fn mpich() {
    assert_eq!(of_ours(&Abi::MPICH), of_header(Library::Mpich));
}

#[test]
fn the_standard() {
    assert_eq!(of_ours(&Abi::STANDARD), of_header(Library::Standard));
}

#[test]
fn open_mpi() {
    let handles = Handles { comm_world: 0, comm_null: 0, request_null: 0, message_null: 0, datatype_null: 0, byte: 0 };
    assert_eq!(of_ours(&Abi::open_mpi(handles)), of_header(Library::OpenMpi));
}
