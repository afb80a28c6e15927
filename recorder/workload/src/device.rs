//! Which GPUs there are.

use cudarc::driver::{CudaContext, sys};

/// How many GPUs CUDA finds; 0 without a driver.
pub(crate) fn count() -> u32 {
    if !is_driver_there() {
        return 0;
    }
    CudaContext::device_count().ok().and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
}

#[expect(unsafe_code, reason = "cudarc's own way to ask, without which it panics")]
fn is_driver_there() -> bool {
    // SAFETY: it opens the driver's library, if there is one.
    unsafe { sys::is_culib_present() }
}
