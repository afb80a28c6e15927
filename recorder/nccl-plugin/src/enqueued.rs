//! Events of what NCCL makes of calls: `Coll`, `P2p` and `KernelCh`; in version 4 they are all there is.

use std::sync::Arc;

use hangscope_recorder::{Handle, Peer};

use crate::abi::Head;
use crate::abi::words::Call;
use crate::calls::group_of;
use crate::communicator::Comm;
use crate::group::Group;
use crate::handle::Given;
use crate::plugin::Plugin;

impl Plugin {
    /// `Group` begins. Only version 4 has no other groups.
    pub(crate) fn begin_task_group(&'static self, comm: &Comm) -> Option<Given> {
        (!comm.version.has_calls()).then(|| Given::Group(self.groups.put(Group::new(false))))
    }

    /// `Coll` begins. Its count and type are those of bytes where NCCL has turned the call into bytes, and its number is
    /// the function's own: both are taken from the call where there is one.
    pub(crate) fn begin_collective(
        &'static self,
        comm: &Arc<Comm>,
        head: Head,
        call: Call<'_>,
        channels: u8,
    ) -> Option<Given> {
        let handle = if comm.version.has_calls() {
            call_of(head)?
        } else {
            self.close_block(group_of(head), comm);
            let handle = self.record(comm, call.operation(comm.rank, comm.size));
            if self.kernel_ch {
                self.tasks.open(handle, comm, None);
            }
            handle
        };
        self.tasks.expect(handle, channels);
        Some(Given::Task(handle))
    }

    /// `P2p` begins. It may be on a thread of CUDA's, so there is no look at stacks and no call of CUDA's.
    pub(crate) fn begin_message(
        &'static self,
        comm: &Arc<Comm>,
        head: Head,
        call: Call<'_>,
        peer: i32,
        channels: u8,
    ) -> Option<Given> {
        let peer = u32::try_from(peer).map_or(Peer::Unknown, Peer::Rank);
        let handle = if comm.version.has_calls() {
            let handle = call_of(head)?;
            self.recorder.amend(handle, &comm.recorded, peer);
            handle
        } else {
            let joined = self.groups.with(group_of(head), |group| group.join(comm));
            let mut operation = call.operation(comm.rank, comm.size);
            operation.peer = peer;
            let (operation, block) = match joined {
                Some((place, block)) => (operation.within(place), Some(block)),
                None => (operation, None),
            };
            let handle = self.record(comm, operation);
            if self.kernel_ch {
                self.tasks.open(handle, comm, block);
            }
            handle
        };
        self.tasks.expect(handle, channels);
        Some(Given::Task(handle))
    }

    /// `Coll` or `P2p` is over, which means that it was handed to the device.
    pub(crate) fn end_task(&'static self, handle: Handle) {
        self.recorder.launched(handle);
    }

    /// `KernelCh` begins: the operation runs.
    pub(crate) fn begin_channel(&'static self, head: Head, channel: u8) -> Option<Given> {
        let Some(Given::Task(handle)) = Given::from_word(head.parent) else { return None };
        self.tasks.start(self.recorder, handle);
        Some(Given::Channel(handle, channel))
    }

    /// `KernelCh` is over; the operation is when all its channels are.
    pub(crate) fn end_channel(&'static self, handle: Handle, channel: u8) {
        if let Some(comm) = self.tasks.stop(self.recorder, handle, channel) {
            self.follower.ended(&comm, handle);
        }
    }
}

fn call_of(head: Head) -> Option<Handle> {
    match Given::from_word(head.parent) {
        Some(Given::Call(handle)) => Some(handle),
        _ => None,
    }
}
