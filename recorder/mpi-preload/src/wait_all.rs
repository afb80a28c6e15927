//! `MPI_Waitall`, as waits for some until all have ended: so it shows which have not.

#![expect(unsafe_code, reason = "C functions under MPI's names")]

use std::ffi::c_int;

use hangscope_recorder::guard;

use crate::completion::{settle, settle_outcome, settle_request};
use crate::flow::{FAILURE, SUCCESS, enter, request_at};
use crate::mpi_library::pmpi;
use crate::session::Session;
use crate::status::StatusBuffer;
use crate::tracked::Tracked;
use crate::wrap::wrap;

/// Requests that are waited for at once. Each wait for some looks at all of them.
const CHUNK: usize = 256;

wrap!(MPI_Waitall, Plain, (count: Number, requests: Out, statuses: Out), |real| {
    let length = usize::try_from(count).unwrap_or_default();
    let (entered, _outermost) = enter(|session| {
        let taken = Taken::of(session, requests, length);
        taken.tracked.iter().any(Option::is_some).then_some((session, taken))
    });
    match entered {
        None => real(count, requests, statuses),
        Some((session, taken)) => wait(session, requests, statuses, taken),
    }
});

/// Requests of one call, taken out of the table while the library may end them.
#[derive(Debug)]
pub(crate) struct Taken {
    pub handles: Vec<usize>,
    pub tracked: Vec<Option<Tracked>>,
}

impl Taken {
    /// Takes what is known of the program's requests, and notes that they are waited for.
    pub(crate) fn of(session: &Session, requests: *const u8, length: usize) -> Self {
        let taken = Self::quietly(session, requests, length);
        for tracked in taken.tracked.iter().flatten() {
            session.recorder.waited(tracked.handle, true);
        }
        taken
    }

    /// The same, without a wait.
    pub(crate) fn quietly(session: &Session, requests: *const u8, length: usize) -> Self {
        let handles: Vec<usize> = (0..length).map(|index| request_at(session, requests, index)).collect();
        let tracked = handles
            .iter()
            .map(|handle| {
                (*handle != session.abi.handles.request_null).then(|| session.requests.take(*handle)).flatten()
            })
            .collect();
        Self { handles, tracked }
    }

    /// Whether one of them needs the status.
    pub(crate) fn is_open(&self) -> bool {
        self.tracked.iter().flatten().any(Tracked::is_open)
    }

    /// Notes the end of one.
    pub(crate) fn settle(&mut self, session: &Session, index: usize, status: *const u8, outcome: c_int) {
        let tracked = self.tracked.get_mut(index).and_then(Option::take);
        if let (Some(tracked), Some(handle)) = (tracked, self.handles.get(index)) {
            settle_request(session, *handle, tracked, status, outcome);
        }
    }

    /// Gives back those that have not ended.
    pub(crate) fn give_back(self, session: &Session) {
        guard(|| {
            for (handle, tracked) in self.handles.into_iter().zip(self.tracked) {
                if let Some(tracked) = tracked {
                    session.recorder.waited(tracked.handle, false);
                    session.requests.put(handle, tracked);
                }
            }
        });
    }
}

fn wait(session: &Session, requests: *mut u8, statuses: *mut u8, mut taken: Taken) -> c_int {
    let length = taken.handles.len();
    let mut outcome = SUCCESS;
    let mut ended = vec![false; length];
    for from in (0..length).step_by(CHUNK) {
        let to = length.min(from + CHUNK);
        outcome = wait_for_chunk(session, requests, statuses, &mut taken, &mut ended, from..to);
        if outcome != SUCCESS {
            break;
        }
    }
    if outcome == session.abi.err_in_status && !session.abi.ignores(statuses) {
        // The statuses of those that failed say so themselves.
        for (index, ended) in ended.iter().enumerate() {
            if !ended {
                // SAFETY: the program's array has a status for each request.
                unsafe { session.abi.set_error(session.abi.status_at(statuses, index), session.abi.err_pending) };
            }
        }
    }
    taken.give_back(session);
    outcome
}

fn wait_for_chunk(
    session: &Session,
    requests: *mut u8,
    statuses: *mut u8,
    taken: &mut Taken,
    ended: &mut [bool],
    range: std::ops::Range<usize>,
) -> c_int {
    let abi = &session.abi;
    let wanted = !abi.ignores(statuses);
    let mut own = StatusBuffer::new(abi, range.len());
    let mut indices: Vec<c_int> = vec![0; range.len()];
    let count = c_int::try_from(range.len()).unwrap_or(c_int::MAX);
    let first = requests.wrapping_add(range.start * abi.handle_bytes);
    let null = |index: &usize| taken.handles.get(*index) == Some(&abi.handles.request_null);
    let mut left = range.len() - range.clone().filter(null).count();
    while left > 0 {
        let mut some: c_int = 0;
        let outcome = pmpi!(PMPI_Waitsome(
            count => c_int,
            first => *mut u8,
            &raw mut some => *mut c_int,
            indices.as_mut_ptr() => *mut c_int,
            own.as_mut_ptr() => *mut u8,
        ))
        .unwrap_or(FAILURE);
        let failed_some = outcome == abi.err_in_status;
        if outcome != SUCCESS && !failed_some {
            return outcome;
        }
        if some == abi.undefined {
            // Those that are left are persistent ones that nobody started.
            break;
        }
        let some = usize::try_from(some).unwrap_or_default();
        for (at, index) in indices.iter().take(some).enumerate() {
            let index = range.start + usize::try_from(*index).unwrap_or_default();
            let status = abi.status_at(own.as_mut_ptr(), at);
            // SAFETY: the library has filled as many of our statuses as it ended requests; only where some failed does it
            // set their errors.
            let error = if failed_some { unsafe { abi.error(status) } } else { SUCCESS };
            if wanted {
                let to = abi.status_at(statuses, index);
                // SAFETY: the program's array has a status for each request.
                unsafe {
                    abi.copy_status(status, to);
                    if failed_some {
                        abi.set_error(to, error);
                    }
                }
            }
            taken.settle(session, index, status, error);
            if let Some(ended) = ended.get_mut(index) {
                *ended = true;
            }
        }
        left = left.saturating_sub(some);
        if failed_some {
            if wanted {
                for index in range.clone().filter(|index| ended.get(*index) == Some(&true)) {
                    let status = abi.status_at(statuses, index);
                    let is_now = indices.iter().take(some).any(|at| usize::try_from(*at) == Ok(index - range.start));
                    if !is_now {
                        // SAFETY: as above. It ended well in an earlier round.
                        unsafe { abi.set_error(status, SUCCESS) };
                    }
                }
            }
            return outcome;
        }
    }
    for index in range {
        if let Some(ended) = ended.get_mut(index)
            && !*ended
        {
            *ended = true;
            if wanted {
                write_empty(session, abi.status_at(statuses, index));
            }
        }
    }
    SUCCESS
}

/// Fills the status of a request that was null, as the library does it.
fn write_empty(session: &Session, status: *mut u8) {
    let mut null = session.abi.handles.request_null;
    let _ = pmpi!(PMPI_Wait(&raw mut null => *mut usize, status => *mut u8));
}

/// The requests of a receive and of a send that one call begins, in this order.
#[derive(Debug)]
pub(crate) struct Pair<'a> {
    session: &'a Session,
    requests: [usize; 2],
}

impl<'a> Pair<'a> {
    pub(crate) fn new(session: &'a Session) -> Self {
        Self { session, requests: [0; 2] }
    }

    /// Where the library writes the handle of one of them.
    pub(crate) fn at(&mut self, index: usize) -> *mut u8 {
        self.requests.as_mut_ptr().cast::<u8>().wrapping_add(index * self.session.abi.handle_bytes)
    }

    /// Waits for both; the status is that of the receive.
    pub(crate) fn wait(&mut self, tracked: [Option<Tracked>; 2], status: *mut u8) -> c_int {
        let abi = &self.session.abi;
        let mut own = StatusBuffer::new(abi, 2);
        let mut indices: [c_int; 2] = [0; 2];
        let mut tracked = tracked;
        let mut left = 2;
        let mut outcome = SUCCESS;
        while left > 0 {
            let mut some: c_int = 0;
            let waited = pmpi!(PMPI_Waitsome(
                2 => c_int,
                self.at(0) => *mut u8,
                &raw mut some => *mut c_int,
                indices.as_mut_ptr() => *mut c_int,
                own.as_mut_ptr() => *mut u8,
            ))
            .unwrap_or(FAILURE);
            let failed_some = waited == abi.err_in_status;
            let some = usize::try_from(some).unwrap_or_default();
            if some == 0 || waited != SUCCESS && !failed_some {
                outcome = if waited == SUCCESS { outcome } else { waited };
                break;
            }
            for (at, index) in indices.iter().take(some).enumerate() {
                let from = abi.status_at(own.as_mut_ptr(), at);
                // SAFETY: the library has filled this status, and set its error where some failed.
                let error = if failed_some { unsafe { abi.error(from) } } else { SUCCESS };
                if error != SUCCESS {
                    outcome = error;
                }
                if *index == 0 && !abi.ignores(status) {
                    // SAFETY: the program's own status.
                    unsafe { abi.copy_status(from, status) };
                }
                let one = usize::try_from(*index).ok().and_then(|index| tracked.get_mut(index)?.take());
                if let Some(one) = one {
                    settle(self.session, one, from, error);
                }
            }
            left -= some.min(left);
        }
        for one in tracked.into_iter().flatten() {
            settle_outcome(self.session, one, outcome);
        }
        outcome
    }
}
