//! Ends of operations as their kernels' channels tell them.

use std::sync::Arc;

use hangscope_recorder::{Handle, Recorder};

use crate::block::MessageBlock;
use crate::communicator::Comm;
use crate::table::Table;

/// Operations whose channels are counted.
#[derive(Debug)]
pub(crate) struct Tasks(Table<Task>);

#[derive(Debug)]
struct Task {
    comm: Arc<Comm>,
    /// Channels that it runs on; 0: not told yet.
    channels: u32,
    /// Channels that have ended, a bit each; a replayed graph tells of them again.
    ended: [u64; 4],
    block: Option<Arc<MessageBlock>>,
}

/// Operations that run at the same time; far fewer do.
const PLACES: usize = 4096;

impl Tasks {
    pub(crate) fn new() -> Self {
        Self(Table::new(PLACES))
    }

    /// Begins to count for an operation, which may be in a block.
    pub(crate) fn open(&self, handle: Handle, comm: &Arc<Comm>, block: Option<Arc<MessageBlock>>) {
        if handle.is_some() {
            let task = Task { comm: Arc::clone(comm), channels: 0, ended: [0; 4], block };
            self.0.put_at(handle.to_word(), task);
        }
    }

    /// Tells on how many channels an operation runs.
    pub(crate) fn expect(&self, handle: Handle, channels: u8) {
        self.0.with(handle.to_word(), |task| task.channels = channels.into());
    }

    pub(crate) fn start(&self, recorder: &Recorder, handle: Handle) {
        recorder.start(handle);
        // It may have been given up: no launch told of it.
        recorder.waited(handle, true);
        if let Some(block) = self.0.with(handle.to_word(), |task| task.block.clone()).flatten() {
            block.start(recorder);
        }
    }

    /// Notes that a channel ended; gives the communicator if the operation has ended with it.
    pub(crate) fn stop(&self, recorder: &Recorder, handle: Handle, channel: u8) -> Option<Arc<Comm>> {
        let over = self.0.with(handle.to_word(), |task| {
            if let Some(bits) = task.ended.get_mut(usize::from(channel / 64)) {
                *bits |= 1 << (channel % 64);
            }
            let ended: u32 = task.ended.iter().map(|bits| bits.count_ones()).sum();
            task.channels > 0 && ended >= task.channels
        });
        if over != Some(true) {
            return None;
        }
        // It is taken out by one alone, who tells.
        let task = self.0.take(handle.to_word())?;
        recorder.complete(handle);
        if let Some(block) = task.block {
            block.member_ended(recorder);
        }
        Some(task.comm)
    }
}
