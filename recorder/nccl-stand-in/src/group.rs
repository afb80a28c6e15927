//! Groups of calls: a thread's state between `ncclGroupStart` and `ncclGroupEnd`.

use std::sync::Arc;

use crate::communicator::Communicator;
use crate::cuda::Cuda;
use crate::descriptor::Descriptor;
use crate::kernel::Kernel;
use crate::plugin::{Plugin, Version};
use crate::step::{GROUP_END_API_START, GROUP_START_API_STOP, bit};
use crate::task::{Call, Event, Task};

/// A thread's way to call.
#[derive(Debug)]
pub(crate) struct Group {
    cuda: Arc<Cuda>,
    plugin: Option<Arc<Plugin>>,
    depth: i32,
    event: Option<Event>,
    /// The last call's event. NCCL does not forget it when it gets no new one.
    last_api: Event,
    tasks: Vec<(Communicator, Task)>,
}

impl Group {
    /// For a thread.
    pub(crate) fn new(cuda: &Arc<Cuda>, plugin: Option<&Arc<Plugin>>) -> Self {
        Self {
            cuda: Arc::clone(cuda),
            plugin: plugin.cloned(),
            depth: 0,
            event: None,
            last_api: Event::NONE,
            tasks: Vec::new(),
        }
    }

    /// `ncclGroupStart`.
    pub(crate) fn start(&mut self) {
        self.depth += 1;
    }

    /// `ncclGroupEnd`.
    ///
    /// # Errors
    ///
    /// If the driver says so; the same for all that follow.
    pub(crate) fn end(&mut self) -> anyhow::Result<()> {
        self.depth -= 1;
        if self.depth == 0 { self.launch() } else { Ok(()) }
    }

    /// A function of NCCL's.
    ///
    /// # Errors
    ///
    /// As above.
    pub(crate) fn call(&mut self, comm: &Communicator, call: Call) -> anyhow::Result<()> {
        self.depth += 1;
        if comm.size() == 1 || call.count == 0 {
            // One rank has nothing to do but to copy, and nothing is nothing: no event tells of either.
            comm.put_result(call.function, call.data);
        } else {
            let is_captured = self.cuda.is_capturing(call.stream);
            let api = self.tell_call(comm, &call, is_captured);
            self.tasks.push((comm.clone(), Task { call, api }));
        }
        self.end()
    }

    /// The plugin, if it has events for calls.
    fn calls_plugin(&self) -> Option<Arc<Plugin>> {
        self.plugin.clone().filter(|plugin| plugin.version() != Version::V4)
    }

    fn tell_call(&mut self, comm: &Communicator, call: &Call, is_captured: bool) -> Event {
        let Some(plugin) = self.calls_plugin() else { return Event::NONE };
        let version = plugin.version();
        if self.event.is_none() && plugin.wants(bit::ABOUT_CALLS) {
            let descriptor = Descriptor::new(version, bit::GROUP_API, std::ptr::null_mut(), 0)
                .byte(24, is_captured.into())
                .int(28, self.depth);
            let event = plugin.start(comm.context(), &descriptor);
            self.event = Some(Event::of(event));
            plugin.state(event, GROUP_START_API_STOP);
        }
        let (own, wanted) = if call.function.is_message() {
            (bit::P2P_API, bit::P2P_API | bit::P2P | bit::KERNEL_CH)
        } else {
            (bit::COLL_API, bit::COLL_API | bit::COLL | bit::KERNEL_CH)
        };
        if plugin.wants(wanted) {
            let parent = self.event.unwrap_or(Event::NONE).handle();
            let head = Descriptor::new(version, own, parent, 0)
                .text(24, call.function.name())
                .word(32, call.count as u64)
                .text(40, c"ncclFloat32");
            let descriptor = if call.function.is_message() {
                head.pointer(48, call.stream.handle()).byte(56, is_captured.into())
            } else {
                head.int(48, call.root.cast_signed()).pointer(56, call.stream.handle()).byte(64, is_captured.into())
            };
            self.last_api = Event::of(plugin.start(comm.context(), &descriptor));
        }
        plugin.stop(self.last_api.handle());
        self.last_api
    }

    /// The end of the outermost group: everything is launched.
    fn launch(&mut self) -> anyhow::Result<()> {
        let group = self.event.take();
        if let (Some(plugin), Some(group)) = (&self.plugin, group) {
            plugin.state(group.handle(), GROUP_END_API_START);
        }
        let mut tasks = std::mem::take(&mut self.tasks);
        while let Some((comm, _)) = tasks.first() {
            let comm = comm.clone();
            let own: Vec<Task> = tasks.extract_if(.., |(other, _)| other.is(&comm)).map(|(_, task)| task).collect();
            self.launch_one(&comm, own, group.unwrap_or(Event::NONE))?;
        }
        if let (Some(plugin), Some(group)) = (&self.plugin, group) {
            plugin.stop(group.handle());
        }
        Ok(())
    }

    fn launch_one(&self, comm: &Communicator, tasks: Vec<Task>, group: Event) -> anyhow::Result<()> {
        let Some(stream) = tasks.last().map(|task| task.call.stream) else { return Ok(()) };
        let is_captured = self.cuda.is_capturing(stream);
        let kernel = Arc::new(Kernel::new(comm.clone(), self.plugin.clone(), tasks, group, is_captured));
        let launch = {
            let kernel = Arc::clone(&kernel);
            move || self.cuda.launch(stream, move || kernel.run())
        };
        let Some(plugin) = &self.plugin else { return launch() };
        let has_launches = plugin.version() != Version::V4 && !kernel.is_aside();
        let event = (plugin.wants(bit::KERNEL_LAUNCH) && has_launches).then(|| {
            let descriptor =
                Descriptor::new(plugin.version(), bit::KERNEL_LAUNCH, group.handle(), 0).pointer(24, stream.handle());
            plugin.start(comm.context(), &descriptor)
        });
        launch()?;
        if let Some(event) = event {
            plugin.stop(event);
        }
        if !is_captured {
            kernel.tell_tasks();
        }
        Ok(())
    }
}
