//! How ends are seen, and what is done where they are not.

use std::thread;

use hangscope_nccl_stand_in::{Cuda, Stream};
use hangscope_recorder::{Recorder, Source};

use super::nccl::*;
use crate::abi::Version;
use crate::plugin::Plugin;
use crate::settings::PluginSettings;

#[test]
fn what_nothing_tells_of_ends_with_a_later_one() {
    let nccl = nccl();
    let group = nccl.group(1);
    nccl.call(group, c"Broadcast", 8);
    nccl.stop(group);
    assert!(nccl.only().completed_ns.is_none() && nccl.only().nonblocking);
    nccl.whole(c"AllReduce");
    until("the broadcast has ended before the all_reduce", || nccl.entries()[0].completed_ns.is_some());
}

#[test]
fn channels_that_tell_without_a_launch_bring_an_operation_back_into_sight() {
    let nccl = nccl();
    let group = nccl.group(1);
    let call = nccl.call(group, c"AllReduce", 8);
    nccl.stop(group);
    assert!(nccl.only().nonblocking && !nccl.only().waited);
    let channel = nccl.channel(nccl.task(call, c"AllReduce", 1), 0);
    assert!(nccl.only().waited && nccl.only().started_ns.is_some());
    nccl.stop(channel);
    assert!(nccl.only().completed_ns.is_some());
}

#[test]
fn the_watchdog_does_not_wait_for_what_nothing_tells_of() {
    // With events, but no launch that was ever seen: whether the call is on its stream yet nobody knows.
    let nccl = nccl_with(settings(), Version::V6, true, false);
    let group = nccl.group(1);
    nccl.call(group, c"Broadcast", 8);
    nccl.stop(group);
    assert!(nccl.only().nonblocking);
    // With neither.
    let blind = nccl_with(settings(), Version::V6, false, false);
    let group = blind.group(1);
    blind.call(group, c"AllReduce", 8);
    blind.launch(group, Stream::of(std::ptr::null_mut()));
    blind.stop(group);
    assert!(blind.only().operation.untracked);
    assert!(!blind.plugin.sees_ends(Version::V6) && nccl.plugin.sees_ends(Version::V6));
    assert!(!nccl.plugin.sees_ends(Version::V4), "version 4 tells of no stream");
}

#[test]
fn operations_end_when_their_stream_has_come_to_the_event_after_them() {
    let nccl = nccl_with(settings(), Version::V6, true, false);
    let cuda = Cuda::open(cuda_library().as_os_str()).unwrap();
    let stream = cuda.stream().unwrap();
    let (go, gate) = std::sync::mpsc::channel::<()>();
    let gate = std::sync::Mutex::new(gate);
    cuda.launch(stream, move || gate.lock().unwrap().recv().unwrap()).unwrap();
    let (done, kernel) = std::sync::mpsc::channel::<()>();
    let kernel = std::sync::Mutex::new(kernel);

    let group = nccl.group(1);
    nccl.call(group, c"AllReduce", 8);
    let launch = nccl.start(&nccl.bytes(KERNEL_LAUNCH, group).pointer(24, stream.handle()));
    cuda.launch(stream, move || kernel.lock().unwrap().recv().unwrap()).unwrap();
    nccl.stop(launch);
    nccl.stop(group);
    assert!(nccl.only().launched);
    assert!(nccl.only().started_ns.is_none(), "something else is on the stream");
    go.send(()).unwrap();
    until("it has started", || nccl.only().started_ns.is_some());
    assert!(nccl.only().completed_ns.is_none());
    done.send(()).unwrap();
    until("it has ended", || nccl.only().completed_ns.is_some());
}

#[test]
fn a_way_aside_is_followed_on_the_callers_stream() {
    let nccl = nccl_with(settings(), Version::V6, true, false);
    let cuda = Cuda::open(cuda_library().as_os_str()).unwrap();
    let stream = cuda.stream().unwrap();
    let group = nccl.group(1);
    nccl.call_on(group, c"AllReduce", 8, stream);
    nccl.launch(group, stream);
    nccl.stop(group);
    let group = nccl.group(1);
    nccl.call_on(group, c"Broadcast", 8, stream);
    nccl.stop(group);
    until("both have ended", || nccl.entries().iter().all(|entry| entry.completed_ns.is_some()));
    assert!(!nccl.entries()[1].nonblocking);
}

#[test]
fn a_launch_after_the_end_of_its_group_is_followed_too() {
    let nccl = nccl_with(settings(), Version::V6, true, false);
    let cuda = Cuda::open(cuda_library().as_os_str()).unwrap();
    let stream = cuda.stream().unwrap();
    let group = nccl.group(1);
    nccl.call_on(group, c"AllReduce", 8, stream);
    nccl.stop(group);
    assert!(nccl.only().nonblocking && !nccl.only().waited);
    nccl.launch(group, stream);
    assert!(nccl.only().waited, "the watchdog looks at it again");
    until("it has ended", || nccl.only().completed_ns.is_some());
}

#[test]
fn a_captured_call_is_not_recorded_and_its_stream_is_left_alone() {
    let nccl = nccl_with(settings(), Version::V6, true, true);
    let cuda = Cuda::open(cuda_library().as_os_str()).unwrap();
    let stream = cuda.stream().unwrap();
    cuda.begin_capture(stream).unwrap();
    let group = nccl.start(&nccl.bytes(GROUP_API, 0).byte(24, 1).int(28, 1));
    let bytes = nccl.bytes(COLL_API, group).text(24, c"AllReduce").word(32, 8).text(40, c"ncclFloat32");
    let call = nccl.start(&bytes.pointer(56, stream.handle()).byte(64, 1));
    assert_eq!((group, call), (0, 0));
    nccl.launch(group, stream);
    // NCCL says that nothing is captured, and the stream is all the same: no event goes into it.
    let group = nccl.group(1);
    nccl.call_on(group, c"AllReduce", 8, stream);
    nccl.launch(group, stream);
    nccl.stop(group);
    cuda.end_capture(stream).unwrap();
    // A replay, on a thread of CUDA's: tasks come again, of calls that have no handle.
    thread::spawn(move || {
        let task = nccl.task(0, c"AllReduce", 1);
        nccl.stop(nccl.channel(task, 0));
    })
    .join()
    .unwrap();
    assert!(nccl.only().completed_ns.is_none());
}

#[test]
fn cuda_is_absent_without_harm() {
    let recorder = Recorder::launch(settings(), Source { library: "nccl", version: "test".to_owned() });
    for library in ["libcuda-that-nobody-has.so.1", "libc.so.6"] {
        let plugin = Plugin::launch(recorder, &PluginSettings { cuda_library: Some(library.into()), kernel_ch: false });
        assert!(!plugin.sees_ends(Version::V6), "{library}");
    }
}
