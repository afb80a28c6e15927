//! What goes in and comes out of a collective on this rank.
//!
//! Only what all ranks must agree on may be compared: buffers of types that the program made are left out, since another
//! rank may describe the same bytes otherwise, and so is what MPI does not look at on this rank.

use hangscope_recorder::{Buffer, OpKind, Operation};

use crate::arguments::{Array, Elements};
use crate::flow::Site;

/// One side of a collective, as the program passed it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<C> {
    /// The buffer, which may be `MPI_IN_PLACE`.
    pub buffer: usize,
    pub count: C,
    pub datatype: usize,
}

pub(crate) fn side<C>(buffer: usize, count: C, datatype: usize) -> Side<C> {
    Side { buffer, count, datatype }
}

impl Site {
    /// Elements of a type; `None`: of one that the program made.
    pub(crate) fn buffer(&self, count: u64, datatype: usize) -> Option<Buffer> {
        self.session.datatypes.get(&self.session.abi, datatype).map(|dtype| Buffer { count, dtype })
    }

    fn is_rank(&self, root: i32) -> bool {
        u32::try_from(root) == Ok(self.known.rank())
    }

    fn is_in_place(&self, buffer: usize) -> bool {
        buffer == self.session.abi.in_place
    }

    fn for_all(&self, part: Buffer) -> Buffer {
        Buffer { count: part.count.saturating_mul(u64::from(self.known.size())), ..part }
    }

    fn part<C: Elements>(&self, side: Side<C>) -> Option<Buffer> {
        self.buffer(side.count.elements(), side.datatype)
    }

    #[expect(unsafe_code, reason = "the program's memory")]
    fn total<T: Elements>(&self, side: Side<Array<T>>) -> Option<Buffer> {
        // SAFETY: MPI takes a count for each rank; callers ask only where it is looked at on this rank.
        self.buffer(unsafe { side.count.sum(self.known.size()) }, side.datatype)
    }

    #[expect(unsafe_code, reason = "the program's memory")]
    fn own<T: Elements>(&self, side: Side<Array<T>>) -> Option<Buffer> {
        // SAFETY: as of `total`.
        self.buffer(unsafe { side.count.at(self.known.rank()) }, side.datatype)
    }

    /// Nothing goes in or out.
    pub(crate) fn bare(&self, kind: OpKind) -> Operation {
        Operation::collective(kind, None, None)
    }

    /// As much comes out as goes in.
    pub(crate) fn same<C: Elements>(&self, kind: OpKind, count: C, datatype: usize) -> Operation {
        let buffer = self.buffer(count.elements(), datatype);
        Operation::collective(kind, buffer, buffer)
    }

    /// The same, but for the ranks that get nothing.
    pub(crate) fn to_root<C: Elements>(&self, kind: OpKind, count: C, datatype: usize, root: i32) -> Operation {
        let buffer = self.buffer(count.elements(), datatype);
        Operation::collective(kind, buffer, buffer.filter(|_| self.is_rank(root)))
    }

    /// Each rank gives a part, and gets all of them.
    pub(crate) fn gathered<C: Elements>(&self, kind: OpKind, send: Side<C>, recv: Side<C>) -> Operation {
        let given = if self.is_in_place(send.buffer) { recv } else { send };
        let part = self.part(given);
        Operation::collective(kind, part, part.map(|part| self.for_all(part)))
    }

    /// Each rank gives a part, of its own size, and gets all of them.
    pub(crate) fn gathered_v<C: Elements>(&self, kind: OpKind, send: Side<C>, recv: Side<Array<C>>) -> Operation {
        let given = if self.is_in_place(send.buffer) { self.own(recv) } else { self.part(send) };
        Operation::collective(kind, given, self.total(recv))
    }

    /// Each rank gives a part; the root gets all of them.
    pub(crate) fn gather<C: Elements>(&self, send: Side<C>, recv: Side<C>, root: i32) -> Operation {
        let is_root = self.is_rank(root);
        let given = if is_root && self.is_in_place(send.buffer) { recv } else { send };
        let part = self.part(given);
        let all = part.filter(|_| is_root).map(|part| self.for_all(part));
        Operation::collective(OpKind::Gather, part, all)
    }

    pub(crate) fn gather_v<C: Elements>(&self, send: Side<C>, recv: Side<Array<C>>, root: i32) -> Operation {
        let is_root = self.is_rank(root);
        let given = if is_root && self.is_in_place(send.buffer) { self.own(recv) } else { self.part(send) };
        let all = if is_root { self.total(recv) } else { None };
        Operation::collective(OpKind::GatherV, given, all)
    }

    /// The root gives each rank a part.
    pub(crate) fn scatter<C: Elements>(&self, send: Side<C>, recv: Side<C>, root: i32) -> Operation {
        let is_root = self.is_rank(root);
        let got = if is_root && self.is_in_place(recv.buffer) { send } else { recv };
        let part = self.part(got);
        let all = part.filter(|_| is_root).map(|part| self.for_all(part));
        Operation::collective(OpKind::Scatter, all, part)
    }

    pub(crate) fn scatter_v<C: Elements>(&self, send: Side<Array<C>>, recv: Side<C>, root: i32) -> Operation {
        let is_root = self.is_rank(root);
        let got = if is_root && self.is_in_place(recv.buffer) { self.own(send) } else { self.part(recv) };
        let all = if is_root { self.total(send) } else { None };
        Operation::collective(OpKind::ScatterV, all, got)
    }

    /// Each rank gives each a part.
    pub(crate) fn exchanged<C: Elements>(&self, send: Side<C>, recv: Side<C>) -> Operation {
        let got = self.part(recv);
        let given = if self.is_in_place(send.buffer) { got } else { self.part(send) };
        self.exchange(given.map(|part| self.for_all(part)), got.map(|part| self.for_all(part)))
    }

    pub(crate) fn exchanged_v<C: Elements>(&self, send: Side<Array<C>>, recv: Side<Array<C>>) -> Operation {
        let got = self.total(recv);
        let given = if self.is_in_place(send.buffer) { got } else { self.total(send) };
        self.exchange(given, got)
    }

    /// Readers hold the sum of what all give against the sum of what all get, which makes sense only for one type.
    fn exchange(&self, given: Option<Buffer>, got: Option<Buffer>) -> Operation {
        let both = given.zip(got).filter(|(given, got)| given.dtype == got.dtype);
        Operation::collective(OpKind::AllToAll, both.map(|(given, _)| given), both.map(|(_, got)| got))
    }

    /// Each rank gets its part of the reduction.
    pub(crate) fn scattered<C: Elements>(&self, count: C, datatype: usize) -> Operation {
        let part = self.buffer(count.elements(), datatype);
        Operation::collective(OpKind::ReduceScatter, part.map(|part| self.for_all(part)), part)
    }

    pub(crate) fn scattered_v<C: Elements>(&self, counts: Array<C>, datatype: usize) -> Operation {
        let all = side(0, counts, datatype);
        Operation::collective(OpKind::ReduceScatterV, self.total(all), self.own(all))
    }
}
