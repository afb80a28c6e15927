//! How the ranks learn where their side channel is: rank 0 tells them over MPI itself, before the program's first
//! operation.

use std::ffi::c_int;

use hangscope_recorder::guard;

use crate::mpi_library::pmpi;
use crate::session::{Session, session};

/// Bytes that are told; the text is far shorter.
const BYTES: usize = 512;

/// Tells the other ranks of rank 0's channel. All ranks call this when MPI has been initialised, whatever their settings:
/// it is a collective call, and nothing of the program can come between, since its own `MPI_Init` has not returned.
pub(crate) fn channel() {
    let Some(session) = session() else { return };
    let rank = session.recorder.rank().unwrap_or_default();
    let mut text = [0_u8; BYTES];
    if rank == 0 {
        let served = guard(|| session.recorder.serve()).flatten().unwrap_or_default();
        for (place, byte) in text.iter_mut().zip(served.bytes()) {
            *place = byte;
        }
    }
    if broadcast(session, &mut text) && rank != 0 {
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(BYTES);
        if let Some(Ok(text)) = text.get(..end).map(str::from_utf8) {
            guard(|| session.recorder.connect(text));
        }
    }
}

#[expect(unsafe_code, reason = "calls of the MPI library")]
fn broadcast(session: &Session, text: &mut [u8; BYTES]) -> bool {
    let handles = &session.abi.handles;
    let outcome = pmpi!(PMPI_Bcast(
        text.as_mut_ptr() => *mut u8,
        c_int::try_from(BYTES).unwrap_or_default() => c_int,
        handles.byte => usize,
        0 => c_int,
        handles.comm_world => usize,
    ));
    outcome == Some(0)
}
