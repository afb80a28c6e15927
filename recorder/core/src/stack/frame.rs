//! A frame with its name.

use serde::Serialize;

/// One frame, as dumps have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Frame {
    /// The function; for a native one without a symbol its address.
    pub name: String,
    /// The source file, else the program or library that the code is in, else empty.
    pub filename: String,
    /// 0: not known.
    pub line: u32,
}
