//! Which NCCL has loaded the plugin.

use std::ffi::c_int;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};

use crate::abi::Version;

/// Loads nothing, only finds what is there.
const RTLD_NOLOAD: c_int = libc::RTLD_NOLOAD;

/// The version as text, for dumps. A program that has NCCL linked in and hidden shows the interface's alone.
pub(crate) fn version(interface: Version) -> String {
    match ask() {
        Some(code) if code >= 10_000 => format!("{}.{}.{}", code / 10_000, code / 100 % 100, code % 100),
        _ => format!("profiler v{}", interface.number()),
    }
}

#[expect(unsafe_code, reason = "only NCCL knows")]
fn ask() -> Option<c_int> {
    type GetVersion = unsafe extern "C" fn(*mut c_int) -> c_int;
    // SAFETY: nothing is loaded, so nothing runs: the library is there already, or the program itself.
    let library = unsafe { Library::open(Some("libnccl.so.2"), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) }
        .unwrap_or_else(|_| Library::this());
    // SAFETY: this is the function's type in every version of NCCL.
    let get: Symbol<GetVersion> = unsafe { library.get(b"ncclGetVersion\0") }.ok()?;
    let mut code = 0;
    // SAFETY: it writes one int, and needs no device.
    (unsafe { get(&raw mut code) } == 0).then_some(code)
}
