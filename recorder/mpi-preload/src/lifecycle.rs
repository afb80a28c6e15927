//! Begin and end of MPI.

#![expect(unsafe_code, reason = "C functions under MPI's names")]

use crate::call_depth::Outermost;
use crate::flow::SUCCESS;
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

wrap!(MPI_Finalize, Plain, (), |real| {
    let _outermost = Outermost::enter();
    session::finish();
    real()
});

wrap!(MPI_Abort, Plain, (comm: Handle, code: Number), |real| {
    let _outermost = Outermost::enter();
    session::finish();
    real(comm, code)
});
