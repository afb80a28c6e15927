//! Small jobs with one right answer.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop where its own set-up fails")]

mod collectives;
mod cycles;
mod data;
mod fake;
mod messages;
