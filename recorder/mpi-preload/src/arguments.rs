//! Types of arguments, which differ between the plain and the large-count form of a function.

use std::ffi::c_int;

/// A form of the interface. Handles and addresses are words, whatever they are in C: a narrower one comes in the lower
/// half of the same register or place on the stack.
pub(crate) trait Width {
    /// A buffer, or an array that is only passed on.
    type Address;
    /// A handle by value.
    type Handle;
    /// A number of elements.
    type Count;
    /// Numbers of elements, one for each rank.
    type Counts;
    /// An `int` in either form.
    type Number;
    /// Where something is written, or handles are read.
    type Out;
}

/// `MPI_Send` and the like: counts are `int`.
#[derive(Debug)]
pub(crate) struct Plain;

/// `MPI_Send_c` and the like: counts are `MPI_Count`.
#[derive(Debug)]
pub(crate) struct Large;

impl Width for Plain {
    type Address = usize;
    type Handle = usize;
    type Count = c_int;
    type Counts = Counts<c_int>;
    type Number = c_int;
    type Out = *mut u8;
}

impl Width for Large {
    type Address = usize;
    type Handle = usize;
    type Count = i64;
    type Counts = Counts<i64>;
    type Number = c_int;
    type Out = *mut u8;
}

/// A number of elements of either width.
pub(crate) trait Elements: Copy {
    /// As a number; a negative one, which MPI refuses, is 0.
    fn elements(self) -> u64;
}

impl Elements for c_int {
    fn elements(self) -> u64 {
        u64::try_from(self).unwrap_or_default()
    }
}

impl Elements for i64 {
    fn elements(self) -> u64 {
        u64::try_from(self).unwrap_or_default()
    }
}

/// Numbers of elements, as the program passed them.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Counts<T>(*const T);

#[expect(unsafe_code, reason = "the program's memory")]
impl<T: Elements> Counts<T> {
    /// The number at this index.
    ///
    /// # Safety
    ///
    /// The array has more than `index` numbers.
    pub(crate) unsafe fn at(self, index: u32) -> u64 {
        if self.0.is_null() {
            return 0;
        }
        // SAFETY: the caller promises it.
        unsafe { self.0.add(index as usize).read() }.elements()
    }

    /// The sum of the first numbers.
    ///
    /// # Safety
    ///
    /// The array has `length` numbers.
    pub(crate) unsafe fn sum(self, length: u32) -> u64 {
        // SAFETY: the caller promises it.
        (0..length).map(|index| unsafe { self.at(index) }).fold(0, u64::saturating_add)
    }
}
