//! The stand-in for CUDA's driver, as this library calls it.

use std::ffi::{OsStr, c_int, c_uint, c_void};
use std::ptr;

use anyhow::{Context, ensure};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// The context that this library works in.
const CONTEXT: usize = 0xc0;

type HostFunction = extern "C" fn(*mut c_void);

/// The opened library. It stays for as long as the process does.
#[derive(Debug)]
pub struct Cuda {
    set_context: unsafe extern "C" fn(*mut c_void) -> c_int,
    create: unsafe extern "C" fn(*mut *mut c_void, c_uint) -> c_int,
    launch: unsafe extern "C" fn(*mut c_void, HostFunction, *mut c_void) -> c_int,
    synchronize: unsafe extern "C" fn(*mut c_void) -> c_int,
    is_capturing: unsafe extern "C" fn(*mut c_void, *mut c_uint) -> c_int,
    begin_capture: unsafe extern "C" fn(*mut c_void, c_uint) -> c_int,
    end_capture: unsafe extern "C" fn(*mut c_void, *mut *mut c_void) -> c_int,
    launch_graph: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
}

#[expect(unsafe_code, reason = "a foreign library")]
impl Cuda {
    /// Opens it, and makes a context current for this thread.
    ///
    /// # Errors
    ///
    /// If it is not there or lacks a function.
    pub fn open(path: &OsStr) -> anyhow::Result<Self> {
        // SAFETY: it is the stand-in, whose functions have these types.
        let cuda = unsafe {
            let library = Library::open(Some(path), RTLD_NOW | RTLD_LOCAL).context("no stand-in for CUDA's driver")?;
            let cuda = Self {
                set_context: *library.get(b"cuCtxSetCurrent\0")?,
                create: *library.get(b"cuStreamCreate\0")?,
                launch: *library.get(b"cuLaunchHostFunc\0")?,
                synchronize: *library.get(b"cuStreamSynchronize\0")?,
                is_capturing: *library.get(b"cuStreamIsCapturing\0")?,
                begin_capture: *library.get(b"cuStreamBeginCapture_v2\0")?,
                end_capture: *library.get(b"cuStreamEndCapture\0")?,
                launch_graph: *library.get(b"cuGraphLaunch\0")?,
            };
            std::mem::forget(library);
            cuda
        };
        // SAFETY: any number is a context there.
        check(unsafe { (cuda.set_context)(ptr::without_provenance_mut(CONTEXT)) })?;
        Ok(cuda)
    }

    /// A new stream.
    ///
    /// # Errors
    ///
    /// If the driver says so; the same for all that follow.
    pub fn stream(&self) -> anyhow::Result<*mut c_void> {
        let mut stream = ptr::null_mut();
        // SAFETY: the answer goes into a local.
        check(unsafe { (self.create)(&raw mut stream, 0) })?;
        Ok(stream)
    }

    /// Enqueues a function, which may run several times if it gets into a graph. Its memory is never given back.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn launch(&self, stream: *mut c_void, work: impl Fn() + Send + Sync + 'static) -> anyhow::Result<()> {
        extern "C" fn call(argument: *mut c_void) {
            // SAFETY: the argument is what is leaked below.
            let work: &Box<dyn Fn() + Send + Sync> = unsafe { &*argument.cast() };
            work();
        }
        let work: Box<dyn Fn() + Send + Sync> = Box::new(work);
        let work: *mut Box<dyn Fn() + Send + Sync> = Box::leak(Box::new(work));
        // SAFETY: the function takes what it is given.
        check(unsafe { (self.launch)(stream, call, work.cast()) })
    }

    /// Waits until a stream is empty.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn synchronize(&self, stream: *mut c_void) -> anyhow::Result<()> {
        // SAFETY: the driver refuses what is no stream.
        check(unsafe { (self.synchronize)(stream) })
    }

    /// Whether a stream is being captured.
    #[must_use]
    pub fn is_capturing(&self, stream: *mut c_void) -> bool {
        let mut status = 0;
        // SAFETY: as above; the answer goes into a local.
        unsafe { (self.is_capturing)(stream, &raw mut status) };
        status != 0
    }

    /// Captures what is enqueued into a graph from now on.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn begin_capture(&self, stream: *mut c_void) -> anyhow::Result<()> {
        // SAFETY: as above.
        check(unsafe { (self.begin_capture)(stream, 0) })
    }

    /// The graph.
    ///
    /// # Errors
    ///
    /// As above, and if anybody has broken the capture.
    pub fn end_capture(&self, stream: *mut c_void) -> anyhow::Result<*mut c_void> {
        let mut graph = ptr::null_mut();
        // SAFETY: as above; the answer goes into a local.
        check(unsafe { (self.end_capture)(stream, &raw mut graph) })?;
        Ok(graph)
    }

    /// Runs a graph.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn launch_graph(&self, graph: *mut c_void, stream: *mut c_void) -> anyhow::Result<()> {
        // SAFETY: as above.
        check(unsafe { (self.launch_graph)(graph, stream) })
    }
}

fn check(code: c_int) -> anyhow::Result<()> {
    ensure!(code == 0, "the stand-in for CUDA's driver says {code}");
    Ok(())
}
