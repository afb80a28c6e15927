//! CUDA's events, as much of them as telling when a stream has come to a place takes.

mod driver;
mod marker;

pub(crate) use driver::Driver;
pub(crate) use marker::{Marker, Reached};
