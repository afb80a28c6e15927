//! A communicator of the program.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hangscope_recorder::{Communicator, CommunicatorInfo, Recorder};

use crate::channel_table::ChannelTable;

/// A communicator as it is recorded: collectives, and messages with tag 0, under itself; messages with other tags under
/// channels of their own.
#[derive(Debug)]
pub(crate) struct Known {
    pub base: Arc<Communicator>,
    pub channels: ChannelTable,
    /// How many communicators were made from it, by calls that all its members make.
    creations: AtomicU32,
    /// How many were made by their members alone, by these and the tag.
    groups: Mutex<BTreeMap<(String, c_int), u32>>,
}

impl Known {
    pub(crate) fn new(recorder: &Recorder, info: CommunicatorInfo) -> Self {
        Self {
            base: recorder.communicator(info),
            channels: ChannelTable::default(),
            creations: AtomicU32::new(0),
            groups: Mutex::default(),
        }
    }

    /// What people call it.
    pub(crate) fn spoken(&self) -> &str {
        let info = self.base.info();
        if info.description.is_empty() { &info.name } else { &info.description }
    }

    /// The caller's rank in it.
    pub(crate) fn rank(&self) -> u32 {
        self.base.info().rank
    }

    /// How many ranks it has.
    pub(crate) fn size(&self) -> u32 {
        self.base.info().size
    }

    /// Counts one more communicator that is made from it. All members count the same, since all of them make it, in the
    /// same order.
    pub(crate) fn count_creation(&self) -> u32 {
        self.creations.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts one more communicator that some members make with a tag, among themselves.
    pub(crate) fn count_group(&self, members: &str, tag: c_int) -> u32 {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let count = groups.entry((members.to_owned(), tag)).or_default();
        *count += 1;
        *count
    }

    /// Gives it up.
    pub(crate) fn free(&self, recorder: &Recorder) {
        recorder.free(&self.base);
        self.channels.for_each(|channel| recorder.free(channel));
    }
}
