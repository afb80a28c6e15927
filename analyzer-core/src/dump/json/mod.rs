//! JSON: streamed by serde into the same sink as pickle. No tree of values is built.

mod documents;
mod visitor;

pub(super) use documents::Documents;
pub(super) use visitor::read_document;
