//! One rank of the program, over NCCL.

use std::env;
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

use anyhow::Context;
use cudarc::driver::sys::{CUgraphInstantiate_flags_enum, CUstreamCaptureMode_enum};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr};
use cudarc::nccl::result::{self, NcclError, NcclStatus};
use cudarc::nccl::sys::{self, ncclComm_t, ncclDataType_t, ncclRedOp_t};
use hangscope_nccl_exercise::{Arguments, Issue, Library, On, Step};

use crate::unique_id;

const FLOAT: ncclDataType_t = ncclDataType_t::ncclFloat32;

/// A communicator, with this rank in it.
#[derive(Debug, Clone, Copy)]
struct Comm {
    handle: ncclComm_t,
    rank: u32,
    size: u32,
}

/// A rank with its communicators and buffers.
#[derive(Debug)]
pub(crate) struct Rank {
    stream: Arc<CudaStream>,
    world: Comm,
    pair: Comm,
    input: Memory,
    output: Memory,
}

/// Memory of the device, with its address: cudarc marks the stream whenever it is asked for one, which a capture forbids.
#[derive(Debug)]
struct Memory {
    address: usize,
    _owner: CudaSlice<f32>,
}

impl Memory {
    fn new(stream: &Arc<CudaStream>, elements: usize) -> anyhow::Result<Self> {
        let owner = stream.alloc_zeros(elements)?;
        let (address, mark) = owner.device_ptr(stream);
        drop(mark);
        Ok(Self { address: usize::try_from(address)?, _owner: owner })
    }
}

#[expect(unsafe_code, reason = "NCCL's functions")]
impl Rank {
    /// Joins the job as the environment says.
    pub(crate) fn join(rank: u32, size: u32, arguments: &Arguments) -> anyhow::Result<Self> {
        let gpus = env::var("HANGSCOPE_WORKLOAD_GPUS").ok().and_then(|gpus| gpus.parse().ok()).unwrap_or(1);
        if size > gpus {
            count_as_hosts(rank);
        }
        let gpu = rank.checked_rem(gpus).unwrap_or(0) as usize;
        let context = CudaContext::new(gpu).with_context(|| format!("GPU {gpu} cannot be used"))?;
        let stream = context.new_stream()?;
        // A wrong size takes twice as many, and some operations hold the part of every rank.
        let elements = 2 * arguments.count * size as usize;
        let (input, output) = (Memory::new(&stream, elements)?, Memory::new(&stream, elements)?);
        stream.synchronize()?;

        let id = unique_id::exchange(rank)?;
        let mut handle = ptr::null_mut();
        // SAFETY: the place is a local; the id is rank 0's.
        check("ncclCommInitRank", unsafe { result::comm_init_rank(&raw mut handle, signed(size), id, signed(rank)) })?;
        let world = Comm { handle, rank, size };
        let mut handle = ptr::null_mut();
        // SAFETY: as above; without a config NCCL takes its own.
        let code = unsafe {
            sys::ncclCommSplit(world.handle, signed(rank / 2), signed(rank), &raw mut handle, ptr::null_mut())
        };
        check("ncclCommSplit", code.result())?;
        let pair = Comm { handle, rank: rank % 2, size: (size - rank / 2 * 2).min(2) };
        Ok(Self { stream, world, pair, input, output })
    }

    fn comm(&self, on: On) -> Comm {
        match on {
            On::World => self.world,
            On::Pair => self.pair,
        }
    }
}

#[expect(unsafe_code, reason = "NCCL's functions")]
impl Library for Rank {
    fn issue(&mut self, issue: Issue) -> anyhow::Result<()> {
        let Issue { step, count, receives } = issue;
        let (Step::AllReduce(on)
        | Step::AllGather(on)
        | Step::ReduceScatter(on)
        | Step::Broadcast(on)
        | Step::Exchange(on)) = step;
        let Comm { handle, rank, size } = self.comm(on);
        let stream = self.stream.cu_stream().cast();
        let input = ptr::with_exposed_provenance(self.input.address);
        let output = ptr::with_exposed_provenance_mut(self.output.address);
        // SAFETY, for all: the communicator lives; both buffers hold twice the count for every rank, and live until the
        // stream is empty, since they are dropped after it was waited for.
        match step {
            Step::AllReduce(_) => check("ncclAllReduce", unsafe {
                result::all_reduce(input, output, count, FLOAT, ncclRedOp_t::ncclSum, handle, stream)
            }),
            Step::AllGather(_) => {
                check("ncclAllGather", unsafe { result::all_gather(input, output, count, FLOAT, handle, stream) })
            }
            Step::ReduceScatter(_) => check("ncclReduceScatter", unsafe {
                result::reduce_scatter(input, output, count, FLOAT, ncclRedOp_t::ncclSum, handle, stream)
            }),
            Step::Broadcast(_) => {
                check("ncclBroadcast", unsafe { result::broadcast(input, output, count, FLOAT, 0, handle, stream) })
            }
            Step::Exchange(_) => {
                let (next, before) = (signed((rank + 1) % size), signed((rank + size - 1) % size));
                check("ncclGroupStart", result::group_start())?;
                check("ncclSend", unsafe { result::send(input, count, FLOAT, next, handle, stream) })?;
                if receives {
                    check("ncclRecv", unsafe { result::recv(output, count, FLOAT, before, handle, stream) })?;
                }
                check("ncclGroupEnd", result::group_end())
            }
        }
    }

    fn wait(&mut self) -> anyhow::Result<()> {
        self.stream.synchronize().context("the stream failed")
    }

    fn replay(&mut self, steps: &[Step], count: usize, times: usize) -> anyhow::Result<()> {
        self.stream.begin_capture(CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_GLOBAL)?;
        for step in steps {
            self.issue(Issue { step: *step, count, receives: true })?;
        }
        let flags = CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let graph = self.stream.end_capture(flags)?.context("nothing was captured")?;
        for _ in 0..times {
            graph.launch()?;
        }
        self.wait()
    }

    fn close(&mut self) -> anyhow::Result<()> {
        for comm in [self.pair, self.world] {
            // SAFETY: nobody uses it from here on.
            check("ncclCommDestroy", unsafe { result::comm_destroy(comm.handle) })?;
        }
        Ok(())
    }
}

/// NCCL refuses two ranks on one GPU of one host, so that each has to be a host of its own, unless the environment says
/// otherwise.
#[expect(unsafe_code, reason = "NCCL reads the environment")]
fn count_as_hosts(rank: u32) {
    if ["NCCL_HOSTID", "NCCL_MULTI_RANK_GPU_ENABLE"].iter().all(|name| env::var_os(name).is_none()) {
        // SAFETY: the process has no other thread yet.
        unsafe { env::set_var("NCCL_HOSTID", format!("hangscope-{rank}")) };
    }
}

fn signed(number: u32) -> c_int {
    number.cast_signed()
}

fn check(function: &str, result: Result<NcclStatus, NcclError>) -> anyhow::Result<()> {
    result.map(|_| ()).map_err(|error| anyhow::anyhow!("{function}: {:?}", error.0))
}
