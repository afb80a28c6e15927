//! Calls, and what they are to NCCL.

use std::ffi::{CStr, c_void};

/// A function of NCCL's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    /// `ncclAllReduce`
    AllReduce,
    /// `ncclAllGather`
    AllGather,
    /// `ncclReduceScatter`
    ReduceScatter,
    /// `ncclBroadcast`
    Broadcast,
    /// `ncclSend`
    Send,
    /// `ncclRecv`
    Recv,
}

impl Function {
    /// NCCL's word for it.
    pub(crate) fn name(self) -> &'static CStr {
        match self {
            Self::AllReduce => c"AllReduce",
            Self::AllGather => c"AllGather",
            Self::ReduceScatter => c"ReduceScatter",
            Self::Broadcast => c"Broadcast",
            Self::Send => c"Send",
            Self::Recv => c"Recv",
        }
    }

    pub(crate) fn is_message(self) -> bool {
        matches!(self, Self::Send | Self::Recv)
    }

    /// Whether NCCL moves bytes for it, whatever the type.
    pub(crate) fn moves_bytes(self) -> bool {
        matches!(self, Self::AllGather | Self::Broadcast)
    }
}

/// One call. All elements are 32-bit floats.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Which function.
    pub function: Function,
    /// NCCL's count: elements of one rank, for a `ReduceScatter` those of its result.
    pub count: usize,
    /// The root, where there is one.
    pub root: u32,
    /// The other rank of a message.
    pub peer: u32,
    /// What is sent.
    pub data: Vec<f32>,
    /// The stream.
    pub stream: Stream,
}

/// A handle of a stream, which may go from thread to thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream(pub(crate) usize);

impl Stream {
    /// Of the driver's handle.
    #[must_use]
    pub fn of(handle: *mut c_void) -> Self {
        Self(handle.expose_provenance())
    }

    /// The driver's handle.
    #[must_use]
    pub fn handle(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

/// A handle of the plugin's, which may go from thread to thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event(usize);

impl Event {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn of(handle: *mut c_void) -> Self {
        Self(handle.addr())
    }

    pub(crate) fn handle(self) -> *mut c_void {
        std::ptr::without_provenance_mut(self.0)
    }
}

/// A call that waits for the end of its group.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub call: Call,
    /// The event of the call.
    pub api: Event,
}
