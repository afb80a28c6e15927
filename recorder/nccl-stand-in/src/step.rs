//! NCCL's numbers, and the events of tasks.

use std::ffi::c_int;

use crate::communicator::Communicator;
use crate::descriptor::Descriptor;
use crate::plugin::{Plugin, Version};
use crate::task::{Call, Event};

/// Bits of the mask, which are the kinds of events.
pub(crate) mod bit {
    pub(crate) const GROUP: u64 = 1;
    pub(crate) const COLL: u64 = 2;
    pub(crate) const P2P: u64 = 4;
    pub(crate) const KERNEL_CH: u64 = 64;
    pub(crate) const GROUP_API: u64 = 256;
    pub(crate) const COLL_API: u64 = 512;
    pub(crate) const P2P_API: u64 = 1024;
    pub(crate) const KERNEL_LAUNCH: u64 = 2048;
    /// What a group's event is told for: NCCL starts the parent of whatever is asked for.
    pub(crate) const ABOUT_CALLS: u64 = GROUP_API | COLL_API | P2P_API | KERNEL_LAUNCH | COLL | P2P | KERNEL_CH;
}

pub(crate) const KERNEL_CH_STOP: c_int = 22;
pub(crate) const GROUP_START_API_STOP: c_int = 23;
pub(crate) const GROUP_END_API_START: c_int = 24;

/// Channels that every operation runs on.
pub(crate) const CHANNELS: u8 = 2;

/// `Coll` or `P2p` begins.
pub(crate) fn begin_task(plugin: &Plugin, comm: &Communicator, call: &Call, parent: Event, group: Event) -> Event {
    let version = plugin.version();
    let wanted = if call.function.is_message() { bit::P2P } else { bit::COLL };
    if !plugin.wants(wanted | bit::KERNEL_CH) {
        return Event::NONE;
    }
    let descriptor = Descriptor::new(version, wanted, parent.handle(), comm.rank());
    let descriptor = if call.function.is_message() {
        let filled = descriptor
            .text(24, call.function.name())
            .text(40, c"ncclFloat32")
            .word(48, call.count as u64)
            .int(56, call.peer.cast_signed())
            .byte(60, CHANNELS);
        if version == Version::V4 { filled } else { filled.pointer(64, group.handle()) }
    } else {
        let (count, datatype) = match call.function.moves_bytes() {
            true => (call.count * 4, c"ncclInt8"),
            false => (call.count, c"ncclFloat32"),
        };
        let filled = descriptor
            .word(24, comm.next_number(call.function))
            .text(32, call.function.name())
            .word(56, count as u64)
            .int(64, call.root.cast_signed())
            .text(72, datatype)
            .byte(80, CHANNELS)
            .byte(81, 16)
            .text(88, c"RING")
            .text(96, c"SIMPLE");
        if version == Version::V4 { filled } else { filled.pointer(104, group.handle()) }
    };
    Event::of(plugin.start(comm.context(), &descriptor))
}

/// Version 4: `Group` begins.
pub(crate) fn begin_group_v4(plugin: &Plugin, comm: &Communicator) -> Event {
    if !plugin.wants(bit::GROUP | bit::COLL | bit::P2P | bit::KERNEL_CH) {
        return Event::NONE;
    }
    let descriptor = Descriptor::new(plugin.version(), bit::GROUP, std::ptr::null_mut(), comm.rank());
    Event::of(plugin.start(comm.context(), &descriptor))
}
