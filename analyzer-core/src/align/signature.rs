//! What makes two entries the same call.

use crate::job::Job;
use crate::symbols::{ArgsId, FrameId, StackId, StrId};

/// What a rank called in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The operation without library and ranks.
    pub op: StrId,
    /// Sizes and dtypes.
    pub args: ArgsId,
    /// Operations and arguments inside a coalesced block: a handle into [`super::Table::inner`]; 0 for none.
    pub inner: u32,
    /// Innermost user frame; `None` without a stack.
    pub site: Option<FrameId>,
    /// The whole stack.
    pub stack: StackId,
}

impl Signature {
    /// Whether two calls come from the same place: the whole stack, or where one has none, nothing is said.
    pub fn same_stack(&self, other: &Signature) -> bool {
        self.stack == other.stack || self.site.is_none() || other.site.is_none()
    }

    /// Whether two calls come from the same line of the user's code, or one does not say.
    pub fn same_site(&self, other: &Signature) -> bool {
        self.site == other.site || self.site.is_none() || other.site.is_none()
    }

    /// Whether two calls pass equal arguments, block members included.
    pub fn same_args(&self, other: &Signature) -> bool {
        self.args == other.args && self.inner == other.inner
    }

    /// The name of the operation.
    pub fn op_name<'a>(&self, job: &'a Job) -> &'a str {
        job.symbols.strings.get(self.op)
    }
}
