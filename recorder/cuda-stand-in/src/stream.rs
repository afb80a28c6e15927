//! Streams: what is enqueued runs in order, on a thread of the stream's own.

use std::collections::VecDeque;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::codes::{CAPTURE_INVALIDATED, INVALID_CONTEXT, INVALID_HANDLE, SUCCESS};
use crate::context;
use crate::event::Event;
use crate::graph::{self, Graph};
use crate::registry::Registry;

/// A function of the program's, with its argument by address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostFunction {
    function: extern "C" fn(*mut c_void),
    argument: usize,
}

#[derive(Debug)]
pub(crate) enum Work {
    Run(HostFunction),
    Reach(Arc<Event>, u64),
}

#[derive(Debug, Default)]
struct State {
    work: VecDeque<Work>,
    is_running: bool,
    capture: Option<Capture>,
}

#[derive(Debug, Default)]
struct Capture {
    functions: Vec<HostFunction>,
    broken_by: Option<&'static str>,
}

/// A stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    state: Mutex<State>,
    changed: Condvar,
}

static STREAMS: Registry<Stream> = Registry::new(0x1000_0000);

pub(crate) fn get(handle: *mut c_void) -> Option<Arc<Stream>> {
    STREAMS.get(handle)
}

/// Breaks what is being captured anywhere; whether anything was.
pub(crate) fn break_all_captures(reason: &'static str) -> bool {
    let capturing: Vec<_> = STREAMS.all().into_iter().filter(|stream| stream.is_capturing()).collect();
    capturing.iter().for_each(|stream| stream.break_capture(reason));
    !capturing.is_empty()
}

impl Stream {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_capturing(&self) -> bool {
        self.state().capture.is_some()
    }

    pub(crate) fn break_capture(&self, reason: &'static str) {
        if let Some(capture) = &mut self.state().capture {
            capture.broken_by = Some(reason);
        }
    }

    pub(crate) fn enqueue(&self, work: Work) {
        self.state().work.push_back(work);
        self.changed.notify_all();
    }

    fn run(&self) {
        loop {
            let mut state = self.state();
            state.is_running = false;
            self.changed.notify_all();
            let work = loop {
                match state.work.pop_front() {
                    Some(work) => break work,
                    None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            state.is_running = true;
            drop(state);
            match work {
                Work::Run(HostFunction { function, argument }) => {
                    function(std::ptr::with_exposed_provenance_mut(argument));
                }
                Work::Reach(event, which) => event.reach(which),
            }
        }
    }
}

/// As the driver's.
///
/// # Safety
///
/// The place takes a handle.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(place: *mut *mut c_void, _flags: c_uint) -> c_int {
    if context::current() == 0 {
        return INVALID_CONTEXT;
    }
    let stream = Arc::new(Stream::default());
    let body = Arc::clone(&stream);
    thread::spawn(move || body.run());
    // SAFETY: the caller's.
    unsafe { place.write(STREAMS.add(stream)) };
    SUCCESS
}

/// As the driver's. Under capture the function goes into the graph.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub extern "C" fn cuLaunchHostFunc(
    stream: *mut c_void,
    function: extern "C" fn(*mut c_void),
    argument: *mut c_void,
) -> c_int {
    let Some(stream) = get(stream) else { return INVALID_HANDLE };
    let function = HostFunction { function, argument: argument.expose_provenance() };
    let mut state = stream.state();
    if let Some(capture) = &mut state.capture {
        capture.functions.push(function);
        return SUCCESS;
    }
    drop(state);
    stream.enqueue(Work::Run(function));
    SUCCESS
}

/// As the driver's.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: *mut c_void) -> c_int {
    let Some(stream) = get(stream) else { return INVALID_HANDLE };
    let mut state = stream.state();
    while state.is_running || !state.work.is_empty() {
        state = stream.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    SUCCESS
}

/// As the driver's.
///
/// # Safety
///
/// The place takes a status.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamIsCapturing(stream: *mut c_void, status: *mut c_uint) -> c_int {
    let Some(stream) = get(stream) else { return INVALID_HANDLE };
    // SAFETY: the caller's.
    unsafe { status.write(stream.is_capturing().into()) };
    SUCCESS
}

/// As the driver's.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamBeginCapture_v2(stream: *mut c_void, _mode: c_uint) -> c_int {
    let Some(stream) = get(stream) else { return INVALID_HANDLE };
    stream.state().capture = Some(Capture::default());
    SUCCESS
}

/// As the driver's; says on standard error what broke the capture.
///
/// # Safety
///
/// The place takes a handle.
#[expect(unsafe_code, clippy::print_stderr, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) -> c_int {
    let Some(stream) = get(stream) else { return INVALID_HANDLE };
    let Some(capture) = stream.state().capture.take() else { return INVALID_HANDLE };
    if let Some(reason) = capture.broken_by {
        eprintln!("the capture is broken: {reason}");
        return CAPTURE_INVALIDATED;
    }
    // SAFETY: the caller's.
    unsafe { graph.write(graph::GRAPHS.add(Arc::new(Graph { functions: capture.functions }))) };
    SUCCESS
}
