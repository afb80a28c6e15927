//! Pickle: a stack machine that can only make data.
//!
//! Dumps are written by PyTorch's C++ pickler (protocol 2, about 20 opcodes) and are sometimes saved again by Python (protocols 0 to
//! 5). A general unpickler builds a tree of boxed values and, in Python, calls functions that the file names. This one knows four
//! function names, which stand for plain lists, and digests each container when it is filled.

mod cursor;
mod escape;
mod fill;
mod machine;
mod memo;
mod number;
mod op;
mod partials;
mod pattern;
#[cfg(test)]
mod pattern_tests;
#[cfg(test)]
#[path = "../../../tests/dump/pickler.rs"]
mod pickler;
mod rare;

pub(super) use machine::Machine;
