//! The five functions that NCCL calls, for each version, and what passes between them and the plugin.
//!
//! Each is called from C by threads of the user's program: nothing may unwind out of it, and it never says that it
//! failed, or NCCL would drop the plugin or the communicator.

use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use hangscope_recorder::{Recorder, Settings, Source, guard, log_line};

use crate::abi::descriptor::{Coll, CollApi, Descriptor, GroupApi, KernelCh, KernelLaunch, P2p, P2pApi};
use crate::abi::words::{Call, text};
use crate::abi::{Mask, Version, event};
use crate::calls::Issuing;
use crate::communicator::Introduction;
use crate::handle::{Given, as_pointer};
use crate::nccl_version;
use crate::plugin::Plugin;
use crate::settings::{self, PluginSettings};

static PLUGIN: OnceLock<&'static Plugin> = OnceLock::new();
static MASK: Mask = Mask::new();

/// Runs what an entry does. If it fails inside, or has before, NCCL is asked for no more events.
pub(crate) fn enter(work: impl FnOnce()) -> c_int {
    if guard(work).is_none() {
        MASK.set(0);
    }
    0
}

/// Keeps the place of NCCL's mask.
pub(crate) fn keep_mask(place: *mut c_int) {
    MASK.keep(place);
}

/// The communicator is about to work.
///
/// # Safety
///
/// The pointers are NCCL's: each is null or valid for what its name says.
#[expect(unsafe_code, reason = "NCCL's pointers")]
pub(crate) unsafe fn init(
    context: *mut *mut c_void,
    mask: *mut c_int,
    name: *const c_char,
    told: (Version, u64, c_int, c_int),
) -> c_int {
    let (version, id, size, rank) = told;
    // SAFETY: NCCL gives the place for the context.
    unsafe { give(context, 0) };
    keep_mask(mask);
    enter(|| {
        // SAFETY: NCCL's name is null or a text, alive for the call.
        let name = unsafe { text(name) }.to_string_lossy().into_owned();
        let plugin = *PLUGIN.get_or_init(|| start(version));
        let (Ok(size), Ok(rank)) = (u32::try_from(size), u32::try_from(rank)) else { return };
        let context_word = plugin.init(&Introduction { version, id, name, size, rank });
        // SAFETY: as above.
        unsafe { give(context, context_word) };
        MASK.set(plugin.events(version));
    })
}

fn start(version: Version) -> &'static Plugin {
    let (settings, faults) = Settings::from_environment();
    let own = PluginSettings::from_variables(|name| std::env::var_os(name));
    let recorder = Recorder::launch(settings, Source { library: "nccl", version: nccl_version::version(version) });
    for fault in faults {
        log_line(&fault);
    }
    let plugin = Plugin::launch(recorder, &own);
    if recorder.is_on() && !plugin.sees_ends(version) {
        log_line(&format!(
            "NCCL's calls are recorded, but nothing tells when they end, so no time limit is watched: set {}=1",
            settings::KERNEL_CH
        ));
    }
    finish_at_exit();
    plugin
}

#[expect(unsafe_code, reason = "only the C library tells of the end of the program")]
fn finish_at_exit() {
    extern "C" fn finish() {
        // Not by the usual door: NCCL and its mask may be gone.
        guard(|| {
            if let Some(plugin) = PLUGIN.get() {
                plugin.follower.close();
                plugin.recorder.finish();
            }
        });
    }
    // SAFETY: the function lives in a library that is never unloaded, and unwinds nothing.
    unsafe { libc::atexit(finish) };
}

/// An event begins.
///
/// # Safety
///
/// `handle` is the place for the handle, `descriptor` null or a descriptor of this version, both alive for the call.
#[expect(unsafe_code, reason = "NCCL's pointers")]
pub(crate) unsafe fn start_event(
    context: *mut c_void,
    handle: *mut *mut c_void,
    descriptor: *const c_void,
    version: Version,
) -> c_int {
    // SAFETY: NCCL gives the place for the handle, and reads it whatever happens here.
    unsafe { give(handle, 0) };
    enter(|| {
        // SAFETY: the caller's.
        let descriptor = unsafe { Descriptor::new(descriptor, version) };
        let given = PLUGIN.get().zip(descriptor).and_then(|(plugin, descriptor)| {
            let comm = plugin.communicator(context.addr() as u64)?;
            // SAFETY: the descriptor is of this version, and alive.
            unsafe { begin(plugin, &comm, descriptor) }
        });
        if let Some(given) = given {
            // SAFETY: as above.
            unsafe { give(handle, given.to_word()) };
        }
    })
}

/// An event of a communicator begins; gives what NCCL is to hold.
///
/// # Safety
///
/// The descriptor's texts are alive.
#[expect(unsafe_code, reason = "the kind tells the layout")]
pub(crate) unsafe fn begin(
    plugin: &'static Plugin,
    comm: &std::sync::Arc<crate::communicator::Comm>,
    descriptor: Descriptor<'_>,
) -> Option<Given> {
    let head = descriptor.head();
    // SAFETY, for all arms: the layout is that of the kind, and texts are NCCL's own constants.
    match head.kind {
        event::GROUP => plugin.begin_task_group(comm),
        event::GROUP_API => {
            let fields: &GroupApi = unsafe { descriptor.fields() };
            (fields.graph_captured == 0).then(|| plugin.begin_group(fields.depth))
        }
        event::COLL_API => {
            let fields: &CollApi = unsafe { descriptor.fields() };
            let (func, datatype) = unsafe { (text(fields.func), text(fields.datatype)) };
            let call = Call { func, count: fields.count, datatype, root: fields.root };
            let is_captured = fields.graph_captured != 0;
            plugin
                .call_collective(comm, &Issuing { head, call, stream: fields.stream.expose_provenance(), is_captured })
        }
        event::P2P_API => {
            let fields: &P2pApi = unsafe { descriptor.fields() };
            let (func, datatype) = unsafe { (text(fields.func), text(fields.datatype)) };
            let call = Call { func, count: fields.count, datatype, root: -1 };
            let is_captured = fields.graph_captured != 0;
            plugin.call_message(comm, &Issuing { head, call, stream: fields.stream.expose_provenance(), is_captured })
        }
        event::KERNEL_LAUNCH => {
            let fields: &KernelLaunch = unsafe { descriptor.fields() };
            plugin.begin_launch(comm, head, fields.stream.expose_provenance())
        }
        event::COLL => {
            let fields: &Coll = unsafe { descriptor.fields() };
            let (func, datatype) = unsafe { (text(fields.func), text(fields.datatype)) };
            let call = Call { func, count: fields.count, datatype, root: fields.root };
            plugin.begin_collective(comm, head, call, fields.channels)
        }
        event::P2P => {
            let fields: &P2p = unsafe { descriptor.fields() };
            let (func, datatype) = unsafe { (text(fields.func), text(fields.datatype)) };
            let call = Call { func, count: fields.count, datatype, root: -1 };
            plugin.begin_message(comm, head, call, fields.peer, fields.channels)
        }
        event::KERNEL_CH => {
            let fields: &KernelCh = unsafe { descriptor.fields() };
            plugin.begin_channel(head, fields.channel)
        }
        // NCCL may tell of more than it was asked for.
        _ => None,
    }
}

/// An event is over.
pub(crate) fn stop_event(handle: *mut c_void) -> c_int {
    enter(|| {
        if let Some(plugin) = PLUGIN.get() {
            end(plugin, handle.addr() as u64);
        }
    })
}

pub(crate) fn end(plugin: &'static Plugin, word: u64) {
    match Given::from_word(word) {
        Some(Given::Task(handle)) => plugin.end_task(handle),
        Some(Given::Channel(handle, channel)) => plugin.end_channel(handle, channel),
        Some(Given::Group(group)) => plugin.end_group(group),
        Some(Given::Launch(launch)) => plugin.end_launch(launch),
        // That a call has returned says nothing of its end. NCCL can say it again, long after.
        Some(Given::Call(_)) | None => {}
    }
}

/// An event comes into a state.
pub(crate) fn record_state(handle: *mut c_void, state: c_int) -> c_int {
    enter(|| {
        if let Some(plugin) = PLUGIN.get() {
            change(plugin, handle.addr() as u64, state);
        }
    })
}

pub(crate) fn change(plugin: &'static Plugin, word: u64, state: c_int) {
    if let (Some(Given::Group(group)), event::GROUP_END_API_START) = (Given::from_word(word), state) {
        plugin.close_blocks(group);
    }
}

/// The communicator is no more.
pub(crate) fn finalize(context: *mut c_void) -> c_int {
    enter(|| {
        if let Some(plugin) = PLUGIN.get() {
            plugin.finalize(context.addr() as u64);
        }
    })
}

/// # Safety
///
/// The place is null, or one where a pointer can be written.
#[expect(unsafe_code, reason = "NCCL's place")]
unsafe fn give(place: *mut *mut c_void, word: u64) {
    if !place.is_null() {
        // SAFETY: the caller's.
        unsafe { place.write(as_pointer(word)) };
    }
}
