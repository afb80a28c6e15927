//! The recorder of a process: what the libraries talk to.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::channel::Channel;
use crate::dump::Dumper;
use crate::record::{CREATED, Record, WORDS, marks};
use crate::registry::Registry;
use crate::ring::Ring;
use crate::settings::Settings;
use crate::slot::Step;
use crate::stack;
use crate::thread::ThreadTag;
use crate::trigger::{Cause, Triggers};
use crate::{Communicator, CommunicatorInfo, Handle, Operation, Peer, clock, guard, log, watchdog};

/// The library whose operations are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What operations' names begin with: `nccl`, `mpi`.
    pub library: &'static str,
    /// The library's version, as text; it stands in dumps.
    pub version: String,
}

/// Records what a process asks its communication library for, watches that it ends, and writes dumps.
///
/// One lives as long as its process: whoever made it may be gone while its threads run.
#[derive(Debug)]
pub struct Recorder {
    pub(crate) settings: Settings,
    pub(crate) source: Source,
    pub(crate) ring: Ring<WORDS>,
    pub(crate) registry: Registry,
    pub(crate) triggers: Triggers,
    pub(crate) dumper: Mutex<Dumper>,
    pub(crate) channel: OnceLock<Channel>,
    rank: AtomicI64,
    world_size: AtomicI64,
}

impl Recorder {
    /// Starts recording. The recorder's memory is never given back.
    pub fn launch(mut settings: Settings, source: Source) -> &'static Self {
        settings.for_library(source.library);
        guard::stay_out_of_children();
        stack::prepare(settings.stacks);
        let depth = if settings.stacks.native || settings.stacks.python { stack::DEPTH } else { 0 };
        let recorder: &'static Self = Box::leak(Box::new(Self {
            ring: Ring::new(settings.buffer_size, if settings.buffer_size == 0 { 0 } else { depth }),
            registry: Registry::default(),
            triggers: Triggers::new(&settings),
            dumper: Mutex::default(),
            channel: OnceLock::new(),
            rank: AtomicI64::new(settings.rank.map_or(-1, i64::from)),
            world_size: AtomicI64::new(settings.world_size.map_or(-1, i64::from)),
            settings,
            source,
        }));
        if let Some(rank) = recorder.rank() {
            log::speak_as(rank);
        }
        if recorder.is_on() && recorder.settings.watchdog {
            watchdog::spawn(recorder);
            recorder.connect_as_configured();
        }
        recorder
    }

    /// What the environment asked for.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether anything is recorded.
    pub fn is_on(&self) -> bool {
        self.settings.buffer_size > 0
    }

    /// This process's rank in the job, if it is known.
    pub fn rank(&self) -> Option<u32> {
        u32::try_from(self.rank.load(Ordering::Relaxed)).ok()
    }

    /// The number of ranks in the job, if it is known.
    pub fn world_size(&self) -> Option<u32> {
        u32::try_from(self.world_size.load(Ordering::Relaxed)).ok()
    }

    /// Tells rank and number of ranks, where the library knows them and the environment did not say.
    pub fn tell_identity(&'static self, rank: u32, world_size: u32) {
        self.rank.store(i64::from(rank), Ordering::Relaxed);
        self.world_size.store(i64::from(world_size), Ordering::Relaxed);
        log::speak_as(rank);
        if self.is_on() && self.settings.watchdog {
            self.connect_as_configured();
        }
    }

    /// Makes a communicator. Takes a lock for a moment.
    pub fn communicator(&self, info: CommunicatorInfo) -> Arc<Communicator> {
        stack::prepare(self.settings.stacks);
        let communicator = self.registry.add(info, self.ring.tickets(), self.ring.capacity() as u64);
        if let Some(channel) = self.channel.get() {
            channel.tell_communicator(&communicator);
        }
        communicator
    }

    /// Notes that the program gave a communicator up. What was recorded of it stays.
    pub fn free(&self, communicator: &Communicator) {
        self.registry.free(communicator, self.ring.tickets());
    }

    /// Records that an operation was asked for, as `scheduled`.
    pub fn record(&self, communicator: &Communicator, operation: &Operation) -> Handle {
        if !self.is_on() {
            return Handle::NONE;
        }
        let created_ns = clock::now_ns();
        let numbers = communicator.number(operation);
        let mut frames = [0; stack::DEPTH];
        let stack_len = if self.ring.depth() == 0 { 0 } else { stack::capture(self.settings.stacks, &mut frames) };
        let record = Record {
            created_ns,
            communicator: communicator.index,
            operation: *operation,
            collective_seq: numbers.collective_seq,
            p2p_seq: numbers.p2p_seq,
            op_id: numbers.op_id,
            stack_len: u16::try_from(stack_len).unwrap_or(u16::MAX),
            thread: ThreadTag::current(),
        };
        let stack = frames.get(..stack_len).unwrap_or_default();
        self.ring.put(&record.to_words(), stack).map_or(Handle::NONE, Handle::of_ticket)
    }

    /// Notes that an operation was seen to begin.
    pub fn start(&self, handle: Handle) {
        self.step(handle, Step::Started);
    }

    /// Notes that an operation was seen to end.
    pub fn complete(&self, handle: Handle) {
        self.step(handle, Step::Completed);
    }

    /// Notes that nobody waits for an operation any more.
    pub fn retire(&self, handle: Handle) {
        self.mark(handle, marks::RETIRED, marks::WAITED);
    }

    /// Notes that an operation was handed to the device.
    pub fn launched(&self, handle: Handle) {
        self.mark(handle, marks::LAUNCHED, 0);
    }

    /// Notes that the call returned at once: what is issued after it may end before it, and the watchdog does not
    /// look at it until somebody waits.
    pub fn nonblocking(&self, handle: Handle) {
        self.mark(handle, marks::NONBLOCKING, 0);
    }

    /// Notes whether a thread waits for the end of an operation now.
    pub fn waited(&self, handle: Handle, waits: bool) {
        if waits {
            self.mark(handle, marks::WAITED, 0);
        } else {
            self.mark(handle, 0, marks::WAITED);
        }
    }

    /// Tells what was not known when an operation was recorded: its communicator, by which it gets a new number, and
    /// its peer. Whoever recorded it may do this, before it tells that it ended.
    pub fn amend(&self, handle: Handle, communicator: &Communicator, peer: Peer) {
        let Some(ticket) = handle.ticket() else { return };
        self.ring.amend(ticket, |words| {
            let mut record = Record::from_words(words);
            record.operation.peer = peer;
            if record.communicator != communicator.index {
                let numbers = communicator.number(&record.operation);
                record.communicator = communicator.index;
                record.collective_seq = numbers.collective_seq;
                record.p2p_seq = numbers.p2p_seq;
                record.op_id = numbers.op_id;
            }
            *words = record.to_words();
        });
    }

    /// Notes that all operations of a communicator before this one have ended, where the library runs them in order and
    /// told of this one alone. Looks through the whole ring: not for the recording path.
    pub fn complete_before(&self, communicator: &Communicator, handle: Handle) {
        let Some(ticket) = handle.ticket() else { return };
        let earlier: Vec<_> = self
            .snapshot()
            .entries
            .iter()
            .filter(|entry| entry.record_id < ticket && entry.communicator.index == communicator.index)
            .filter(|entry| !entry.is_over() && !entry.operation.untracked)
            .map(|entry| Handle::of_ticket(entry.record_id))
            .collect();
        for handle in earlier {
            self.complete(handle);
        }
    }

    /// Asks for a dump of this rank; the watchdog's thread writes it within a moment.
    pub fn ask_for_dump(&self) {
        self.triggers.ask(Cause::Program);
    }

    /// Notes that the program is ending as it should: writes a dump if the settings ask for one at the end, and tells
    /// the other ranks that this one has not died.
    pub fn finish(&'static self) {
        if self.settings.dump_at_exit && self.is_on() {
            self.dump(&Cause::Exit);
        }
        if let Some(channel) = self.channel.get() {
            channel.say_goodbye();
        }
    }

    pub(crate) fn dumper(&self) -> std::sync::MutexGuard<'_, Dumper> {
        self.dumper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn step(&self, handle: Handle, step: Step) {
        let Some(ticket) = handle.ticket() else { return };
        if let Some(created_ns) = self.ring.word(ticket, CREATED) {
            self.ring.set(ticket, step, clock::now_ns().saturating_sub(created_ns));
        }
    }

    fn mark(&self, handle: Handle, add: u64, remove: u64) {
        if let Some(ticket) = handle.ticket() {
            self.ring.mark(ticket, add, remove);
        }
    }
}
