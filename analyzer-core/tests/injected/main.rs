//! Jobs on a mesh that run until an injected fault stops them: whoever is blamed did it.
//!
//! More cases by hand: `PROPTEST_CASES=100000 cargo test --release -p hangscope-analyzer-core --test injected`

#![allow(clippy::unwrap_used, reason = "a test may stop where its own set-up fails")]

mod dump;
mod fault;
mod found;
mod mesh;
mod op;
mod plan;
mod properties;
mod simulator;
mod verdict;
