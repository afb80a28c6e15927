//! The analyser of hangscope: bytes of Flight Recorder dumps in, a verdict out.
//!
//! Purpose: read the dumps that the ranks of a hung job left behind ([`dump`]), gather them ([`shard`]), put them together ([`job`]), line the
//! collectives up ([`align`]), find out what broke ([`diagnose`]) and say it ([`report`]).
//! One direction, no way back: each module hands the next one value.
//!
//! Not here: files, clocks, threads, a DOM, `wasm_bindgen`. The same code runs natively and in a browser worker, and
//! gives the same bytes on both.
//!
//! ```
//! use hangscope_analyzer_core::{analyze, dump};
//!
//! let dump = br#"{"version": "2.10", "entries": [{
//!     "record_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 1,
//!     "profiling_name": "nccl:all_reduce", "state": "completed"}]}"#;
//! let analysis = analyze(vec![dump::read("nccl_trace_rank_0", dump)]);
//! assert_eq!(analysis.report().verdict, "no_fault");
//! ```
#![no_std]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod align;
mod analysis;
mod checksum;
pub mod diagnose;
pub mod dump;
pub mod job;
mod places;
pub mod report;
pub mod shard;
pub mod small_sort;
pub mod symbols;
pub mod tree_map;
pub mod tree_set;

pub use analysis::{Analysis, analyze, analyze_shard};
