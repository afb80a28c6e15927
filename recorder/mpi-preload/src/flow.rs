//! How a call of the program runs: recorded before, and what became of it noted after.

use std::ffi::c_int;
use std::sync::Arc;

use hangscope_recorder::{Communicator, Handle, Operation, guard};

use crate::call_depth::Outermost;
use crate::known::Known;
use crate::narrow::KeptArrays;
use crate::session::{Session, session};
use crate::tracked::{Template, Tracked};

/// What `MPI_SUCCESS` is everywhere.
pub(crate) const SUCCESS: c_int = 0;
/// What a call gives that could not be made: an error's number in every interface.
pub(crate) const FAILURE: c_int = 16;

/// Where an operation is asked for.
#[derive(Debug)]
pub(crate) struct Site {
    pub session: &'static Session,
    pub known: Arc<Known>,
}

impl Site {
    /// `None`: the communicator is not recorded.
    pub(crate) fn of(session: &'static Session, communicator: usize) -> Option<Self> {
        session.known(communicator).map(|known| Self { session, known })
    }

    pub(crate) fn record(&self, channel: &Communicator, operation: &Operation) -> Handle {
        self.session.recorder.record(channel, operation)
    }
}

/// Runs `before` as a part of the recorder, if this call is to be recorded at all. The second value stands for the time
/// until the call is over, during which nothing else of this thread is recorded.
pub(crate) fn enter<T>(before: impl FnOnce(&'static Session) -> Option<T>) -> (Option<T>, Option<Outermost>) {
    let Some(outermost) = Outermost::enter() else { return (None, None) };
    let value = guard(|| session().and_then(before)).flatten();
    (value, Some(outermost))
}

/// Notes how an operation of a call that blocks has ended.
pub(crate) fn leave(session: &Session, handle: Handle, outcome: c_int) {
    guard(|| {
        if outcome == SUCCESS {
            session.recorder.complete(handle);
        } else {
            session.recorder.retire(handle);
        }
    });
}

/// As [`enter`], with a collective recorded.
fn enter_recorded(
    communicator: usize,
    operation: impl FnOnce(&Site) -> Operation,
) -> (Option<(&'static Session, Handle)>, Option<Outermost>) {
    enter(|session| {
        let site = Site::of(session, communicator)?;
        let handle = site.record(&site.known.base, &operation(&site));
        Some((session, handle))
    })
}

/// A collective that ends when the call does.
pub(crate) fn blocking(
    communicator: usize,
    operation: impl FnOnce(&Site) -> Operation,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let (entered, _outermost) = enter_recorded(communicator, operation);
    let outcome = call();
    if let Some((session, handle)) = entered {
        leave(session, handle, outcome);
    }
    outcome
}

/// A collective that the call only begins.
pub(crate) fn nonblocking(
    communicator: usize,
    operation: impl FnOnce(&Site) -> Operation,
    request: *mut u8,
    call: impl FnOnce() -> (c_int, KeptArrays),
) -> c_int {
    let (entered, _outermost) = enter_recorded(communicator, operation);
    let (outcome, kept) = call();
    if let Some((session, handle)) = entered {
        begun(session, request, Tracked { kept, ..Tracked::of(handle) }, outcome);
    } else {
        // Nobody will tell when the library has read it.
        std::mem::forget(kept);
    }
    outcome
}

/// A collective that is begun later, by `MPI_Start`.
pub(crate) fn persistent(
    communicator: usize,
    operation: impl FnOnce(&Site) -> Operation,
    request: *mut u8,
    call: impl FnOnce() -> (c_int, KeptArrays),
) -> c_int {
    let (entered, _outermost) = enter(|session| {
        let site = Site::of(session, communicator)?;
        let template = Template { channel: Arc::clone(&site.known.base), operation: operation(&site) };
        Some((session, Tracked { template: Some(Arc::new(template)), ..Tracked::of(Handle::NONE) }))
    });
    let (outcome, kept) = call();
    if let Some((session, tracked)) = entered {
        prepared(session, request, Tracked { kept, ..tracked }, outcome);
    } else {
        std::mem::forget(kept);
    }
    outcome
}

/// Notes that a call has returned that begins an operation.
pub(crate) fn begun(session: &Session, request: *mut u8, tracked: Tracked, outcome: c_int) {
    guard(|| {
        if outcome == SUCCESS {
            session.recorder.nonblocking(tracked.handle);
            session.requests.put(request_at(session, request, 0), tracked);
        } else {
            session.recorder.retire(tracked.handle);
        }
    });
}

/// Notes that a call has returned that prepares an operation.
pub(crate) fn prepared(session: &Session, request: *mut u8, tracked: Tracked, outcome: c_int) {
    if outcome == SUCCESS {
        guard(|| session.requests.put(request_at(session, request, 0), tracked));
    }
}

/// Request number `index` of the program's array.
#[expect(unsafe_code, reason = "the program's memory")]
pub(crate) fn request_at(session: &Session, requests: *const u8, index: usize) -> usize {
    // SAFETY: MPI's callers give an array with this many handles; a null one has none, and is refused by MPI.
    if requests.is_null() {
        session.abi.handles.request_null
    } else {
        unsafe { session.abi.read_handle(requests, index) }
    }
}
