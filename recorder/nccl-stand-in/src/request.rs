//! What ranks ask of the hub, as lines of JSON.

use serde::{Deserialize, Serialize};

/// A collective as its caller means it. All ranks must mean the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meaning {
    pub func: String,
    pub count: usize,
    pub root: u32,
}

/// A request, which is answered when it is done, and never if it hangs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Request {
    /// The n-th collective of a communicator.
    Collective { comm: u64, number: u64, rank: u32, size: u32, meaning: Meaning, data: Vec<f32> },
    /// Messages that are issued together.
    Messages { comm: u64, rank: u32, sends: Vec<(u32, Vec<f32>)>, receives: Vec<(u32, usize)> },
}

/// The answer: one buffer for a collective, one for each receive.
pub(crate) type Answer = Vec<Vec<f32>>;
