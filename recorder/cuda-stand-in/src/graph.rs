//! Graphs: what was captured, to run again.

use std::ffi::{c_int, c_void};

use crate::codes::{INVALID_HANDLE, SUCCESS};
use crate::registry::Registry;
use crate::stream::{self, HostFunction, Work};

/// What was captured.
#[derive(Debug)]
pub(crate) struct Graph {
    pub functions: Vec<HostFunction>,
}

pub(crate) static GRAPHS: Registry<Graph> = Registry::new(0x3000_0000);

/// As the driver's, but for a graph that nobody has to instantiate.
#[expect(unsafe_code, reason = "the driver's interface")]
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphLaunch(graph: *mut c_void, stream: *mut c_void) -> c_int {
    let (Some(graph), Some(stream)) = (GRAPHS.get(graph), stream::get(stream)) else { return INVALID_HANDLE };
    for function in &graph.functions {
        stream.enqueue(Work::Run(*function));
    }
    SUCCESS
}
