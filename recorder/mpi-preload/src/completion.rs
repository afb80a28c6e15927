//! Notes that an operation has ended, and what is known only then.

#![expect(unsafe_code, reason = "memory in the layout of the MPI library")]

use std::ffi::c_int;

use hangscope_recorder::{Handle, Peer, guard};

use crate::channel_table::ChannelKey;
use crate::flow::SUCCESS;
use crate::session::Session;
use crate::status::Origin;
use crate::tracked::{Receive, Tracked};

/// Notes the end of an operation of which the library has filled the status.
pub(crate) fn settle(session: &Session, tracked: Tracked, status: *const u8, outcome: c_int) {
    // SAFETY: callers pass a status that the library has filled.
    let origin = (outcome == SUCCESS && tracked.is_open()).then(|| unsafe { session.abi.origin(status) });
    end(session, &tracked, origin, outcome);
}

/// Notes the end of an operation whose status tells nothing that is needed.
pub(crate) fn settle_outcome(session: &Session, tracked: Tracked, outcome: c_int) {
    end(session, &tracked, None, outcome);
}

/// Notes the end of a request, and keeps one that can be started again. `handle` is what its handle was before.
pub(crate) fn settle_request(session: &Session, handle: usize, tracked: Tracked, status: *const u8, outcome: c_int) {
    let again =
        tracked.template.is_some().then(|| Tracked { handle: Handle::NONE, cancelled: false, ..tracked.clone() });
    settle(session, tracked, status, outcome);
    if let Some(again) = again {
        guard(|| session.requests.put(handle, again));
    }
}

fn end(session: &Session, tracked: &Tracked, origin: Option<Origin>, outcome: c_int) {
    guard(|| {
        if !tracked.handle.is_some() {
            return;
        }
        if outcome != SUCCESS || tracked.cancelled {
            // A receive that nothing came to must not be taken for one that met a send.
            if let Some(receive) = &tracked.receive {
                set_aside(session, tracked.handle, receive);
            }
            session.recorder.retire(tracked.handle);
            return;
        }
        if let (Some(receive), Some(origin)) = (&tracked.receive, origin) {
            name_origin(session, tracked.handle, receive, origin);
        }
        session.recorder.complete(tracked.handle);
        if let Some(birth) = &tracked.birth {
            birth.complete(session);
        }
    });
}

/// Tells a receive that took what came where it came from.
pub(crate) fn name_origin(session: &Session, handle: Handle, receive: &Receive, origin: Origin) {
    let Ok(source) = u32::try_from(origin.source) else { return };
    let channel = receive.known.channel_of_tag(session.recorder, origin.tag);
    session.recorder.amend(handle, &channel, Peer::Rank(source));
}

/// Moves a receive to where no send is held against it.
pub(crate) fn set_aside(session: &Session, handle: Handle, receive: &Receive) {
    let probes = receive.known.channel(session.recorder, ChannelKey::Probes);
    session.recorder.amend(handle, &probes, Peer::Any);
}
