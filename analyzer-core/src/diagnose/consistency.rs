//! Whether a call fits its own group: an output that gathers from all must be as large as all inputs together.

use super::call::total;
use crate::job::Job;
use crate::symbols::{ArgsId, ShapesId, StrId};

/// Whether input and output of a call fit the size of the group; `None` where the operation or the dump does not tell.
///
/// The library checks this when the call is made, so a call that does not fit was made on a group of another size or recorded wrongly.
pub(super) fn fits_group(job: &Job, op: StrId, args: ArgsId, size: usize) -> Option<bool> {
    let args = job.symbols.args.get(args);
    if args.input_sizes == ShapesId::default() || args.output_sizes == ShapesId::default() {
        return None;
    }
    let (input, output) = (total(job, args.input_sizes), total(job, args.output_sizes));
    let size = i64::try_from(size).ok()?;
    match job.symbols.strings.get(op) {
        "all_gather" | "_all_gather_base" | "all_gather_single" | "all_gather_into_tensor_coalesced" => {
            Some(input.checked_mul(size)? == output)
        }
        "reduce_scatter" | "_reduce_scatter_base" | "reduce_scatter_single" | "reduce_scatter_tensor_coalesced" => {
            Some(output.checked_mul(size)? == input)
        }
        _ => None,
    }
}
