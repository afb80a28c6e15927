//! Finding out what broke.
//!
//! A [`Case`] holds what every rule looks at: which rows each rank still waits in, oldest first. The wait graph
//! over these rows leads from whoever waits to what they wait for; where it ends is an origin. Each rule in [`rules`]
//! recognises one kind of origin. What follows from an origin is not a finding.

mod call;
mod case;
mod clocks;
mod consistency;
mod custom;
mod disagreement;
mod doubt;
mod draft;
mod drift;
mod first_missed;
mod origin;
mod past;
mod precedent;
mod rules;
mod vote;
mod wait_cycle;
mod wait_graph;

pub use call::Call;
pub use case::{Case, Place};
pub(crate) use clocks::Clocks;
pub use draft::{Absence, Draft, DraftSide};
pub use origin::diagnose;
pub use wait_cycle::WaitStep;
