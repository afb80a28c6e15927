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
    /// A number of elements, or a place, for each rank.
    type Counts;
    /// The same, which only the root passes.
    type RootCounts;
    /// The same, which only those pass that send from a buffer of its own.
    type SenderCounts;
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

macro_rules! widths {
    ($($width:ident $count:ty;)*) => {$(
        impl Width for $width {
            type Address = usize;
            type Handle = usize;
            type Count = $count;
            type Counts = Array<$count>;
            type RootCounts = Array<$count>;
            type SenderCounts = Array<$count>;
            type Number = c_int;
            type Out = *mut u8;
        }
    )*};
}

widths! {
    Plain c_int;
    Large i64;
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

/// Numbers of elements, or places, as the program passed them.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Array<T>(*const T);

impl<T> Array<T> {
    pub(crate) const NULL: Self = Self(std::ptr::null());

    pub(crate) fn of(numbers: *const T) -> Self {
        Self(numbers)
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

#[expect(unsafe_code, reason = "the program's memory")]
impl<T: Elements> Array<T> {
    /// The number at this index.
    ///
    /// # Safety
    ///
    /// The array has more than `index` numbers.
    pub(crate) unsafe fn read(self, index: usize) -> T {
        // SAFETY: the caller promises it.
        unsafe { self.0.add(index).read() }
    }

    /// The elements at this index; 0 where there is no array.
    ///
    /// # Safety
    ///
    /// As of [`Array::read`].
    pub(crate) unsafe fn at(self, index: u32) -> u64 {
        // SAFETY: the caller promises it.
        if self.0.is_null() { 0 } else { unsafe { self.read(index as usize) }.elements() }
    }

    /// The sum of the first elements.
    ///
    /// # Safety
    ///
    /// The array has `length` numbers.
    pub(crate) unsafe fn sum(self, length: u32) -> u64 {
        // SAFETY: the caller promises it.
        (0..length).map(|index| unsafe { self.at(index) }).fold(0, u64::saturating_add)
    }
}
