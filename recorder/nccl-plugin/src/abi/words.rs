//! NCCL's words for operations and types, and what they are in dumps.

use std::ffi::{CStr, c_char};

use hangscope_recorder::{Buffer, DataType, OpKind, Operation, Peer};

/// An operation as NCCL names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub func: &'a CStr,
    pub count: u64,
    pub datatype: &'a CStr,
    pub root: i32,
}

/// A text of NCCL's; empty if it gave none.
///
/// # Safety
///
/// The pointer is null, or leads to a text with its final zero that lives for `'a`.
#[expect(unsafe_code, reason = "NCCL passes pointers to its own constants")]
pub(crate) unsafe fn text<'a>(pointer: *const c_char) -> &'a CStr {
    // SAFETY: the caller's.
    if pointer.is_null() { c"" } else { unsafe { CStr::from_ptr(pointer) } }
}

pub(crate) fn kind(func: &CStr) -> OpKind {
    match func.to_bytes() {
        b"AllReduce" => OpKind::AllReduce,
        b"AllGather" => OpKind::AllGather,
        b"ReduceScatter" => OpKind::ReduceScatter,
        b"Broadcast" => OpKind::Broadcast,
        b"Reduce" => OpKind::Reduce,
        b"AlltoAll" => OpKind::AllToAll,
        b"Gather" => OpKind::Gather,
        b"Scatter" => OpKind::Scatter,
        b"Send" => OpKind::Send,
        b"Recv" => OpKind::Recv,
        b"PutSignal" => OpKind::PutSignal,
        b"Signal" => OpKind::Signal,
        b"WaitSignal" => OpKind::WaitSignal,
        _ => OpKind::Other,
    }
}

pub(crate) fn data_type(name: &CStr) -> DataType {
    match name.to_bytes() {
        b"ncclInt8" => DataType::Char,
        b"ncclInt32" => DataType::Int,
        b"ncclUint32" => DataType::UInt32,
        b"ncclInt64" => DataType::Long,
        b"ncclUint64" => DataType::UInt64,
        b"ncclFloat16" => DataType::Half,
        b"ncclFloat32" => DataType::Float,
        b"ncclFloat64" => DataType::Double,
        b"ncclBfloat16" => DataType::BFloat16,
        b"ncclFloat8e4m3" => DataType::Float8E4m3,
        b"ncclFloat8e5m2" => DataType::Float8E5m2,
        _ => DataType::Unknown,
    }
}

impl Call<'_> {
    /// What the call asks for, on rank `rank` of `size`. A message's peer is not known from it.
    pub(crate) fn operation(self, rank: u32, size: u32) -> Operation {
        let kind = kind(self.func);
        let dtype = data_type(self.datatype);
        let one = Buffer { count: self.count, dtype };
        // NCCL counts what one rank has, or what one peer gets.
        let all = Buffer { count: self.count.saturating_mul(size.into()), dtype };
        let is_root = u32::try_from(self.root).is_ok_and(|root| root == rank);
        let (input, output) = match kind {
            OpKind::AllGather => (Some(one), Some(all)),
            OpKind::ReduceScatter => (Some(all), Some(one)),
            OpKind::AllToAll => (Some(all), Some(all)),
            OpKind::Gather => (Some(one), is_root.then_some(all)),
            OpKind::Scatter => (is_root.then_some(all), Some(one)),
            OpKind::Signal | OpKind::WaitSignal => (None, None),
            kind if kind.is_message() => return Operation::message(kind, Peer::Unknown, one),
            _ => (Some(one), Some(one)),
        };
        Operation::collective(kind, input, output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(func: &CStr, rank: u32) -> (Option<u64>, Option<u64>) {
        let call = Call { func, count: 10, datatype: c"ncclFloat32", root: 2 };
        let operation = call.operation(rank, 4);
        (operation.input.map(|buffer| buffer.count), operation.output.map(|buffer| buffer.count))
    }

    #[test]
    fn counts_are_nccls_own_for_each_operation() {
        for (func, input, output) in [
            (c"AllReduce", 10, 10),
            (c"AllGather", 10, 40),
            (c"ReduceScatter", 40, 10),
            (c"Broadcast", 10, 10),
            (c"Reduce", 10, 10),
            (c"AlltoAll", 40, 40),
            (c"Send", 10, 10),
            (c"Recv", 10, 10),
        ] {
            assert_eq!(counts(func, 1), (Some(input), Some(output)), "{func:?}");
        }
        assert_eq!(counts(c"Gather", 1), (Some(10), None));
        assert_eq!(counts(c"Gather", 2), (Some(10), Some(40)));
        assert_eq!(counts(c"Scatter", 1), (None, Some(10)));
        assert_eq!(counts(c"Scatter", 2), (Some(40), Some(10)));
        let huge = Call { func: c"AllGather", count: u64::MAX, datatype: c"ncclFloat32", root: 0 };
        assert_eq!(huge.operation(0, 8).output.unwrap().count, u64::MAX);
    }

    #[test]
    fn words_that_nobody_knows_are_unknown() {
        assert_eq!(kind(c"AllReduceAndMore"), OpKind::Other);
        assert_eq!(data_type(c"Unknown"), DataType::Unknown);
        assert_eq!(data_type(c"ncclBfloat16"), DataType::BFloat16);
    }
}
