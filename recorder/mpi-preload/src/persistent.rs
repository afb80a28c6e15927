//! Starts of persistent requests.

#![expect(unsafe_code, reason = "C functions under MPI's names")]

use std::ffi::c_int;

use hangscope_recorder::Handle;

use crate::flow::{SUCCESS, enter};
use crate::session::Session;
use crate::wait_all::Taken;
use crate::wrap::wrap;

wrap!(MPI_Start, Plain, (request: Out), |real| {
    let (entered, _outermost) = enter(|session| Some((session, started(session, request, 1)?)));
    let outcome = real(request);
    if let Some((session, taken)) = entered {
        running(session, taken, outcome);
    }
    outcome
});

wrap!(MPI_Startall, Plain, (count: Number, requests: Out), |real| {
    let length = usize::try_from(count).unwrap_or_default();
    let (entered, _outermost) = enter(|session| Some((session, started(session, requests, length)?)));
    let outcome = real(count, requests);
    if let Some((session, taken)) = entered {
        running(session, taken, outcome);
    }
    outcome
});

/// Records what the requests stand for.
fn started(session: &Session, requests: *const u8, length: usize) -> Option<Taken> {
    let mut taken = Taken::quietly(session, requests, length);
    for one in taken.tracked.iter_mut().flatten() {
        if let Some(template) = &one.template {
            one.handle = session.recorder.record(&template.channel, &template.operation);
        }
    }
    taken.tracked.iter().any(Option::is_some).then_some(taken)
}

fn running(session: &Session, mut taken: Taken, outcome: c_int) {
    for one in taken.tracked.iter_mut().flatten() {
        if outcome == SUCCESS {
            session.recorder.nonblocking(one.handle);
        } else {
            session.recorder.retire(one.handle);
            one.handle = Handle::NONE;
        }
    }
    taken.give_back(session);
}
