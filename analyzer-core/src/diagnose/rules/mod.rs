//! One file per rule: what it recognises, and what it says about it.

pub(super) mod arguments;
pub(super) mod behind;
pub(super) mod block;
pub(super) mod cycle;
pub(super) mod divergence;
pub(super) mod joined;
pub(super) mod launch_order;
pub(super) mod message;
pub(super) mod missing_rank;
pub(super) mod no_dump;
pub(super) mod splits;

mod habit;
mod host;
mod latecomer;
mod words;
