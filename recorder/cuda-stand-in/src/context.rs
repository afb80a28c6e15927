//! Contexts and modes of capture, which threads have.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};

use crate::codes::{INVALID_VALUE, SUCCESS};

const GLOBAL: c_uint = 0;
const RELAXED: c_uint = 2;

thread_local! {
    static CONTEXT: Cell<usize> = const { Cell::new(0) };
    static MODE: Cell<c_uint> = const { Cell::new(GLOBAL) };
}

pub(crate) fn current() -> usize {
    CONTEXT.get()
}

pub(crate) fn is_relaxed() -> bool {
    MODE.get() == RELAXED
}

/// As the driver's.
///
/// # Safety
///
/// The place takes a pointer.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(context: *mut *mut c_void) -> c_int {
    // SAFETY: the caller's.
    unsafe { context.write(std::ptr::without_provenance_mut(current())) };
    SUCCESS
}

/// As the driver's. Any number is a context here.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(context: *mut c_void) -> c_int {
    CONTEXT.set(context.addr());
    SUCCESS
}

/// As the driver's.
///
/// # Safety
///
/// The place holds a mode.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint) -> c_int {
    // SAFETY: the caller's.
    let new = unsafe { mode.read() };
    if new > RELAXED {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's.
    unsafe { mode.write(MODE.replace(new)) };
    SUCCESS
}
