//! Dumps of a made-up job of any size, in the shape in which PyTorch writes those of a real one.
//!
//! A job on a dp × tp mesh runs its training step until one rank goes astray. What the recorder would hold then is worked out
//! for each rank from the program alone ([`program`], [`hang`], [`rank`]), and written as the recorder writes it
//! ([`pickle`], [`json`]): the same fields in the same order, the same memo, stacks of thirty frames that share as real ones do.

mod arguments;
mod fault;
mod generate;
mod hang;
mod json;
mod pickle;
mod pickler;
mod program;
mod random;
mod rank;
mod stacks;
mod symbols;

pub(crate) use arguments::{Format, ScaleArguments};
pub(crate) use fault::{Fault, FaultKind};
pub(crate) use generate::generate;

#[cfg(test)]
mod tests;
