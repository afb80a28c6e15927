//! Versions of the profiler interface.

/// A version of NCCL's profiler interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V4,
    V5,
    V6,
}

impl Version {
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::V4 => 4,
            Self::V5 => 5,
            Self::V6 => 6,
        }
    }

    /// Whether calls are events of their own; before, only what they become is.
    pub(crate) fn has_calls(self) -> bool {
        self != Self::V4
    }
}
