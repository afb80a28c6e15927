//! The command, run as a user runs it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop where its own set-up fails")]

mod common;
mod manners;
mod packs;
mod record;
mod scenarios;
