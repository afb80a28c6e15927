//! Progress: every step is announced, and its duration told.

use std::time::Instant;

use anyhow::{Context as _, Result};

/// Runs one step of a longer piece of work.
pub(crate) fn step<T>(name: &str, run: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("==> {name}");
    let started = Instant::now();
    let result = run().with_context(|| format!("{name} failed"))?;
    eprintln!("    {name}: done in {:.1} s", started.elapsed().as_secs_f64());
    Ok(result)
}
