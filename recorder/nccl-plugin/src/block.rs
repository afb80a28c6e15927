//! Messages that are issued together, and the entry that stands for the end of all of them.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hangscope_recorder::{Handle, Recorder};

/// A block of messages, shared by those who see its members end.
#[derive(Debug, Default)]
pub(crate) struct MessageBlock {
    members: AtomicUsize,
    ended: AtomicUsize,
    /// The word of the closing entry; 0 before it is recorded.
    end: AtomicU64,
}

impl MessageBlock {
    /// Takes one more message in; gives how many were there before.
    pub(crate) fn join(&self) -> usize {
        self.members.fetch_add(1, Ordering::AcqRel)
    }

    pub(crate) fn members(&self) -> usize {
        self.members.load(Ordering::Acquire)
    }

    /// Tells which entry closes it. No more messages join.
    pub(crate) fn close(&self, recorder: &Recorder, end: Handle) {
        self.end.store(end.to_word(), Ordering::Release);
        self.complete_if_over(recorder);
    }

    /// Notes that one of its messages began.
    pub(crate) fn start(&self, recorder: &Recorder) {
        let end = Handle::from_word(self.end.load(Ordering::Acquire));
        recorder.start(end);
        recorder.waited(end, true);
    }

    /// Notes that one of its messages ended.
    pub(crate) fn member_ended(&self, recorder: &Recorder) {
        self.ended.fetch_add(1, Ordering::AcqRel);
        self.complete_if_over(recorder);
    }

    fn complete_if_over(&self, recorder: &Recorder) {
        // Before it is closed the handle is none, which completes nothing.
        if self.ended.load(Ordering::Acquire) == self.members() {
            recorder.complete(Handle::from_word(self.end.load(Ordering::Acquire)));
        }
    }
}
