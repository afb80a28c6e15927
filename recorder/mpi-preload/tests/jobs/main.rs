//! Real MPI jobs, on MPICH and Open MPI, that end well or hang, and what their dumps say.
//!
//! They need `python3`, a C compiler, and the package index, from which the MPI libraries come once.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop where its own set-up fails")]

mod constants;
mod hangs;
mod healthy;
mod installation;
mod job;
mod manners;
