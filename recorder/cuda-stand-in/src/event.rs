//! Events.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::codes::{CAPTURE_UNSUPPORTED, INVALID_CONTEXT, INVALID_HANDLE, NOT_READY, SUCCESS};
use crate::context;
use crate::registry::Registry;
use crate::stream::{self, Work};

/// An event: recorded so many times, of which the last that its stream came to is known.
#[derive(Debug)]
pub(crate) struct Event {
    context: usize,
    recorded: AtomicU64,
    reached: AtomicU64,
}

static EVENTS: Registry<Event> = Registry::new(0x2000_0000);

impl Event {
    pub(crate) fn reach(&self, which: u64) {
        self.reached.fetch_max(which, Ordering::Release);
    }
}

/// As the driver's.
///
/// # Safety
///
/// The place takes a handle.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(place: *mut *mut c_void, _flags: c_uint) -> c_int {
    let context = context::current();
    if context == 0 {
        return INVALID_CONTEXT;
    }
    let event = Event { context, recorded: AtomicU64::new(0), reached: AtomicU64::new(0) };
    // SAFETY: the caller's.
    unsafe { place.write(EVENTS.add(Arc::new(event))) };
    SUCCESS
}

/// As the driver's.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: *mut c_void, stream: *mut c_void) -> c_int {
    let (Some(event), Some(stream)) = (EVENTS.get(event), stream::get(stream)) else { return INVALID_HANDLE };
    if event.context != context::current() {
        return INVALID_CONTEXT;
    }
    if stream.is_capturing() {
        stream.break_capture("an event was recorded into it");
        return CAPTURE_UNSUPPORTED;
    }
    let which = event.recorded.fetch_add(1, Ordering::AcqRel) + 1;
    stream.enqueue(Work::Reach(event, which));
    SUCCESS
}

/// As the driver's.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub extern "C" fn cuEventQuery(event: *mut c_void) -> c_int {
    let Some(event) = EVENTS.get(event) else { return INVALID_HANDLE };
    if event.context != context::current() {
        return INVALID_CONTEXT;
    }
    if !context::is_relaxed() && stream::break_all_captures("a thread asked for an event") {
        return CAPTURE_UNSUPPORTED;
    }
    let recorded = event.recorded.load(Ordering::Acquire);
    if event.reached.load(Ordering::Acquire) >= recorded { SUCCESS } else { NOT_READY }
}
