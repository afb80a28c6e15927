//! The time of day, which is what dumps hold.

use std::time::{SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970; 0 for a clock that stands before it.
pub(crate) fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
