//! Begin and end of MPI.

#![expect(unsafe_code, reason = "C functions under MPI's names")]

use hangscope_recorder::{OpKind, Operation};

use crate::call_depth::Outermost;
use crate::flow::{self, SUCCESS, enter};
use crate::wrap::wrap;
use crate::{exchange, session};

wrap!(MPI_Init, Plain, (count: Address, arguments: Address), |real| {
    let outermost = Outermost::enter();
    let outcome = real(count, arguments);
    if outermost.is_some() && outcome == SUCCESS {
        session::start();
        exchange::channel();
    }
    outcome
});

wrap!(MPI_Init_thread, Plain, (count: Address, arguments: Address, required: Number, provided: Out), |real| {
    let outermost = Outermost::enter();
    let outcome = real(count, arguments, required, provided);
    if outermost.is_some() && outcome == SUCCESS {
        session::start();
        exchange::channel();
    }
    outcome
});

// A rank that is through may wait here for the others: then it has something to tell of what broke. So the recording
// goes on until MPI has gone down.
wrap!(MPI_Finalize, Plain, (), |real| {
    let (entered, _outermost) = enter(|session| {
        let world = session.known(session.abi.handles.comm_world)?;
        let handle = session.recorder.record(&world.base, &Operation::collective(OpKind::Finalize, None, None));
        Some((session, handle))
    });
    let outcome = real();
    if let Some((session, handle)) = entered {
        flow::leave(session, handle, outcome);
        session::finish();
    }
    outcome
});

wrap!(MPI_Abort, Plain, (comm: Handle, code: Number), |real| {
    let _outermost = Outermost::enter();
    session::finish();
    real(comm, code)
});
