//! The functions of CUDA's driver that are used, looked up at run time: without a driver the plugin works all the same.

use std::ffi::{OsStr, c_int, c_uint};

use cudarc::driver::sys::{CUcontext, CUevent, CUstream};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// Results are numbers here: a driver may be newer than any list of them.
pub(super) type Code = c_int;

/// The driver of this process.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(super) context: unsafe extern "C" fn(*mut CUcontext) -> Code,
    pub(super) set_context: unsafe extern "C" fn(CUcontext) -> Code,
    pub(super) create: unsafe extern "C" fn(*mut CUevent, c_uint) -> Code,
    pub(super) record: unsafe extern "C" fn(CUevent, CUstream) -> Code,
    pub(super) query: unsafe extern "C" fn(CUevent) -> Code,
    pub(super) is_capturing: unsafe extern "C" fn(CUstream, *mut c_uint) -> Code,
    pub(super) exchange_capture_mode: unsafe extern "C" fn(*mut c_uint) -> Code,
    pub(super) pool: super::marker::Pool,
}

#[expect(unsafe_code, reason = "foreign functions")]
impl Driver {
    /// Opens the library. `None`: there is none, or it lacks a function.
    pub(crate) fn open(library: &OsStr) -> Option<Self> {
        // SAFETY: in a program that uses NCCL the driver is loaded already; elsewhere its initialisers are the usual
        // ones of a library.
        let library = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL) }.ok()?;
        // SAFETY: the types are those of the driver's header, unchanged since CUDA 11, results aside, which C passes as
        // ints.
        let driver = unsafe {
            Self {
                context: *library.get(b"cuCtxGetCurrent\0").ok()?,
                set_context: *library.get(b"cuCtxSetCurrent\0").ok()?,
                create: *library.get(b"cuEventCreate\0").ok()?,
                record: *library.get(b"cuEventRecord\0").ok()?,
                query: *library.get(b"cuEventQuery\0").ok()?,
                is_capturing: *library.get(b"cuStreamIsCapturing\0").ok()?,
                exchange_capture_mode: *library.get(b"cuThreadExchangeStreamCaptureMode\0").ok()?,
                pool: super::marker::Pool::default(),
            }
        };
        // The functions are used until the process ends.
        std::mem::forget(library);
        Some(driver)
    }
}
