//! A stand-in for CUDA's driver, for tests alone. Streams are threads that run host functions one after the other; events,
//! capture into graphs and contexts follow the driver's rules as far as the plugin can break them:
//!
//! * an event that is recorded into a stream under capture breaks the capture;
//! * a question about an event breaks every capture, unless the asking thread has relaxed its mode;
//! * an event belongs to the context that was current when it was made, and nothing works without a current one.
//!
//! Names, arguments and codes are the driver's own.

#![cfg(unix)]
#![deny(missing_docs)]

mod codes;
mod context;
mod event;
mod graph;
mod registry;
mod stream;

pub use context::{cuCtxGetCurrent, cuCtxSetCurrent, cuThreadExchangeStreamCaptureMode};
pub use event::{cuEventCreate, cuEventQuery, cuEventRecord};
pub use graph::cuGraphLaunch;
pub use stream::{
    cuLaunchHostFunc, cuStreamBeginCapture_v2, cuStreamCreate, cuStreamEndCapture, cuStreamIsCapturing,
    cuStreamSynchronize,
};
