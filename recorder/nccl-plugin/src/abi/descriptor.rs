//! Layouts of what NCCL passes to `startEvent`. Only the fields that are used have names.
//!
//! Version 4 passes 104 bytes, versions 5 and 6 pass 112. All share the head; the kind in it has one byte in version 4
//! and eight later.

use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

use super::Version;

/// What all descriptors begin with, whatever the version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub kind: u64,
    /// The handle that the plugin gave for the parent.
    pub parent: u64,
}

#[repr(C)]
struct HeadV4 {
    kind: u8,
    parent: *mut c_void,
    rank: c_int,
}

#[repr(C)]
struct HeadV5 {
    kind: u64,
    parent: *mut c_void,
    rank: c_int,
}

/// Bytes of the head, which the events' own fields follow.
type HeadBytes = std::mem::MaybeUninit<[u64; 3]>;

/// `Coll` in version 4; versions 5 and 6 add the group at the end.
#[repr(C)]
pub(crate) struct Coll {
    head: HeadBytes,
    sequence: u64,
    pub func: *const c_char,
    send_buffer: *const c_void,
    receive_buffer: *mut c_void,
    pub count: u64,
    pub root: c_int,
    pub datatype: *const c_char,
    pub channels: u8,
    warps: u8,
    algorithm: *const c_char,
    protocol: *const c_char,
}

/// `P2p` in version 4; versions 5 and 6 add the group at the end.
#[repr(C)]
pub(crate) struct P2p {
    head: HeadBytes,
    pub func: *const c_char,
    buffer: *mut c_void,
    pub datatype: *const c_char,
    pub count: u64,
    pub peer: c_int,
    pub channels: u8,
}

/// `KernelCh`.
#[repr(C)]
pub(crate) struct KernelCh {
    head: HeadBytes,
    pub channel: u8,
    timer: u64,
}

/// `GroupApi`, from version 5.
#[repr(C)]
pub(crate) struct GroupApi {
    head: HeadBytes,
    /// C's bool, which is not trusted to be one.
    pub graph_captured: u8,
    /// 1 where the caller opened no group himself.
    pub depth: c_int,
}

/// `CollApi`, from version 5.
#[repr(C)]
pub(crate) struct CollApi {
    head: HeadBytes,
    pub func: *const c_char,
    pub count: u64,
    pub datatype: *const c_char,
    pub root: c_int,
    pub stream: *mut c_void,
    pub graph_captured: u8,
}

/// `P2pApi`, from version 5. It does not tell the peer.
#[repr(C)]
pub(crate) struct P2pApi {
    head: HeadBytes,
    pub func: *const c_char,
    pub count: u64,
    pub datatype: *const c_char,
    pub stream: *mut c_void,
    pub graph_captured: u8,
}

/// `KernelLaunch`, from version 5.
#[repr(C)]
pub(crate) struct KernelLaunch {
    head: HeadBytes,
    pub stream: *mut c_void,
}

macro_rules! offsets {
    ($($layout:ident { $($field:ident: $offset:literal),* $(,)? })*) => {
        $($(const _: () = assert!(offset_of!($layout, $field) == $offset);)*)*
    };
}

offsets! {
    HeadV4 { kind: 0, parent: 8, rank: 16 }
    HeadV5 { kind: 0, parent: 8, rank: 16 }
    Coll {
        sequence: 24, func: 32, send_buffer: 40, receive_buffer: 48, count: 56, root: 64, datatype: 72, channels: 80,
        warps: 81, algorithm: 88, protocol: 96,
    }
    P2p { func: 24, buffer: 32, datatype: 40, count: 48, peer: 56, channels: 60 }
    KernelCh { channel: 24, timer: 32 }
    GroupApi { graph_captured: 24, depth: 28 }
    CollApi { func: 24, count: 32, datatype: 40, root: 48, stream: 56, graph_captured: 64 }
    P2pApi { func: 24, count: 32, datatype: 40, stream: 48, graph_captured: 56 }
    KernelLaunch { stream: 24 }
}

/// Bytes of a descriptor.
const SIZE_V4: usize = 104;
const SIZE_V5: usize = 112;
const _: () = assert!(size_of::<HeadV4>() == 24 && size_of::<HeadV5>() == 24 && size_of::<HeadBytes>() == 24);
const _: () = assert!(size_of::<Coll>() == SIZE_V4 && size_of::<P2p>() <= SIZE_V4 && size_of::<KernelCh>() <= SIZE_V4);
const _: () = assert!(size_of::<GroupApi>() <= SIZE_V5 && size_of::<CollApi>() <= SIZE_V5);
const _: () = assert!(size_of::<P2pApi>() <= SIZE_V5 && size_of::<KernelLaunch>() <= SIZE_V5);

/// A descriptor that NCCL passed, alive for one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descriptor<'a> {
    bytes: *const c_void,
    version: Version,
    call: std::marker::PhantomData<&'a ()>,
}

#[expect(unsafe_code, reason = "NCCL passes a pointer to its own structure")]
impl<'a> Descriptor<'a> {
    /// # Safety
    ///
    /// `bytes` is null, or points to a descriptor of this version that NCCL filled and leaves alone for `'a`; texts in it
    /// are null or end with a zero.
    pub(crate) unsafe fn new(bytes: *const c_void, version: Version) -> Option<Self> {
        (!bytes.is_null()).then_some(Self { bytes, version, call: std::marker::PhantomData })
    }

    pub(crate) fn head(self) -> Head {
        // SAFETY: `new` says that there is a descriptor, and all have a head of their version.
        unsafe {
            match self.version {
                Version::V4 => {
                    let head = &*self.bytes.cast::<HeadV4>();
                    Head { kind: head.kind.into(), parent: head.parent.addr() as u64 }
                }
                Version::V5 | Version::V6 => {
                    let head = &*self.bytes.cast::<HeadV5>();
                    Head { kind: head.kind, parent: head.parent.addr() as u64 }
                }
            }
        }
    }

    /// The fields of one kind of event; the kind in the head must be this one.
    ///
    /// # Safety
    ///
    /// `T` is the layout that belongs to the head's kind.
    pub(crate) unsafe fn fields<T>(self) -> &'a T {
        // SAFETY: the descriptor is at least as long as each layout, which is asserted above; NCCL clears it before it
        // fills it, so every field has a value, and every value is valid for fields that are integers and pointers.
        unsafe { &*self.bytes.cast::<T>() }
    }
}
