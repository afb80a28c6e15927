//! The symbols that NCCL looks for: data, each a structure of six pointers. It takes the newest that is there.
//!
//! There is no `ncclProfiler_v7`: several structures of that name exist, and NCCL takes version 6 where it is absent.
//! Versions before 4 tell no identity of communicators.

use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

use crate::abi::Version;
use crate::entry;

type Init4 =
    unsafe extern "C" fn(*mut *mut c_void, *mut c_int, *const c_char, u64, c_int, c_int, c_int, *const c_void) -> c_int;
type Init5 =
    unsafe extern "C" fn(*mut *mut c_void, u64, *mut c_int, *const c_char, c_int, c_int, c_int, *const c_void) -> c_int;

/// One version's structure.
#[repr(C)]
#[derive(Debug)]
pub struct Profiler<Init> {
    name: *const c_char,
    init: Init,
    start_event: unsafe extern "C" fn(*mut c_void, *mut *mut c_void, *const c_void) -> c_int,
    stop_event: unsafe extern "C" fn(*mut c_void) -> c_int,
    record_event_state: unsafe extern "C" fn(*mut c_void, c_int, *const c_void) -> c_int,
    finalize: unsafe extern "C" fn(*mut c_void) -> c_int,
}

// SAFETY: its pointers lead to functions and to a constant text.
#[expect(unsafe_code, reason = "a constant with a pointer to a constant")]
unsafe impl<Init: Sync> Sync for Profiler<Init> {}

const _: () = assert!(size_of::<Profiler<Init4>>() == 48 && size_of::<Profiler<Init5>>() == 48);
const _: () = assert!(offset_of!(Profiler<Init5>, init) == 8 && offset_of!(Profiler<Init5>, start_event) == 16);
const _: () = assert!(offset_of!(Profiler<Init5>, stop_event) == 24);
const _: () = assert!(offset_of!(Profiler<Init5>, record_event_state) == 32);
const _: () = assert!(offset_of!(Profiler<Init5>, finalize) == 40);

const NAME: &std::ffi::CStr = c"hangscope";

#[expect(unsafe_code, reason = "called by NCCL with its pointers")]
unsafe extern "C" fn init_v4(
    context: *mut *mut c_void,
    mask: *mut c_int,
    name: *const c_char,
    id: u64,
    _nodes: c_int,
    size: c_int,
    rank: c_int,
    _logger: *const c_void,
) -> c_int {
    // SAFETY: version 4 passes its arguments in this order.
    unsafe { entry::init(context, mask, name, (Version::V4, id, size, rank)) }
}

macro_rules! init_from_5 {
    ($name:ident, $version:expr) => {
        #[expect(unsafe_code, reason = "called by NCCL with its pointers")]
        unsafe extern "C" fn $name(
            context: *mut *mut c_void,
            id: u64,
            mask: *mut c_int,
            name: *const c_char,
            _nodes: c_int,
            size: c_int,
            rank: c_int,
            _logger: *const c_void,
        ) -> c_int {
            // SAFETY: versions 5 and 6 pass their arguments in this order.
            unsafe { entry::init(context, mask, name, ($version, id, size, rank)) }
        }
    };
}

init_from_5!(init_v5, Version::V5);
init_from_5!(init_v6, Version::V6);

macro_rules! start_event {
    ($name:ident, $version:expr) => {
        #[expect(unsafe_code, reason = "called by NCCL with its pointers")]
        unsafe extern "C" fn $name(context: *mut c_void, handle: *mut *mut c_void, descriptor: *const c_void) -> c_int {
            // SAFETY: the structure of this version is given to NCCL of this version.
            unsafe { entry::start_event(context, handle, descriptor, $version) }
        }
    };
}

start_event!(start_event_v4, Version::V4);
start_event!(start_event_v5, Version::V5);
start_event!(start_event_v6, Version::V6);

extern "C" fn stop_event(handle: *mut c_void) -> c_int {
    entry::stop_event(handle)
}

extern "C" fn record_event_state(handle: *mut c_void, state: c_int, _arguments: *const c_void) -> c_int {
    entry::record_state(handle, state)
}

extern "C" fn finalize(context: *mut c_void) -> c_int {
    entry::finalize(context)
}

macro_rules! export {
    ($symbol:ident: $init:ty = $init_function:ident, $start_function:ident) => {
        /// What NCCL looks for.
        #[expect(unsafe_code, reason = "NCCL names it")]
        #[allow(non_upper_case_globals, reason = "NCCL names it")]
        #[unsafe(no_mangle)]
        pub static $symbol: Profiler<$init> = Profiler {
            name: NAME.as_ptr(),
            init: $init_function,
            start_event: $start_function,
            stop_event,
            record_event_state,
            finalize,
        };
    };
}

export!(ncclProfiler_v4: Init4 = init_v4, start_event_v4);
export!(ncclProfiler_v5: Init5 = init_v5, start_event_v5);
export!(ncclProfiler_v6: Init5 = init_v6, start_event_v6);
