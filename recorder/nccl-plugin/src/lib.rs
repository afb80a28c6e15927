//! NCCL's profiler plugin: what a program asks NCCL for becomes entries of `hangscope-recorder`.
//!
//! NCCL opens the library that `NCCL_PROFILER_PLUGIN` names and calls it at each event; nothing in the program changes.
//! A call is an entry when it is made, launched when its kernel is on the stream, and over when an event on that stream is
//! reached or when all channels of its kernel say so.
//!
//! Not here: rings, dumps, time limits and talk among ranks, which are the recorder's.

#![cfg(unix)]
#![deny(missing_docs)]

mod abi;
mod block;
mod calls;
mod communicator;
mod cuda;
mod enqueued;
mod entry;
mod export;
mod follower;
mod group;
mod handle;
mod nccl_version;
mod plugin;
mod settings;
mod table;
mod task;
#[cfg(test)]
mod traps;

pub use export::{Profiler, ncclProfiler_v4, ncclProfiler_v5, ncclProfiler_v6};
