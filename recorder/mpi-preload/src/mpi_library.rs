//! The MPI library of the program, by its dynamic symbols.

#![expect(unsafe_code, reason = "dynamic symbols")]

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::abi::{Abi, AbiKind, Handles};

/// A function of the MPI library, looked up at its first use.
#[derive(Debug)]
pub(crate) struct Symbol {
    name: &'static str,
    is_plain: bool,
    address: AtomicPtr<c_void>,
}

/// Stands for a function that the library lacks.
const ABSENT: *mut c_void = ptr::without_provenance_mut(1);

impl Symbol {
    /// `name` ends with a zero.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, is_plain: false, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The plain form of a large-count function.
    pub(crate) const fn plain(name: &'static str) -> Self {
        Self { name, is_plain: true, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Where it is; null: the library has none of this name.
    pub(crate) fn address(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if known == ABSENT {
            return ptr::null_mut();
        }
        if !known.is_null() {
            return known;
        }
        let name = if self.is_plain { self.name().trim_end_matches("_c") } else { self.name() };
        let found = CString::new(name).map_or(ptr::null_mut(), |name| find(&name));
        // It is asked for only by who has an MPI library.
        self.address.store(if found.is_null() { ABSENT } else { found }, Ordering::Relaxed);
        found
    }

    /// The name without its zero.
    pub(crate) fn name(&self) -> &'static str {
        self.name.trim_end_matches('\0')
    }
}

/// Calls a function of the MPI library. Gives what it returned; `None`: the library lacks it.
///
/// The function must take these arguments.
macro_rules! pmpi {
    ($name:ident($($argument:expr => $type:ty),* $(,)?)) => {{
        static SYMBOL: $crate::mpi_library::Symbol =
            $crate::mpi_library::Symbol::new(concat!(stringify!($name), "\0"));
        let address = SYMBOL.address();
        if address.is_null() {
            None
        } else {
            // SAFETY: the symbol is the MPI function of this name, whose parameters the standard fixes; what the
            // arguments point to is alive during the call.
            unsafe {
                let function = std::mem::transmute::<
                    *mut std::ffi::c_void,
                    unsafe extern "C-unwind" fn($($type),*) -> std::ffi::c_int,
                >(address);
                Some(function($($argument),*))
            }
        }
    }};
}
pub(crate) use pmpi;

/// A symbol of the library: of what was loaded after this one, else (an interpreter loads MPI for itself alone) of any
/// loaded object whose name speaks of MPI.
fn find(name: &CStr) -> *mut c_void {
    // SAFETY: the name ends with a zero.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() {
        return next;
    }
    objects().iter().map(|object| find_in(object, name)).find(|address| !address.is_null()).unwrap_or(ptr::null_mut())
}

fn find_in(object: &CStr, name: &CStr) -> *mut c_void {
    // SAFETY: both names end with a zero. The object is loaded already, so none of its code runs; the handle is not
    // closed, and so it stays.
    unsafe {
        let handle = libc::dlopen(object.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if handle.is_null() { ptr::null_mut() } else { libc::dlsym(handle, name.as_ptr()) }
    }
}

/// Paths of loaded objects that may be, or may have loaded, an MPI library.
fn objects() -> Vec<CString> {
    unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _: usize, list: *mut c_void) -> c_int {
        // SAFETY: the loader gives a valid entry, and passes on the list that it was given below.
        let (name, list) = unsafe { ((*info).dlpi_name, &mut *list.cast::<Vec<CString>>()) };
        if !name.is_null() {
            // SAFETY: names of objects end with a zero.
            list.push(unsafe { CStr::from_ptr(name) }.to_owned());
        }
        0
    }
    let mut all: Vec<CString> = Vec::new();
    // SAFETY: the callback has the right signature, and the list outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut all).cast()) };
    let own = own_path();
    let (libraries, others): (Vec<_>, Vec<_>) = all
        .into_iter()
        .filter(|path| !path.is_empty() && Some(path) != own.as_ref())
        .filter(|path| base_name(path).contains("mpi"))
        .partition(|path| base_name(path).starts_with("libmpi"));
    libraries.into_iter().chain(others).collect()
}

fn base_name(path: &CStr) -> String {
    let path = path.to_string_lossy().to_ascii_lowercase();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

fn own_path() -> Option<CString> {
    path_of(own_path as *mut c_void)
}

/// The object that an address lies in.
fn path_of(address: *const c_void) -> Option<CString> {
    // SAFETY: the structure is plain data, filled on success; its name ends with a zero.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let known = libc::dladdr(address, &raw mut info) != 0 && !info.dli_fname.is_null();
        known.then(|| CStr::from_ptr(info.dli_fname).to_owned())
    }
}

/// The binary interface of the library that is loaded.
pub(crate) fn detect() -> Abi {
    static PROBE: Symbol = Symbol::new("PMPI_Comm_rank\0");
    if let Some(handles) = open_mpi_handles() {
        return Abi::open_mpi(handles);
    }
    let path = path_of(PROBE.address()).map(|path| base_name(&path)).unwrap_or_default();
    if path.contains("mpi_abi") { Abi::STANDARD } else { Abi::MPICH }
}

fn open_mpi_handles() -> Option<Handles> {
    let object = |name: &CStr| {
        // A program that is not position independent has a copy, which all use then: the first in the usual order.
        // SAFETY: the name ends with a zero.
        let usual = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        let address = if usual.is_null() { find(name) } else { usual };
        (!address.is_null()).then_some(address as usize)
    };
    Some(Handles {
        comm_world: object(c"ompi_mpi_comm_world")?,
        comm_null: object(c"ompi_mpi_comm_null")?,
        request_null: object(c"ompi_request_null")?,
        message_null: object(c"ompi_message_null")?,
        datatype_null: object(c"ompi_mpi_datatype_null")?,
        byte: object(c"ompi_mpi_byte")?,
    })
}

/// Name and version of the library, in one line.
pub(crate) fn version(abi: &Abi) -> String {
    let mut text = vec![0_u8; 1 << 14];
    let mut length: c_int = 0;
    let told = pmpi!(PMPI_Get_library_version(text.as_mut_ptr() => *mut u8, &raw mut length => *mut c_int));
    if told != Some(0) {
        return format!("{:?}", abi.kind);
    }
    let text = String::from_utf8_lossy(&text);
    let line = text.split(['\n', '\0', ',']).next().unwrap_or_default();
    // MPICH puts tabs and its own heading before the number.
    let words: Vec<_> = line.split_whitespace().filter(|word| *word != "Version:").collect();
    let words = words.join(" ");
    if abi.kind == AbiKind::Standard { format!("{words} (standard ABI)") } else { words }
}
