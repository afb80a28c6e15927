//! Helpers of the reader's tests.

#![allow(dead_code, reason = "each test file uses a part of them")]

pub mod fields;
pub mod heap;
pub mod pickler;

use std::path::PathBuf;

/// A folder beside the repository that developers may have.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(name);
    path.is_dir().then_some(path)
}
