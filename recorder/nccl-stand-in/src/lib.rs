//! A stand-in for NCCL, for tests alone. It moves host memory over sockets, opens profiler plugins as NCCL does, and tells
//! them of its events in NCCL's order, in the layouts of versions 4, 5 and 6. It hangs as NCCL does: a collective ends when
//! all ranks have come with the same call, a send when its receive has come.
//!
//! The layouts here are written down a second time, as numbers, so that a mistake in the plugin's is noticed.

#![cfg(unix)]
#![deny(missing_docs)]

mod communicator;
mod cuda;
mod descriptor;
mod group;
mod hub;
mod kernel;
mod plugin;
mod rank;
mod request;
mod step;
mod task;
mod variable;

pub use cuda::{Cuda, Graph};
pub use descriptor::Descriptor;
pub use hub::Hub;
pub use plugin::Version;
pub use rank::StandIn;
pub use task::Stream;
pub use variable::{CUDA_VARIABLE, HUB_VARIABLE, VERSION_VARIABLE};
