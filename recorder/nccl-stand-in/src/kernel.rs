//! What a launch puts onto a stream: it talks to the hub, and tells of its channels.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::communicator::Communicator;
use crate::descriptor::Descriptor;
use crate::hub;
use crate::plugin::{Plugin, Version};
use crate::request::{Meaning, Request};
use crate::step::{self, CHANNELS, KERNEL_CH_STOP, bit};
use crate::task::{Event, Function, Task};

/// The tasks of one communicator that were launched together.
#[derive(Debug)]
pub(crate) struct Kernel {
    comm: Communicator,
    plugin: Option<Arc<Plugin>>,
    tasks: Vec<Task>,
    is_captured: bool,
    group: Event,
    /// Events of the tasks. The channels begin after they are told of.
    events: Mutex<Option<Vec<Event>>>,
    told: Condvar,
}

impl Kernel {
    pub(crate) fn new(
        comm: Communicator,
        plugin: Option<Arc<Plugin>>,
        tasks: Vec<Task>,
        group: Event,
        is_captured: bool,
    ) -> Self {
        let events = (is_captured || plugin.is_none()).then(Vec::new);
        Self { comm, plugin, tasks, is_captured, group, events: Mutex::new(events), told: Condvar::new() }
    }

    /// Whether it goes another way than the usual, on which nothing but the call is told of: broadcasts of NCCL 2.29 on.
    pub(crate) fn is_aside(&self) -> bool {
        let is_new = self.plugin.as_ref().is_some_and(|plugin| plugin.version() == Version::V6);
        is_new && self.tasks.iter().all(|task| task.call.function == Function::Broadcast)
    }

    /// Tells of the tasks, and that they are enqueued.
    pub(crate) fn tell_tasks(&self) {
        let events = self.begin_tasks();
        *self.events.lock().unwrap_or_else(PoisonError::into_inner) = Some(events);
        self.told.notify_all();
    }

    fn begin_tasks(&self) -> Vec<Event> {
        let Some(plugin) = self.plugin.as_ref().filter(|_| !self.is_aside()) else { return Vec::new() };
        let is_v4 = plugin.version() == Version::V4;
        // Version 4 has a group of what is launched together, and no other parent.
        let group = if is_v4 { step::begin_group_v4(plugin, &self.comm) } else { self.group };
        let parent = |task: &Task| if is_v4 { group } else { task.api };
        let begin = |task: &Task| step::begin_task(plugin, &self.comm, &task.call, parent(task), group);
        let events: Vec<Event> = self.tasks.iter().map(begin).collect();
        for event in &events {
            plugin.stop(event.handle());
        }
        if is_v4 {
            plugin.stop(group.handle());
        }
        events
    }

    /// On the stream.
    pub(crate) fn run(&self) {
        let events = if self.is_captured {
            // Replays tell of tasks anew, if anybody wants to see their channels.
            let wanted = self.plugin.as_ref().is_some_and(|plugin| plugin.wants(bit::KERNEL_CH));
            if wanted { self.begin_tasks() } else { Vec::new() }
        } else {
            let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            let told = self.told.wait_while(events, |events| events.is_none());
            told.unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
        };
        let event = |at: usize| events.get(at).copied().unwrap_or(Event::NONE);
        let is_message = |task: &Task| task.call.function.is_message();
        for (at, task) in self.tasks.iter().enumerate().filter(|(_, task)| !is_message(task)) {
            self.with_channels(&[event(at)], || self.run_collective(task));
        }
        let messages: Vec<(usize, &Task)> =
            self.tasks.iter().enumerate().filter(|(_, task)| is_message(task)).collect();
        if !messages.is_empty() {
            let events: Vec<Event> = messages.iter().map(|(at, _)| event(*at)).collect();
            self.with_channels(&events, || self.run_messages(messages.iter().map(|(_, task)| *task)));
        }
    }

    /// As NCCL's proxy sees it: all channels begin, and end when the work is done.
    fn with_channels(&self, tasks: &[Event], work: impl FnOnce()) {
        let plugin = self.plugin.as_ref().filter(|plugin| plugin.wants(bit::KERNEL_CH) && !self.is_aside());
        let begin = |plugin: &Arc<Plugin>| -> Vec<Event> {
            let channels = tasks.iter().flat_map(|task| (0..CHANNELS).map(move |channel| (task, channel)));
            channels
                .map(|(task, channel)| {
                    let descriptor = Descriptor::new(plugin.version(), bit::KERNEL_CH, task.handle(), self.comm.rank())
                        .byte(24, channel)
                        .word(32, 1_000);
                    Event::of(plugin.start(self.comm.context(), &descriptor))
                })
                .collect()
        };
        let channels = plugin.map(begin).unwrap_or_default();
        work();
        if let Some(plugin) = plugin {
            for channel in channels {
                plugin.state(channel.handle(), KERNEL_CH_STOP);
                plugin.stop(channel.handle());
            }
        }
    }

    fn run_collective(&self, task: &Task) {
        let call = &task.call;
        let request = Request::Collective {
            comm: self.comm.id(),
            number: self.comm.next_executed(),
            rank: self.comm.rank(),
            size: self.comm.size(),
            meaning: Meaning {
                func: call.function.name().to_string_lossy().into_owned(),
                count: call.count,
                root: call.root,
            },
            data: call.data.clone(),
        };
        let mut answer = hub::ask(self.comm.hub(), &request);
        self.comm.put_result(call.function, answer.pop().unwrap_or_default());
    }

    fn run_messages<'a>(&self, tasks: impl Iterator<Item = &'a Task>) {
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for Task { call, .. } in tasks {
            match call.function {
                Function::Send => sends.push((call.peer, call.data.clone())),
                _ => receives.push((call.peer, call.count)),
            }
        }
        let request = Request::Messages { comm: self.comm.id(), rank: self.comm.rank(), sends, receives };
        for result in hub::ask(self.comm.hub(), &request) {
            self.comm.put_result(Function::Recv, result);
        }
    }
}
