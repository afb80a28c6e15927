//! Preloaded into a program that uses MPI (`LD_PRELOAD`), records its operations, so that a hang leaves Flight Recorder
//! dumps. It stands before the MPI library's public functions and calls the library's `PMPI_` ones, which the standard
//! promises for such tools.
//!
//! It knows no `mpi.h`: the binary interfaces of MPICH, of Open MPI and of the MPI standard differ, and which one the
//! program has is found out when it runs ([`Abi`]).
//!
//! Nothing happens before `MPI_Init` and after `MPI_Finalize`. What the MPI library calls within a call of the program is
//! not recorded. Calls that are not wrapped go past it, so one-sided operations, files and intercommunicators are left
//! alone.

#![cfg(unix)]
#![deny(missing_docs)]

mod abi;
mod arguments;
mod call_depth;
mod channel_table;
mod collectives;
mod communicator_table;
mod completion;
mod completions;
mod creations;
mod datatypes;
mod exchange;
mod flow;
mod group;
mod handle_map;
mod known;
mod lifecycle;
mod line;
mod messages;
mod mpi_library;
mod narrow;
mod persistent;
mod probes;
mod request_table;
mod session;
mod shape;
mod status;
mod tracked;
mod wait_all;
mod wrap;

pub use abi::{Abi, AbiKind, Handles};
