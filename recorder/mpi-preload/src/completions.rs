//! Waits and tests for requests, and what else happens to them.

#![expect(unsafe_code, reason = "C functions under MPI's names")]

use std::ffi::c_int;

use hangscope_recorder::guard;

use crate::flow::{SUCCESS, enter, request_at};
use crate::session::Session;
use crate::status::StatusBuffer;
use crate::wait_all::Taken;
use crate::wrap::wrap;

/// What a call is given for its statuses.
#[derive(Debug)]
struct Told {
    /// Where the address may lead.
    _own: StatusBuffer,
    address: *mut u8,
}

impl Told {
    /// Those of the program, or ours where it wants none.
    fn new(session: &Session, statuses: *mut u8, count: usize) -> Self {
        let mut own = StatusBuffer::new(&session.abi, count);
        let address = if session.abi.ignores(statuses) { own.as_mut_ptr() } else { statuses };
        Self { _own: own, address }
    }

    /// Ours are needed only where something has to be read in them.
    fn for_one(session: &Session, status: *mut u8, taken: &Taken) -> Self {
        if taken.is_open() {
            Self::new(session, status, 1)
        } else {
            Self { _own: StatusBuffer::new(&session.abi, 0), address: status }
        }
    }
}

wrap!(MPI_Wait, Plain, (request: Out, status: Out), |real| {
    let (entered, _outermost) = enter(|session| known(session, Taken::of(session, request, 1)));
    let Some((session, mut taken)) = entered else {
        return real(request, status);
    };
    let told = Told::for_one(session, status, &taken);
    let outcome = real(request, told.address);
    taken.settle(session, 0, told.address, outcome);
    outcome
});

wrap!(MPI_Test, Plain, (request: Out, flag: Out, status: Out), |real| {
    let (entered, _outermost) = enter(|session| known(session, Taken::quietly(session, request, 1)));
    let Some((session, mut taken)) = entered else {
        return real(request, flag, status);
    };
    let told = Told::for_one(session, status, &taken);
    let outcome = real(request, flag, told.address);
    if outcome != SUCCESS || int_at(flag, 0) != 0 {
        taken.settle(session, 0, told.address, outcome);
    }
    taken.give_back(session);
    outcome
});

wrap!(MPI_Waitany, Plain, (count: Number, requests: Out, index: Out, status: Out), |real| {
    let (entered, _outermost) = enter(|session| known(session, Taken::of(session, requests, length(count))));
    let Some((session, mut taken)) = entered else {
        return real(count, requests, index, status);
    };
    let told = Told::for_one(session, status, &taken);
    let outcome = real(count, requests, index, told.address);
    settle_any(session, &mut taken, index, told.address, outcome);
    taken.give_back(session);
    outcome
});

wrap!(MPI_Testany, Plain, (count: Number, requests: Out, index: Out, flag: Out, status: Out), |real| {
    let (entered, _outermost) = enter(|session| known(session, Taken::quietly(session, requests, length(count))));
    let Some((session, mut taken)) = entered else {
        return real(count, requests, index, flag, status);
    };
    let told = Told::for_one(session, status, &taken);
    let outcome = real(count, requests, index, flag, told.address);
    if outcome != SUCCESS || int_at(flag, 0) != 0 {
        settle_any(session, &mut taken, index, told.address, outcome);
    }
    taken.give_back(session);
    outcome
});

wrap!(MPI_Waitsome, Plain, (count: Number, requests: Out, ended: Out, indices: Out, statuses: Out), |real| {
    let (entered, _outermost) = enter(|session| known(session, Taken::of(session, requests, length(count))));
    let Some((session, mut taken)) = entered else {
        return real(count, requests, ended, indices, statuses);
    };
    let told = Told::new(session, statuses, length(count));
    let outcome = real(count, requests, ended, indices, told.address);
    settle_some(session, &mut taken, ended, indices, told.address, outcome);
    taken.give_back(session);
    outcome
});

wrap!(MPI_Testsome, Plain, (count: Number, requests: Out, ended: Out, indices: Out, statuses: Out), |real| {
    let (entered, _outermost) = enter(|session| known(session, Taken::quietly(session, requests, length(count))));
    let Some((session, mut taken)) = entered else {
        return real(count, requests, ended, indices, statuses);
    };
    let told = Told::new(session, statuses, length(count));
    let outcome = real(count, requests, ended, indices, told.address);
    settle_some(session, &mut taken, ended, indices, told.address, outcome);
    taken.give_back(session);
    outcome
});

wrap!(MPI_Testall, Plain, (count: Number, requests: Out, flag: Out, statuses: Out), |real| {
    let (entered, _outermost) = enter(|session| known(session, Taken::quietly(session, requests, length(count))));
    let Some((session, mut taken)) = entered else {
        return real(count, requests, flag, statuses);
    };
    let told = Told::new(session, statuses, length(count));
    let outcome = real(count, requests, flag, told.address);
    if outcome != SUCCESS || int_at(flag, 0) != 0 {
        for index in 0..taken.handles.len() {
            let status = session.abi.status_at(told.address, index);
            let error = error_of(session, status, outcome);
            if error != session.abi.err_pending {
                taken.settle(session, index, status, error);
            }
        }
    }
    taken.give_back(session);
    outcome
});

wrap!(MPI_Request_free, Plain, (request: Out), |real| {
    let (entered, _outermost) = enter(|session| known(session, Taken::quietly(session, request, 1)));
    if let Some((session, taken)) = entered {
        // Nobody will ever learn how it ended.
        guard(|| taken.tracked.into_iter().flatten().for_each(|one| session.recorder.retire(one.handle)));
    }
    real(request)
});

wrap!(MPI_Cancel, Plain, (request: Out), |real| {
    let (entered, _outermost) = enter(|session| known(session, Taken::quietly(session, request, 1)));
    let outcome = real(request);
    if let Some((session, mut taken)) = entered {
        for one in taken.tracked.iter_mut().flatten() {
            one.cancelled = outcome == SUCCESS;
        }
        taken.give_back(session);
    }
    outcome
});

/// `None`: nothing is known of any of the requests.
fn known(session: &'static Session, taken: Taken) -> Option<(&'static Session, Taken)> {
    taken.tracked.iter().any(Option::is_some).then_some((session, taken))
}

fn length(count: c_int) -> usize {
    usize::try_from(count).unwrap_or_default()
}

/// Number `index` of an array of `int` that the library has written.
fn int_at(numbers: *const u8, index: usize) -> c_int {
    // SAFETY: callers give an array of the program in which the library has written this number.
    if numbers.is_null() { 0 } else { unsafe { numbers.cast::<c_int>().add(index).read() } }
}

/// How the request behind a status of several has ended.
fn error_of(session: &Session, status: *const u8, outcome: c_int) -> c_int {
    if outcome == session.abi.err_in_status {
        // SAFETY: the library has set the errors of all statuses of such a call.
        unsafe { session.abi.error(status) }
    } else {
        outcome
    }
}

fn settle_any(session: &Session, taken: &mut Taken, index: *const u8, status: *const u8, outcome: c_int) {
    if let Ok(index) = usize::try_from(int_at(index, 0)) {
        taken.settle(session, index, status, outcome);
    }
}

fn settle_some(
    session: &Session,
    taken: &mut Taken,
    ended: *const u8,
    indices: *const u8,
    statuses: *mut u8,
    outcome: c_int,
) {
    if outcome != SUCCESS && outcome != session.abi.err_in_status {
        return;
    }
    for at in 0..usize::try_from(int_at(ended, 0)).unwrap_or_default() {
        let status = session.abi.status_at(statuses, at);
        if let Ok(index) = usize::try_from(int_at(indices, at)) {
            taken.settle(session, index, status, error_of(session, status, outcome));
        }
    }
}

/// The handle of the program's request.
pub(crate) fn handle_of(session: &Session, request: *const u8) -> usize {
    request_at(session, request, 0)
}
