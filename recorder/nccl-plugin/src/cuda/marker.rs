//! Events that mark a place in a stream.

use std::collections::HashMap;
use std::ffi::c_uint;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::sys::{
    CUcontext, CUevent, CUevent_flags_enum, CUresult, CUstream, CUstreamCaptureMode_enum, CUstreamCaptureStatus_enum,
};

use super::Driver;

/// A place in a stream. It is an event of the driver, by its address, with the context that it belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    event: usize,
    context: usize,
}

/// Whether a stream has come to a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    Yes,
    NotYet,
    /// The driver does not say, and never will: the context is gone, or broken.
    Never,
}

/// Events that mark nothing now, by their contexts.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<HashMap<usize, Vec<usize>>>);

impl Pool {
    fn take(&self, context: usize) -> Option<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&context)?.pop()
    }

    fn put(&self, marker: &Marker) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(marker.context).or_default().push(marker.event);
    }
}

const OK: i32 = CUresult::CUDA_SUCCESS as i32;
const NOT_READY: i32 = CUresult::CUDA_ERROR_NOT_READY as i32;
const NO_CAPTURE: c_uint = CUstreamCaptureStatus_enum::CU_STREAM_CAPTURE_STATUS_NONE as c_uint;
const RELAXED: c_uint = CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_RELAXED as c_uint;
const NO_TIMING: c_uint = CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as c_uint;

#[expect(unsafe_code, reason = "foreign functions")]
impl Driver {
    /// Marks the place up to which a stream has been filled, in the caller's context. `None`: the stream is being
    /// captured, in which an event would be part of the graph, or the driver refused.
    pub(crate) fn mark(&self, stream: usize) -> Option<Marker> {
        let stream: CUstream = ptr::with_exposed_provenance_mut(stream);
        let mut capture = NO_CAPTURE;
        // SAFETY: the stream is NCCL's, alive during its own call; the answer goes into a local.
        let code = unsafe { (self.is_capturing)(stream, &raw mut capture) };
        if code != OK || capture != NO_CAPTURE {
            return None;
        }
        let mut context: CUcontext = ptr::null_mut();
        // SAFETY: the answer goes into a local.
        if unsafe { (self.context)(&raw mut context) } != OK || context.is_null() {
            return None;
        }
        let context = context.expose_provenance();
        let event = self.pool.take(context).or_else(|| self.create())?;
        let marker = Marker { event, context };
        // SAFETY: the event was made in this context, nobody else has it, and events are never destroyed.
        if unsafe { (self.record)(marker.event(), stream) } == OK {
            return Some(marker);
        }
        self.recycle(marker);
        None
    }

    fn create(&self) -> Option<usize> {
        let mut event: CUevent = ptr::null_mut();
        let mut mode = RELAXED;
        // SAFETY: all answers go into locals. The thread's mode is put back; while it lasts, a capture elsewhere is not
        // broken by this call.
        let code = unsafe {
            let exchanged = (self.exchange_capture_mode)(&raw mut mode) == OK;
            let code = (self.create)(&raw mut event, NO_TIMING);
            if exchanged {
                (self.exchange_capture_mode)(&raw mut mode);
            }
            code
        };
        (code == OK).then(|| event.expose_provenance())
    }

    /// Gives an event back that is not looked at any more. It may still be in a stream: marking anew replaces that.
    pub(crate) fn recycle(&self, marker: Marker) {
        self.pool.put(&marker);
    }

    /// Lets the calling thread ask while other threads capture, which would break the capture otherwise.
    pub(crate) fn relax_this_thread(&self) {
        let mut mode = RELAXED;
        // SAFETY: the answer goes into a local.
        unsafe { (self.exchange_capture_mode)(&raw mut mode) };
    }

    /// Whether a stream has come to the marker. Sets the calling thread's context.
    pub(crate) fn reached(&self, marker: &Marker) -> Reached {
        // SAFETY: the driver refuses a context that is gone; the event is one of this context and was never destroyed
        // by us.
        let code = unsafe {
            match (self.set_context)(ptr::with_exposed_provenance_mut(marker.context)) {
                OK => (self.query)(marker.event()),
                code => code,
            }
        };
        match code {
            OK => Reached::Yes,
            NOT_READY => Reached::NotYet,
            _ => Reached::Never,
        }
    }
}

impl Marker {
    /// The context that it belongs to, by its address.
    pub(crate) fn context(&self) -> usize {
        self.context
    }

    fn event(&self) -> CUevent {
        ptr::with_exposed_provenance_mut(self.event)
    }
}
