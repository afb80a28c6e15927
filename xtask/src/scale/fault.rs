//! What goes wrong in the job.

use std::str::FromStr;

use anyhow::{Context as _, Error, bail};

/// One rank, and what it does otherwise than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) rank: u32,
    pub(crate) kind: FaultKind,
}

/// What a rank can do otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// It leaves the operation out and goes on.
    Skip,
    /// It calls it with fewer elements.
    Shape,
    /// It calls it with another type of element.
    Dtype,
    /// It never comes to it.
    Straggler,
}

impl FromStr for Fault {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (rank, kind) = text.split_once(':').context("a fault is written RANK:KIND, `21:skip` for one")?;
        let kind = match kind {
            "skip" => FaultKind::Skip,
            "shape" => FaultKind::Shape,
            "dtype" => FaultKind::Dtype,
            "straggler" => FaultKind::Straggler,
            _ => bail!("the kinds are skip, shape, dtype and straggler"),
        };
        Ok(Self { rank: rank.parse().context("the rank is not a number")?, kind })
    }
}
