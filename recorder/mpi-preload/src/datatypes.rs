//! What the elements of a buffer are.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

use hangscope_recorder::DataType;

use crate::abi::Abi;
use crate::mpi_library::pmpi;

/// Remembers the predefined types that were seen. A type that the program made is asked for each time: its handle may be
/// another type's tomorrow.
#[derive(Debug)]
pub(crate) struct Datatypes {
    /// By a part of the handle: the handle in the upper 56 bits, and below the place of its name, from 1.
    seen: [AtomicU64; SLOTS],
}

const SLOTS: usize = 512;

impl Datatypes {
    pub(crate) fn new() -> Self {
        Self { seen: [const { AtomicU64::new(0) }; SLOTS] }
    }

    /// The type behind a handle. `None`: one that the program made. Two ranks may describe the same bytes by different
    /// ones, so there is nothing in them that must agree.
    pub(crate) fn get(&self, abi: &Abi, word: usize) -> Option<DataType> {
        let handle = abi.handle(word);
        if handle == abi.handles.datatype_null || handle == 0 {
            return None;
        }
        let slot = self.seen.get((handle ^ (handle >> 9)) % SLOTS)?;
        let seen = slot.load(Ordering::Relaxed);
        if seen >> 8 == handle as u64 {
            return NAMES.get((seen & 0xff) as usize).map(|(_, dtype)| *dtype).or(Some(DataType::Unknown));
        }
        if !is_predefined(handle) {
            return None;
        }
        let name = name_of(handle);
        let at = NAMES.iter().position(|(known, _)| *known == name).unwrap_or(0xff);
        slot.store((handle as u64) << 8 | at as u64, Ordering::Relaxed);
        Some(NAMES.get(at).map_or(DataType::Unknown, |(_, dtype)| *dtype))
    }
}

/// A type is predefined if nothing was needed to make it.
#[expect(unsafe_code, reason = "calls of the MPI library")]
fn is_predefined(handle: usize) -> bool {
    let mut numbers: [c_int; 4] = [0; 4];
    let [integers, addresses, types, combiner] = &mut numbers;
    let told = pmpi!(PMPI_Type_get_envelope(
        handle => usize,
        integers => *mut c_int,
        addresses => *mut c_int,
        types => *mut c_int,
        combiner => *mut c_int,
    ));
    told == Some(0) && matches!(numbers, [0, 0, 0, _])
}

#[expect(unsafe_code, reason = "calls of the MPI library")]
fn name_of(handle: usize) -> String {
    let mut name = [0_u8; 256];
    let mut length: c_int = 0;
    let told = pmpi!(PMPI_Type_get_name(
        handle => usize,
        name.as_mut_ptr() => *mut u8,
        &raw mut length => *mut c_int,
    ));
    let length = if told == Some(0) { usize::try_from(length).unwrap_or_default() } else { 0 };
    String::from_utf8_lossy(name.get(..length).unwrap_or_default()).into_owned()
}

/// Names of predefined types of which a dump has a name. Where a width depends on the compiler (Fortran's default kinds)
/// it is the usual one.
const NAMES: &[(&str, DataType)] = &[
    ("MPI_CHAR", DataType::Char),
    ("MPI_SIGNED_CHAR", DataType::Char),
    ("MPI_INT8_T", DataType::Char),
    ("MPI_INTEGER1", DataType::Char),
    ("MPI_CHARACTER", DataType::Char),
    ("MPI_BYTE", DataType::Byte),
    ("MPI_UNSIGNED_CHAR", DataType::Byte),
    ("MPI_UINT8_T", DataType::Byte),
    ("MPI_PACKED", DataType::Byte),
    ("MPI_SHORT", DataType::Short),
    ("MPI_INT16_T", DataType::Short),
    ("MPI_INTEGER2", DataType::Short),
    ("MPI_UNSIGNED_SHORT", DataType::UInt16),
    ("MPI_UINT16_T", DataType::UInt16),
    ("MPI_INT", DataType::Int),
    ("MPI_INT32_T", DataType::Int),
    ("MPI_INTEGER", DataType::Int),
    ("MPI_INTEGER4", DataType::Int),
    ("MPI_UNSIGNED", DataType::UInt32),
    ("MPI_UINT32_T", DataType::UInt32),
    ("MPI_LONG", DataType::Long),
    ("MPI_LONG_LONG", DataType::Long),
    ("MPI_LONG_LONG_INT", DataType::Long),
    ("MPI_INT64_T", DataType::Long),
    ("MPI_INTEGER8", DataType::Long),
    ("MPI_AINT", DataType::Long),
    ("MPI_OFFSET", DataType::Long),
    ("MPI_COUNT", DataType::Long),
    ("MPI_UNSIGNED_LONG", DataType::UInt64),
    ("MPI_UNSIGNED_LONG_LONG", DataType::UInt64),
    ("MPI_UINT64_T", DataType::UInt64),
    ("MPI_REAL2", DataType::Half),
    ("MPI_FLOAT", DataType::Float),
    ("MPI_REAL", DataType::Float),
    ("MPI_REAL4", DataType::Float),
    ("MPI_DOUBLE", DataType::Double),
    ("MPI_DOUBLE_PRECISION", DataType::Double),
    ("MPI_REAL8", DataType::Double),
    ("MPI_C_BOOL", DataType::Bool),
    ("MPI_CXX_BOOL", DataType::Bool),
    ("MPI_LOGICAL1", DataType::Bool),
    ("MPI_COMPLEX", DataType::ComplexFloat),
    ("MPI_COMPLEX8", DataType::ComplexFloat),
    ("MPI_C_COMPLEX", DataType::ComplexFloat),
    ("MPI_C_FLOAT_COMPLEX", DataType::ComplexFloat),
    ("MPI_CXX_FLOAT_COMPLEX", DataType::ComplexFloat),
    ("MPI_DOUBLE_COMPLEX", DataType::ComplexDouble),
    ("MPI_COMPLEX16", DataType::ComplexDouble),
    ("MPI_C_DOUBLE_COMPLEX", DataType::ComplexDouble),
    ("MPI_CXX_DOUBLE_COMPLEX", DataType::ComplexDouble),
];
