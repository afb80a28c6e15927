//! Types of events: the bits of the mask, and the values in descriptors.

/// Version 4: operations that are launched together. Later versions: the same, as the parent of nothing that we use.
pub(crate) const GROUP: u64 = 1;
/// A collective that was enqueued.
pub(crate) const COLL: u64 = 1 << 1;
/// A message that was enqueued.
pub(crate) const P2P: u64 = 1 << 2;
/// What one channel's part of a kernel does.
pub(crate) const KERNEL_CH: u64 = 1 << 6;
/// From the start of a group of calls to its end.
pub(crate) const GROUP_API: u64 = 1 << 8;
/// The call of a collective.
pub(crate) const COLL_API: u64 = 1 << 9;
/// The call of a message.
pub(crate) const P2P_API: u64 = 1 << 10;
/// The launch of a kernel.
pub(crate) const KERNEL_LAUNCH: u64 = 1 << 11;

/// The state of a group whose calls have all been made.
pub(crate) const GROUP_END_API_START: i32 = 24;
