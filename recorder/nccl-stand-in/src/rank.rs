//! One rank of the program, over the stand-in.

use std::env;
use std::sync::Arc;

use anyhow::{Context, ensure};
use hangscope_nccl_exercise::{Issue, Library, On, Step};

use crate::communicator::{Communicator, mix};
use crate::cuda::Cuda;
use crate::group::Group;
use crate::plugin::{Plugin, Version};
use crate::task::{Call, Function, Stream};
use crate::variable::{CUDA_VARIABLE, HUB_VARIABLE, VERSION_VARIABLE};

/// A rank with its communicators.
#[derive(Debug)]
pub struct StandIn {
    cuda: Arc<Cuda>,
    plugin: Option<Arc<Plugin>>,
    group: Group,
    stream: Stream,
    world: Communicator,
    pair: Communicator,
}

impl StandIn {
    /// Joins the job as the environment says.
    ///
    /// # Errors
    ///
    /// If a variable is not set, or a library is not there.
    pub fn join(rank: u32, size: u32) -> anyhow::Result<Self> {
        let hub = env::var(HUB_VARIABLE).context("no hub to talk to")?;
        let cuda = Arc::new(Cuda::open(&env::var_os(CUDA_VARIABLE).context("no stand-in for CUDA's driver named")?)?);
        let newest = match env::var(VERSION_VARIABLE) {
            Ok(number) => Version::of_number(&number).context("a profiler interface is 4, 5 or 6")?,
            Err(_) => Version::V6,
        };
        let plugin = Plugin::open(newest).map(Arc::new);
        let id = hub.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| mix(hash, byte.into()));
        let world = Communicator::join(&hub, plugin.as_ref(), id, None, rank, size);
        let pair = world.split(|rank| rank / 2, Some("pair"));
        let stream = cuda.stream()?;
        let group = Group::new(&cuda, plugin.as_ref());
        Ok(Self { cuda, plugin, group, stream, world, pair })
    }

    /// What a rank has to give: its own number, and one.
    fn data(comm: &Communicator, count: usize) -> Vec<f32> {
        vec![f32::from(u16::try_from(comm.rank() + 1).unwrap_or(u16::MAX)); count]
    }

    fn comm(&self, on: On) -> Communicator {
        match on {
            On::World => self.world.clone(),
            On::Pair => self.pair.clone(),
        }
    }

    fn collective(&mut self, on: On, function: Function, count: usize, elements: usize) -> anyhow::Result<()> {
        let comm = self.comm(on);
        let data = Self::data(&comm, elements);
        self.group.call(&comm, Call { function, count, root: 0, peer: 0, data, stream: self.stream })
    }

    fn exchange(&mut self, on: On, count: usize, receives: bool) -> anyhow::Result<()> {
        let comm = self.comm(on);
        let (rank, size) = (comm.rank(), comm.size());
        let call = |function, peer, data| Call { function, count, root: 0, peer, data, stream: self.stream };
        let send = call(Function::Send, (rank + 1) % size, Self::data(&comm, count));
        let receive = call(Function::Recv, (rank + size - 1) % size, Vec::new());
        self.group.start();
        self.group.call(&comm, send)?;
        if receives {
            self.group.call(&comm, receive)?;
        }
        self.group.end()
    }

    /// Sums must be what they should be: a hang is a hang, and no nonsense in between.
    fn check(comm: &Communicator) -> anyhow::Result<()> {
        let size = f32::from(u16::try_from(comm.size()).unwrap_or(u16::MAX));
        let sum = size * (size + 1.0) / 2.0;
        for (function, values) in comm.take_results() {
            let is_sum = matches!(function, Function::AllReduce | Function::ReduceScatter);
            ensure!(!is_sum || values.iter().all(|value| (value - sum).abs() < 0.5), "{function:?} gave {values:?}");
        }
        Ok(())
    }
}

impl Library for StandIn {
    fn issue(&mut self, issue: Issue) -> anyhow::Result<()> {
        let Issue { step, count, receives } = issue;
        match step {
            Step::AllReduce(on) => self.collective(on, Function::AllReduce, count, count),
            Step::AllGather(on) => self.collective(on, Function::AllGather, count, count),
            Step::ReduceScatter(on) => {
                let elements = count * self.comm(on).size() as usize;
                self.collective(on, Function::ReduceScatter, count, elements)
            }
            Step::Broadcast(on) => self.collective(on, Function::Broadcast, count, count),
            Step::Exchange(on) => self.exchange(on, count, receives),
        }
    }

    fn wait(&mut self) -> anyhow::Result<()> {
        self.cuda.synchronize(self.stream)?;
        Self::check(&self.world)?;
        Self::check(&self.pair)
    }

    fn replay(&mut self, steps: &[Step], count: usize, times: usize) -> anyhow::Result<()> {
        self.cuda.begin_capture(self.stream)?;
        for step in steps {
            self.issue(Issue { step: *step, count, receives: true })?;
        }
        let graph = self.cuda.end_capture(self.stream)?;
        for _ in 0..times {
            self.cuda.launch_graph(graph, self.stream)?;
        }
        Ok(())
    }

    fn close(&mut self) -> anyhow::Result<()> {
        self.pair.destroy();
        self.world.destroy();
        // The last communicator is gone: NCCL closes the library.
        self.group = Group::new(&self.cuda, None);
        if let Some(plugin) = self.plugin.take() {
            plugin.close();
        }
        Ok(())
    }
}
