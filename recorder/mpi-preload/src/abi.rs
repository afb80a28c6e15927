//! What differs between the binary interfaces of MPI libraries: widths, layouts and constants, from their `mpi.h`.

use std::ffi::c_int;

/// Which binary interface a program was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbiKind {
    /// MPICH's, which Intel MPI, MVAPICH and Cray MPICH share: handles are `int`.
    Mpich,
    /// Open MPI's: handles point to objects of the library.
    OpenMpi,
    /// That of the MPI standard from 5.0 on: handles are pointers, and predefined ones small numbers.
    Standard,
}

/// A binary interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abi {
    /// Which one it is.
    pub kind: AbiKind,
    /// Bytes of a handle in memory.
    pub handle_bytes: usize,
    /// Bytes of an `MPI_Status`.
    pub status_bytes: usize,
    /// Where its `MPI_SOURCE` is.
    pub source_at: usize,
    /// Where its `MPI_TAG` is.
    pub tag_at: usize,
    /// Where its `MPI_ERROR` is.
    pub error_at: usize,
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    pub status_ignore: usize,
    /// `MPI_IN_PLACE`.
    pub in_place: usize,
    /// `MPI_ANY_SOURCE`.
    pub any_source: c_int,
    /// `MPI_ANY_TAG`.
    pub any_tag: c_int,
    /// `MPI_PROC_NULL`.
    pub proc_null: c_int,
    /// `MPI_UNDEFINED`.
    pub undefined: c_int,
    /// `MPI_ERR_IN_STATUS`.
    pub err_in_status: c_int,
    /// `MPI_ERR_PENDING`.
    pub err_pending: c_int,
    /// Handles that every program has.
    pub handles: Handles,
}

/// Predefined handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handles {
    /// `MPI_COMM_WORLD`.
    pub comm_world: usize,
    /// `MPI_COMM_NULL`.
    pub comm_null: usize,
    /// `MPI_REQUEST_NULL`.
    pub request_null: usize,
    /// `MPI_MESSAGE_NULL`.
    pub message_null: usize,
    /// `MPI_DATATYPE_NULL`.
    pub datatype_null: usize,
    /// `MPI_BYTE`.
    pub byte: usize,
}

impl Abi {
    /// MPICH's.
    pub const MPICH: Self = Self {
        kind: AbiKind::Mpich,
        handle_bytes: 4,
        status_bytes: 20,
        source_at: 8,
        tag_at: 12,
        error_at: 16,
        status_ignore: 1,
        in_place: usize::MAX,
        any_source: -2,
        any_tag: -1,
        proc_null: -1,
        undefined: -32766,
        err_in_status: 17,
        err_pending: 18,
        handles: Handles {
            comm_world: 0x4400_0000,
            comm_null: 0x0400_0000,
            request_null: 0x2c00_0000,
            message_null: 0x2c00_0000,
            datatype_null: 0x0c00_0000,
            byte: 0x4c00_010d,
        },
    };

    /// The standard's.
    pub const STANDARD: Self = Self {
        kind: AbiKind::Standard,
        handle_bytes: 8,
        status_bytes: 32,
        source_at: 0,
        tag_at: 4,
        error_at: 8,
        status_ignore: 0,
        in_place: 1,
        any_source: -1,
        any_tag: -2,
        proc_null: -3,
        undefined: -32766,
        err_in_status: 19,
        err_pending: 18,
        handles: Handles {
            comm_world: 0x101,
            comm_null: 0x100,
            request_null: 0x180,
            message_null: 0x128,
            datatype_null: 0x200,
            byte: 0x247,
        },
    };

    /// Open MPI's, with the addresses of its predefined objects.
    #[must_use]
    pub const fn open_mpi(handles: Handles) -> Self {
        Self {
            kind: AbiKind::OpenMpi,
            handle_bytes: 8,
            status_bytes: 24,
            source_at: 0,
            tag_at: 4,
            error_at: 8,
            status_ignore: 0,
            in_place: 1,
            any_source: -1,
            any_tag: -1,
            proc_null: -2,
            undefined: -32766,
            err_in_status: 18,
            err_pending: 19,
            handles,
        }
    }

    /// A handle as it came in a register or on the stack, where the upper half of an `int` is anything.
    #[must_use]
    pub fn handle(&self, word: usize) -> usize {
        if self.handle_bytes == 4 { word & 0xffff_ffff } else { word }
    }

    /// Reads handle number `index` of an array.
    ///
    /// # Safety
    ///
    /// `handles` points to more than `index` handles of this interface.
    #[expect(unsafe_code, reason = "the program's memory")]
    pub(crate) unsafe fn read_handle(&self, handles: *const u8, index: usize) -> usize {
        if self.handle_bytes == 4 {
            // SAFETY: the caller promises it; C aligns the array.
            unsafe { handles.cast::<u32>().add(index).read() as usize }
        } else {
            // SAFETY: as above.
            unsafe { handles.cast::<usize>().add(index).read() }
        }
    }
}
