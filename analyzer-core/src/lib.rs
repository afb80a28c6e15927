//! The analyser of hangscope: bytes of Flight Recorder dumps in, a verdict out.
//!
//! Purpose: read the dumps that the ranks of a hung job left behind ([`dump`]), put them together ([`job`]), line the
//! collectives up ([`align`]), find out what broke ([`diagnose`]) and say it ([`report`]).
//! One direction, no way back: each module hands the next one value.
//!
//! Not here: files, clocks, threads, a DOM, `wasm_bindgen`. The same code runs natively and in a browser worker, and
//! gives the same bytes on both.
//!
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

pub mod align;
mod analysis;
pub mod diagnose;
pub mod dump;
pub mod job;
pub mod report;
pub mod symbols;

pub use analysis::{Analysis, analyze};
