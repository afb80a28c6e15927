//! Jobs that tempt an analyser to blame an innocent rank, or to raise an alarm where nothing is wrong.
//!
//! Each test says what happened in the job, what tempts, and why the answer it asks for is the only right one. Where
//! the evidence leaves room, several answers are right; blaming somebody who did nothing wrong never is.

#![expect(clippy::unwrap_used, reason = "the builder of jobs is part of the tests")]

mod aborts;
mod answer;
mod arguments;
mod backends;
mod clocks;
mod job;
mod messages;
mod pickle;
mod sites;
mod snapshots;
mod start_events;
mod votes;
mod waits;
mod windows;
