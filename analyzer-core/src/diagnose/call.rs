//! A call as other ranks' calls are held against it: what must agree for the operation to finish.

use alloc::vec::Vec;

use crate::align::Table;
use crate::dump::EntryIdx;
use crate::job::{Job, RankIdx};
use crate::symbols::{ArgsId, DtypesId, FrameId, ShapesId, StackId, StrId};

/// Elements per tensor.
type Numels = Vec<i64>;

/// What a rank called in a row, reduced to what its peers must agree on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// Operation.
    pub op: StrId,
    /// Elements of the tensors that must agree; empty where the operation allows any.
    pub sizes: Numels,
    /// Dtypes that must agree.
    pub dtypes: Vec<StrId>,
    /// Contents of a coalesced block.
    pub inner: u32,
    /// Innermost user frame; `None` without a stack.
    pub site: Option<FrameId>,
    /// Whole stack.
    pub stack: StackId,
}

impl Call {
    /// The call of an entry.
    pub fn of(job: &Job, table: &Table, rank: RankIdx, entry: EntryIdx) -> Call {
        let (op, args, inner) = table.signature(job, rank, entry);
        let (sizes, dtypes) = agreeing_args(job, op, args);
        let stack = job.stack(rank, entry);
        Call { op, sizes, dtypes, inner, site: job.user_frame(stack), stack }
    }

    /// Whether two calls can meet: operation and arguments agree. The place in the code is not asked.
    pub fn fits(&self, other: &Call) -> bool {
        // What a recorder left out agrees with anything.
        let agree = |a: &[_], b: &[_]| a == b || a.is_empty() || b.is_empty();
        let ops = self.op == other.op || self.op == StrId::EMPTY || other.op == StrId::EMPTY;
        let dtypes = self.dtypes == other.dtypes || self.dtypes.is_empty() || other.dtypes.is_empty();
        ops && agree(&self.sizes, &other.sizes) && dtypes && self.inner == other.inner
    }

    /// Whether two calls fit and come from the same line of the user's code, as far as both say.
    pub fn equals(&self, other: &Call) -> bool {
        self.fits(other) && self.same_site(other)
    }

    /// Whether two calls come from the same line of the user's code, or one does not say.
    pub fn same_site(&self, other: &Call) -> bool {
        self.site == other.site || self.site.is_none() || other.site.is_none()
    }
}

/// Sizes and dtypes on which all members must agree.
///
/// Which side counts depends on the operation, and recorders differ in what they write into which field: gather and scatter
/// have a list on the root only, reduce_scatter must agree on what comes out, all_to_all on nothing but the dtype. Shapes may differ
/// where the number of elements agrees.
fn agreeing_args(job: &Job, op: StrId, args: ArgsId) -> (Numels, Vec<StrId>) {
    let args = job.symbols.args.get(args);
    let inputs = || numels(job, args.input_sizes);
    let outputs = || numels(job, args.output_sizes);
    let input_dtypes = || dtypes(job, args.input_dtypes);
    let output_dtypes = || dtypes(job, args.output_dtypes);
    let either = |first: Numels, second: &dyn Fn() -> Numels| if first.is_empty() { second() } else { first };
    match family(job.symbols.strings.get(op)) {
        Family::AllToAll => (Vec::new(), input_dtypes()),
        Family::FromOutputs => (outputs(), output_dtypes()),
        Family::FromInputs => (inputs(), input_dtypes()),
        Family::Either => (either(inputs(), &outputs), input_dtypes()),
        Family::OneTensor => {
            // The side that is one tensor on every rank; the root's list holds pieces of the same size.
            let sides = [inputs(), outputs()];
            let piece = sides.iter().flatten().copied().filter(|&numel| numel > 0).min();
            let dtype = input_dtypes().first().or(output_dtypes().first()).copied();
            (piece.into_iter().collect(), dtype.into_iter().collect())
        }
        Family::Any => (Vec::new(), Vec::new()),
    }
}

enum Family {
    /// As large on both sides, of which a recorder may fill one.
    Either,
    FromInputs,
    FromOutputs,
    OneTensor,
    AllToAll,
    Any,
}

fn family(op: &str) -> Family {
    match op {
        "all_reduce"
        | "all_reduce_sparse"
        | "sparse_all_reduce"
        | "allreduce_coalesced"
        | "reduce"
        | "_reduce_oop"
        | "broadcast"
        | "_broadcast_oop"
        | "all_reduce_barrier" => Family::Either,
        "all_gather"
        | "_all_gather_base"
        | "all_gather_single"
        | "all_gather_into_tensor_coalesced"
        | "allgather_coalesced" => Family::FromInputs,
        "reduce_scatter" | "_reduce_scatter_base" | "reduce_scatter_single" | "reduce_scatter_tensor_coalesced" => {
            Family::FromOutputs
        }
        // One tensor on each rank, a list of them on the root. Which field holds which differs between recorders.
        "gather" | "gather_single" | "scatter" => Family::OneTensor,
        _ if op.starts_with("all_to_all") => Family::AllToAll,
        // Uneven gathers may differ; of an operation that nobody knows nothing can be asked.
        _ => Family::Any,
    }
}

/// Elements of each tensor.
pub(super) fn numels(job: &Job, sizes: ShapesId) -> Numels {
    job.symbols.shape_lists.get(sizes).iter().map(|&shape| numel(job.symbols.shapes.get(shape))).collect()
}

/// Elements of a tensor of this shape; a hostile product saturates.
pub(crate) fn numel(shape: &[i64]) -> i64 {
    shape.iter().fold(1i64, |product, &extent| product.saturating_mul(extent))
}

/// Elements of all tensors together.
pub(super) fn total(job: &Job, sizes: ShapesId) -> i64 {
    numels(job, sizes).into_iter().fold(0, i64::saturating_add)
}

fn dtypes(job: &Job, list: DtypesId) -> Vec<StrId> {
    job.symbols.dtype_lists.get(list).to_vec()
}
