//! Jobs of real processes that hang, and what their recorders do about it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop where its own set-up fails")]

mod channel;
mod dumps;
mod faults;
mod job;
