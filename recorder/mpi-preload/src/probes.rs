//! Looks at messages before they are received.

#![expect(unsafe_code, reason = "C functions under MPI's names")]

use std::ffi::c_int;

use hangscope_recorder::guard;

use crate::completion::{name_origin, set_aside, settle_outcome};
use crate::completions::handle_of;
use crate::flow::{self, SUCCESS, enter};
use crate::messages::Message;
use crate::session::Session;
use crate::status::StatusBuffer;
use crate::tracked::Tracked;
use crate::wrap::wrap;

// A look that waits is recorded as the receive that it stands for, and set aside once it has seen a message: another call
// receives that.
wrap!(MPI_Probe, Plain, (from: Number, tag: Number, comm: Handle, status: Out), |real| {
    let (entered, _outermost) =
        enter(|session| Message::receive(session, comm, from, tag).map(|message| (session, message.record(session))));
    let outcome = real(from, tag, comm, status);
    if let Some((session, tracked)) = entered {
        guard(|| {
            if let Some(receive) = &tracked.receive {
                set_aside(session, tracked.handle, receive);
            }
        });
        settle_outcome(session, tracked, outcome);
    }
    outcome
});

// One that also takes the message out of the queue is the receive itself, which ends when the message is there.
wrap!(MPI_Mprobe, Plain, (from: Number, tag: Number, comm: Handle, message: Out, status: Out), |real| {
    let (entered, _outermost) =
        enter(|session| Message::receive(session, comm, from, tag).map(|message| (session, message.record(session))));
    let Some((session, tracked)) = entered else {
        return real(from, tag, comm, message, status);
    };
    let mut own = StatusBuffer::new(&session.abi, 1);
    let told = if session.abi.ignores(status) { own.as_mut_ptr() } else { status };
    let outcome = real(from, tag, comm, message, told);
    matched(session, tracked, message, told, outcome);
    outcome
});

wrap!(MPI_Improbe, Plain, (from: Number, tag: Number, comm: Handle, flag: Out, message: Out, status: Out), |real| {
    let (entered, _outermost) = enter(Some);
    let Some(session) = entered else {
        return real(from, tag, comm, flag, message, status);
    };
    let mut own = StatusBuffer::new(&session.abi, 1);
    let told = if session.abi.ignores(status) { own.as_mut_ptr() } else { status };
    let outcome = real(from, tag, comm, flag, message, told);
    // SAFETY: the library has written the flag of a call that succeeded.
    if outcome == SUCCESS && unsafe { flag.cast::<c_int>().read() } != 0 {
        let tracked =
            guard(|| Message::receive(session, comm, from, tag).map(|message| message.record(session))).flatten();
        if let Some(tracked) = tracked {
            matched(session, tracked, message, told, outcome);
        }
    }
    outcome
});

/// Notes that a message has been matched, and keeps it until it is received.
fn matched(session: &Session, tracked: Tracked, message: *mut u8, status: *const u8, outcome: c_int) {
    if outcome != SUCCESS {
        settle_outcome(session, tracked, outcome);
        return;
    }
    guard(|| {
        if let Some(receive) = &tracked.receive
            && receive.is_open
        {
            // SAFETY: the library has filled the status of a call that succeeded.
            name_origin(session, tracked.handle, receive, unsafe { session.abi.origin(status) });
        }
        session.recorder.nonblocking(tracked.handle);
        session.messages.put(handle_of(session, message), Tracked { receive: None, ..tracked });
    });
}

macro_rules! matched_receives {
    ($($plain:ident $begun:ident $width:ident;)*) => {$(
        wrap!($plain, $width,
            (buffer: Address, count: Count, datatype: Handle, message: Out, status: Out), |real| {
            let (entered, _outermost) = enter(|session| {
                let tracked = session.messages.take(handle_of(session, message))?;
                session.recorder.waited(tracked.handle, true);
                Some((session, tracked))
            });
            let outcome = real(buffer, count, datatype, message, status);
            if let Some((session, tracked)) = entered {
                settle_outcome(session, tracked, outcome);
            }
            outcome
        });
        wrap!($begun, $width,
            (buffer: Address, count: Count, datatype: Handle, message: Out, request: Out), |real| {
            let (entered, _outermost) =
                enter(|session| Some((session, session.messages.take(handle_of(session, message))?)));
            let outcome = real(buffer, count, datatype, message, request);
            if let Some((session, tracked)) = entered {
                flow::begun(session, request, tracked, outcome);
            }
            outcome
        });
    )*};
}

matched_receives! {
    MPI_Mrecv MPI_Imrecv Plain;
    MPI_Mrecv_c MPI_Imrecv_c Large;
}
