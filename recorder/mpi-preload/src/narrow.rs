//! Large-count calls on a library that has none.
//!
//! A program may ask, while it is loaded, whether the large-count functions are there, and use them if they are; with
//! this library before it they always are. So a call that the MPI library lacks goes to its plain form, with the counts
//! as `int`. One that does not fit is refused, as no such library could have taken it.

#![expect(unsafe_code, reason = "the program's memory, and calls of the MPI library")]

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::sync::Arc;

use crate::arguments::Array;
use crate::mpi_library::pmpi;
use crate::{group, session};

/// Arrays that the library reads until the operation has ended: they are there to be there.
#[derive(Debug, Clone)]
pub(crate) struct Arrays(#[expect(dead_code, reason = "the library reads them")] Arc<Vec<Box<[c_int]>>>);

/// Those of one operation, if it has any.
pub(crate) type KeptArrays = Option<Arrays>;

/// What narrowing the arguments of one call takes.
#[derive(Debug, Default)]
pub(crate) struct Narrowing {
    /// The communicator; `None`: the call has no arrays.
    communicator: Option<usize>,
    root: Option<c_int>,
    /// The first argument: the send buffer, if there is one.
    first: usize,
    arrays: RefCell<Vec<Box<[c_int]>>>,
    failed: Cell<bool>,
}

impl Narrowing {
    /// Of a call on a communicator.
    pub(crate) fn on(communicator: usize, root: Option<c_int>, first: usize) -> Self {
        Self { communicator: Some(communicator), root, first, ..Self::default() }
    }

    /// Whether an argument did not fit.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.get()
    }

    /// The arrays that were made.
    pub(crate) fn keep(&self) -> KeptArrays {
        let arrays = self.arrays.take();
        (!arrays.is_empty()).then(|| Arrays(Arc::new(arrays)))
    }

    /// How many numbers an array has: one for each rank that the call speaks to.
    fn length(&self) -> usize {
        let Some(communicator) = self.communicator else { return 0 };
        let mut size: c_int = 0;
        let told = if group::is_intercommunicator(communicator) {
            pmpi!(PMPI_Comm_remote_size(communicator => usize, &raw mut size => *mut c_int))
        } else {
            pmpi!(PMPI_Comm_size(communicator => usize, &raw mut size => *mut c_int))
        };
        if told == Some(0) { usize::try_from(size).unwrap_or_default() } else { 0 }
    }

    /// Whether this rank is the root, as which alone it passes some arrays.
    fn is_root(&self) -> bool {
        let Some((communicator, root)) = self.communicator.zip(self.root) else { return false };
        let is_own = group::rank_and_size(communicator).is_some_and(|(rank, _)| u32::try_from(root) == Ok(rank));
        if group::is_intercommunicator(communicator) {
            // Of the ranks of the root's side only the root itself has a negative number that is not `MPI_PROC_NULL`.
            root < 0 && session::abi().is_some_and(|abi| root != abi.proc_null)
        } else {
            is_own
        }
    }

    fn is_in_place(&self) -> bool {
        session::abi().is_some_and(|abi| self.first == abi.in_place)
    }

    fn narrowed(&self, array: Array<i64>) -> Array<c_int> {
        if array.is_null() {
            return Array::NULL;
        }
        // SAFETY: the program's array has a number for each rank, and is looked at on this rank.
        let numbers = (0..self.length()).map(|index| unsafe { array.read(index) });
        let narrow: Box<[c_int]> = numbers.map(|number| self.number(number)).collect();
        let address = Array::of(narrow.as_ptr());
        self.arrays.borrow_mut().push(narrow);
        address
    }

    fn number(&self, number: i64) -> c_int {
        c_int::try_from(number).unwrap_or_else(|_| {
            self.failed.set(true);
            0
        })
    }
}

/// How an argument of a type becomes one of the plain form; the names are those of the types in signatures.
pub(crate) trait Narrow {
    type Plain;
    fn narrow(self, role: Role, narrowing: &Narrowing) -> Self::Plain;
}

/// On which ranks MPI looks at an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// On all; or the argument is no array.
    All,
    /// On the root.
    Root,
    /// On all that pass a send buffer.
    Sender,
}

macro_rules! unchanged {
    ($($type:ty)*) => {$(
        impl Narrow for $type {
            type Plain = Self;
            fn narrow(self, _: Role, _: &Narrowing) -> Self {
                self
            }
        }
    )*};
}

unchanged! { usize c_int *mut u8 Array<c_int> }

impl Narrow for i64 {
    type Plain = c_int;
    fn narrow(self, _: Role, narrowing: &Narrowing) -> c_int {
        narrowing.number(self)
    }
}

impl Narrow for Array<i64> {
    type Plain = Array<c_int>;
    fn narrow(self, role: Role, narrowing: &Narrowing) -> Array<c_int> {
        let is_read = match role {
            Role::All => true,
            Role::Root => narrowing.is_root(),
            Role::Sender => !narrowing.is_in_place(),
        };
        if is_read { narrowing.narrowed(self) } else { Array::NULL }
    }
}

/// The role of an argument, by the name of its type.
macro_rules! role {
    (RootCounts) => {
        $crate::narrow::Role::Root
    };
    (SenderCounts) => {
        $crate::narrow::Role::Sender
    };
    ($type:ident) => {
        $crate::narrow::Role::All
    };
}
pub(crate) use role;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_does_not_fit_is_refused() {
        let narrowing = Narrowing::default();
        assert_eq!(5_i64.narrow(Role::All, &narrowing), 5);
        assert!(!narrowing.has_failed());
        (1_i64 << 31).narrow(Role::All, &narrowing);
        assert!(narrowing.has_failed());
    }
}
