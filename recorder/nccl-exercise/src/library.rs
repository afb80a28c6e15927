//! What a communication library has to do for the program.

use crate::step::{Issue, Step};

/// One rank's way to a library. Operations go onto one stream and may be waited for later.
pub trait Library {
    /// Issues an operation.
    ///
    /// # Errors
    ///
    /// If the library says so.
    fn issue(&mut self, issue: Issue) -> anyhow::Result<()>;

    /// Waits until the stream is empty.
    ///
    /// # Errors
    ///
    /// If the library says so.
    fn wait(&mut self) -> anyhow::Result<()>;

    /// Captures operations into a graph, and runs it some times.
    ///
    /// # Errors
    ///
    /// If the library says so, or has no graphs.
    fn replay(&mut self, steps: &[Step], count: usize, times: usize) -> anyhow::Result<()>;

    /// Gives the communicators up.
    ///
    /// # Errors
    ///
    /// If the library says so.
    fn close(&mut self) -> anyhow::Result<()>;
}
