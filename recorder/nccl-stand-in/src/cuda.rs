//! The stand-in for CUDA's driver, as this library calls it.

use std::ffi::{OsStr, c_int, c_uint, c_void};
use std::ptr;

use crate::task::Stream;
use anyhow::{Context, ensure};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// The context that this library works in.
const CONTEXT: usize = 0xc0;

type HostFunction = extern "C" fn(*mut c_void);

/// What a host function does.
struct Work(Box<dyn Fn() + Send + Sync>);

/// A graph, by the driver's handle.
#[derive(Debug, Clone, Copy)]
pub struct Graph(usize);

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
    pub fn stream(&self) -> anyhow::Result<Stream> {
        let mut stream = ptr::null_mut();
        // SAFETY: the answer goes into a local.
        check(unsafe { (self.create)(&raw mut stream, 0) })?;
        Ok(Stream::of(stream))
    }

    /// Enqueues a function, which may run several times if it gets into a graph. Its memory is never given back.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn launch(&self, stream: Stream, work: impl Fn() + Send + Sync + 'static) -> anyhow::Result<()> {
        extern "C" fn call(argument: *mut c_void) {
            // SAFETY: the argument is what is leaked below.
            let work: &Work = unsafe { &*argument.cast() };
            (work.0)();
        }
        let work: *mut Work = Box::leak(Box::new(Work(Box::new(work))));
        // SAFETY: the function takes what it is given.
        check(unsafe { (self.launch)(stream.handle(), call, work.cast()) })
    }

    /// Waits until a stream is empty.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn synchronize(&self, stream: Stream) -> anyhow::Result<()> {
        // SAFETY: the driver refuses what is no stream.
        check(unsafe { (self.synchronize)(stream.handle()) })
    }

    /// Whether a stream is being captured.
    #[must_use]
    pub fn is_capturing(&self, stream: Stream) -> bool {
        let mut status = 0;
        // SAFETY: as above; the answer goes into a local.
        unsafe { (self.is_capturing)(stream.handle(), &raw mut status) };
        status != 0
    }

    /// Captures what is enqueued into a graph from now on.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn begin_capture(&self, stream: Stream) -> anyhow::Result<()> {
        // SAFETY: as above.
        check(unsafe { (self.begin_capture)(stream.handle(), 0) })
    }

    /// The graph.
    ///
    /// # Errors
    ///
    /// As above, and if anybody has broken the capture.
    pub fn end_capture(&self, stream: Stream) -> anyhow::Result<Graph> {
        let mut graph = ptr::null_mut();
        // SAFETY: as above; the answer goes into a local.
        check(unsafe { (self.end_capture)(stream.handle(), &raw mut graph) })?;
        Ok(Graph(graph.expose_provenance()))
    }

    /// Runs a graph.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn launch_graph(&self, graph: Graph, stream: Stream) -> anyhow::Result<()> {
        // SAFETY: as above.
        check(unsafe { (self.launch_graph)(ptr::with_exposed_provenance_mut(graph.0), stream.handle()) })
    }
}

fn check(code: c_int) -> anyhow::Result<()> {
    ensure!(code == 0, "the stand-in for CUDA's driver says {code}");
    Ok(())
}
