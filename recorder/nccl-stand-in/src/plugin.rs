//! Opening a profiler plugin, and calling it, by NCCL's rules.

use std::env;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::descriptor::Descriptor;

/// A version of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// NCCL 2.27.
    V4,
    /// NCCL 2.28.
    V5,
    /// NCCL 2.29 and 2.30.
    V6,
}

impl Version {
    /// By its number.
    #[must_use]
    pub fn of_number(number: &str) -> Option<Self> {
        match number {
            "4" => Some(Self::V4),
            "5" => Some(Self::V5),
            "6" => Some(Self::V6),
            _ => None,
        }
    }
}

type Init = *const c_void;
type Init4 =
    unsafe extern "C" fn(*mut *mut c_void, *mut c_int, *const c_char, u64, c_int, c_int, c_int, *const c_void) -> c_int;
type Init5 =
    unsafe extern "C" fn(*mut *mut c_void, u64, *mut c_int, *const c_char, c_int, c_int, c_int, *const c_void) -> c_int;

/// The structure of six pointers that is looked up.
#[repr(C)]
struct Table {
    name: *const c_char,
    init: Init,
    start_event: unsafe extern "C" fn(*mut c_void, *mut *mut c_void, *const c_void) -> c_int,
    stop_event: unsafe extern "C" fn(*mut c_void) -> c_int,
    record_event_state: unsafe extern "C" fn(*mut c_void, c_int, *const c_void) -> c_int,
    finalize: unsafe extern "C" fn(*mut c_void) -> c_int,
}

/// An opened plugin.
#[derive(Debug)]
pub(crate) struct Plugin {
    library: Mutex<Option<Library>>,
    table: *const Table,
    version: Version,
}

// SAFETY: the table is a constant of the library, and plugins are called from any thread.
#[expect(unsafe_code, reason = "a pointer to a constant")]
unsafe impl Send for Plugin {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "a pointer to a constant")]
unsafe impl Sync for Plugin {}

/// The events that the plugin asks for: one number for the process.
static MASK: AtomicI32 = AtomicI32::new(0);

#[expect(unsafe_code, reason = "a foreign library")]
impl Plugin {
    /// Opens what `NCCL_PROFILER_PLUGIN` names: a library by its path or name, or `NAME` for `libnccl-profiler-NAME.so`.
    /// The newest version up to `newest` that is there is taken.
    pub(crate) fn open(newest: Version) -> Option<Self> {
        let named = env::var("NCCL_PROFILER_PLUGIN").ok();
        let names = match named.as_deref() {
            Some("none") => return None,
            Some(name) => vec![name.to_owned(), format!("libnccl-profiler-{name}.so")],
            None => vec!["libnccl-profiler.so".to_owned()],
        };
        // SAFETY: loading runs the initialisers of a library that the test has built.
        let library = names.iter().find_map(|name| unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.ok())?;
        let versions = [
            (Version::V6, &b"ncclProfiler_v6\0"[..]),
            (Version::V5, b"ncclProfiler_v5\0"),
            (Version::V4, b"ncclProfiler_v4\0"),
        ];
        let (version, table) =
            versions.into_iter().skip_while(|(version, _)| *version != newest).find_map(|(version, symbol)| {
                // SAFETY: the symbol is data: a structure of six pointers.
                let table = unsafe { library.get::<*const Table>(symbol) }.ok()?;
                Some((version, *table))
            })?;
        Some(Self { library: Mutex::new(Some(library)), table, version })
    }

    /// The version that was found.
    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Whether any of these events is asked for.
    pub(crate) fn wants(&self, events: u64) -> bool {
        u64::from(MASK.load(Ordering::Relaxed).cast_unsigned()) & events != 0
    }

    /// Makes a communicator known; gives its context.
    pub(crate) fn init(&self, id: u64, name: Option<&str>, size: u32, rank: u32) -> *mut c_void {
        let name = name.and_then(|name| CString::new(name).ok());
        let name = name.as_ref().map_or(ptr::null(), |name| name.as_ptr());
        let mut context = ptr::dangling_mut();
        let (size, rank) = (size.cast_signed(), rank.cast_signed());
        // SAFETY: the structure is of the version, and so is the order of the arguments; all pointers live for the call,
        // the mask for ever.
        unsafe {
            let table = &*self.table;
            match self.version {
                Version::V4 => {
                    let init: Init4 = std::mem::transmute(table.init);
                    init(&raw mut context, MASK.as_ptr(), name, id, 1, size, rank, ptr::null());
                }
                Version::V5 | Version::V6 => {
                    let init: Init5 = std::mem::transmute(table.init);
                    init(&raw mut context, id, MASK.as_ptr(), name, 1, size, rank, ptr::null());
                }
            }
        }
        context
    }

    /// An event begins; gives the plugin's handle.
    pub(crate) fn start(&self, context: *mut c_void, descriptor: &Descriptor) -> *mut c_void {
        // Whatever was there before: a plugin has to write it.
        let mut handle = ptr::dangling_mut();
        // SAFETY: place and descriptor live for the call.
        unsafe { ((*self.table).start_event)(context, &raw mut handle, descriptor.as_pointer()) };
        handle
    }

    /// An event is over.
    pub(crate) fn stop(&self, handle: *mut c_void) {
        // SAFETY: the handle is the plugin's own, or null.
        unsafe { ((*self.table).stop_event)(handle) };
    }

    /// An event comes into a state.
    pub(crate) fn state(&self, handle: *mut c_void, state: c_int) {
        // SAFETY: as above.
        unsafe { ((*self.table).record_event_state)(handle, state, ptr::null()) };
    }

    /// A communicator is no more.
    pub(crate) fn finalize(&self, context: *mut c_void) {
        // SAFETY: the context is the plugin's own.
        unsafe { ((*self.table).finalize)(context) };
    }

    /// Closes the library, as after the last communicator.
    pub(crate) fn close(&self) {
        if let Some(library) = self.library.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // NCCL does not ask either whether it worked.
            let _ = library.close();
        }
    }
}
