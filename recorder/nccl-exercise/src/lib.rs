//! The program that the NCCL workload runs on devices, and the stand-in for NCCL runs in the tests: the same operations in
//! the same order, with the same faults to order, so that what is tested without a device is what runs on one.

#![cfg(unix)]
#![deny(missing_docs)]

mod arguments;
mod fault;
mod job;
mod library;
mod program;
mod role;
mod step;

pub use arguments::Arguments;
pub use fault::{Fault, FaultKind};
pub use job::{Ending, Job};
pub use library::Library;
pub use program::run;
pub use role::{Role, status};
pub use step::{Issue, On, STEPS, Step};
