//! Events of calls, from version 5: `GroupApi`, `CollApi`, `P2pApi`, `KernelLaunch`.

use std::sync::Arc;

use crate::abi::Head;
use crate::abi::words::Call;
use crate::communicator::Comm;
use crate::group::{Group, Issued};
use crate::handle::Given;
use crate::plugin::Plugin;

/// A call with what NCCL says of it beside.
#[derive(Debug)]
pub(crate) struct Issuing<'a> {
    pub head: Head,
    pub call: Call<'a>,
    pub stream: usize,
    /// It goes into a graph, which may be run later, any number of times.
    pub is_captured: bool,
}

impl Plugin {
    /// `GroupApi` begins.
    pub(crate) fn begin_group(&'static self, depth: i32) -> Given {
        Given::Group(self.groups.put(Group::new(depth > 1)))
    }

    /// `CollApi` begins: the program has asked for a collective.
    ///
    /// What goes into a graph is not recorded, as PyTorch does not: it does not run now, and when it runs nothing tells.
    pub(crate) fn call_collective(&'static self, comm: &Arc<Comm>, issuing: &Issuing<'_>) -> Option<Given> {
        if issuing.is_captured {
            return None;
        }
        let group = group_of(issuing.head);
        self.close_block(group, comm);
        let handle = self.record(comm, issuing.call.operation(comm.rank, comm.size));
        self.issue(comm, group, Issued { handle, stream: issuing.stream });
        if self.kernel_ch {
            self.tasks.open(handle, comm, None);
        }
        Some(Given::Call(handle))
    }

    /// `P2pApi` begins: the program has asked for a message, or NCCL makes messages of a collective.
    pub(crate) fn call_message(&'static self, comm: &Arc<Comm>, issuing: &Issuing<'_>) -> Option<Given> {
        if issuing.is_captured {
            return None;
        }
        let group = group_of(issuing.head);
        let operation = issuing.call.operation(comm.rank, comm.size);
        let joined = self.groups.with(group, |group| group.join(comm));
        let (operation, block) = match joined {
            Some((place, block)) => (operation.within(place), Some(block)),
            None => (operation, None),
        };
        let handle = self.record(comm, operation);
        self.issue(comm, group, Issued { handle, stream: issuing.stream });
        if self.kernel_ch {
            self.tasks.open(handle, comm, block);
        }
        Some(Given::Call(handle))
    }

    fn issue(&'static self, comm: &Arc<Comm>, group: u64, issued: Issued) {
        if self.groups.with(group, |group| group.issue(comm, issued)).is_none() && !self.kernel_ch {
            // Without its group no launch leads to it.
            self.lose_sight(comm, &[issued]);
        }
    }
}

/// The number of the group that an event belongs to; 0, which no group has, for none.
pub(crate) fn group_of(head: Head) -> u64 {
    match Given::from_word(head.parent) {
        Some(Given::Group(group)) => group,
        _ => 0,
    }
}
