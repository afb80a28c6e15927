//! Who the members of a communicator or a group are, by their ranks in the world.

#![expect(unsafe_code, reason = "calls of the MPI library")]

use std::ffi::c_int;

use crate::abi::Abi;
use crate::mpi_library::pmpi;

/// The caller's rank in a communicator, and how many it has. `None`: it is null.
pub(crate) fn rank_and_size(communicator: usize) -> Option<(u32, u32)> {
    let (mut rank, mut size): (c_int, c_int) = (0, 0);
    let told = pmpi!(PMPI_Comm_rank(communicator => usize, &raw mut rank => *mut c_int)) == Some(0)
        && pmpi!(PMPI_Comm_size(communicator => usize, &raw mut size => *mut c_int)) == Some(0);
    told.then(|| Some((u32::try_from(rank).ok()?, u32::try_from(size).ok()?))).flatten()
}

/// Whether it joins two groups: then ranks mean members of the other one.
pub(crate) fn is_intercommunicator(communicator: usize) -> bool {
    let mut flag: c_int = 0;
    pmpi!(PMPI_Comm_test_inter(communicator => usize, &raw mut flag => *mut c_int)) != Some(0) || flag != 0
}

/// The members of a communicator, by their ranks in the world. `None`: one of them is not of this world.
pub(crate) fn members(abi: &Abi, communicator: usize) -> Option<Vec<u32>> {
    let group = group_of(communicator)?;
    let members = group_members(abi, group);
    free(group);
    members
}

/// The members of a group, by their ranks in the world.
pub(crate) fn group_members(abi: &Abi, group: usize) -> Option<Vec<u32>> {
    let mut size: c_int = 0;
    let told = pmpi!(PMPI_Group_size(group => usize, &raw mut size => *mut c_int)) == Some(0);
    let size = told.then(|| usize::try_from(size).ok()).flatten()?;
    let world = group_of(abi.handles.comm_world)?;
    let from: Vec<c_int> = (0..size).map(|rank| c_int::try_from(rank).unwrap_or(c_int::MAX)).collect();
    let mut to: Vec<c_int> = vec![0; size];
    let told = pmpi!(PMPI_Group_translate_ranks(
        group => usize,
        c_int::try_from(size).unwrap_or(c_int::MAX) => c_int,
        from.as_ptr() => *const c_int,
        world => usize,
        to.as_mut_ptr() => *mut c_int,
    ));
    free(world);
    (told == Some(0)).then(|| to.into_iter().map(|rank| u32::try_from(rank).ok()).collect()).flatten()
}

fn group_of(communicator: usize) -> Option<usize> {
    // As wide as any interface's handle; a narrower one fills the lower half, which comes first on the machines that
    // MPI's narrow handles are known on.
    let mut group: usize = 0;
    let told = pmpi!(PMPI_Comm_group(communicator => usize, &raw mut group => *mut usize));
    (told == Some(0)).then_some(group)
}

fn free(group: usize) {
    let mut group = group;
    // A group that cannot be freed stays.
    let _ = pmpi!(PMPI_Group_free(&raw mut group => *mut usize));
}

/// The name that the program or the library gave it; empty for none.
pub(crate) fn name(communicator: usize) -> String {
    let mut name = [0_u8; 512];
    let mut length: c_int = 0;
    let told = pmpi!(PMPI_Comm_get_name(
        communicator => usize,
        name.as_mut_ptr() => *mut u8,
        &raw mut length => *mut c_int,
    ));
    let length = if told == Some(0) { usize::try_from(length).unwrap_or_default() } else { 0 };
    String::from_utf8_lossy(name.get(..length).unwrap_or_default()).into_owned()
}
