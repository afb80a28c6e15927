//! The traps of NCCL's profiler interface, each with its test. Descriptors are bytes, by the offsets that the stand-in
//! for NCCL has on its own.
//!
//! | trap | test |
//! | --- | --- |
//! | 1. one rank, or nothing to move: no events | `one_rank_has_a_communicator_and_no_operations` |
//! | 2. NCCL's numbers are each function's own | `numbers_are_the_recorders_own` |
//! | 3. a task's count is in bytes | `counts_and_types_are_the_calls` |
//! | 4. counts mean something else for each function | `abi::words::tests::counts_are_nccls_own_for_each_operation` |
//! | 5. collectives that become messages; peers that come late | `a_collective_that_becomes_messages_is_a_block`, `a_group_of_messages_is_a_block` |
//! | 6. operations without a launch or a channel | `what_nothing_tells_of_ends_with_a_later_one`, `the_watchdog_does_not_wait_for_what_nothing_tells_of`, `a_way_aside_is_followed_on_the_callers_stream` |
//! | 7. no reduction operator, no shapes | `a_dump_has_one_dimension_and_no_operator` |
//! | 8. CUDA graphs | `a_captured_call_is_not_recorded_and_its_stream_is_left_alone`, and `graphs_are_left_alone` of the stand-in's tests |
//! | 9. events of channels cost time | `channels_are_asked_for_on_request_alone`, `settings::tests::channels_are_watched_on_request_alone` |
//! | 10. events of proxies | `proxies_are_never_asked_for_nor_looked_at` |
//! | 11. handles that are null, old, or told twice | `handles_that_lead_nowhere_do_nothing`, `a_late_end_changes_nothing_of_what_took_the_place`, `handle::tests` |
//! | 12. many threads at once | `many_threads_record_at_once` |
//! | 13. panics | `a_panic_stays_inside_and_switches_events_off` |
//! | 14. the id is the same on all ranks, the rank is the communicator's | `the_id_names_a_communicator_on_all_ranks`, and the stand-in's tests of verdicts |
//! | 15. the name may be null | `a_communicator_without_a_name_has_its_id` |

#![expect(unsafe_code, reason = "descriptors as NCCL passes them")]

use std::ffi::{CStr, OsString, c_int, c_void};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, process, thread};

use hangscope_nccl_stand_in::{Cuda, Descriptor as Bytes, Stream, Version as Told};
use hangscope_recorder::{Recorder, Settings, SnapshotEntry, Source};

use crate::abi::Version;
use crate::abi::descriptor::Descriptor;
use crate::communicator::{Comm, Introduction};
use crate::entry;
use crate::handle::as_pointer;
use crate::plugin::Plugin;
use crate::settings::PluginSettings;

/// Kinds of events, by the facts.
const GROUP: u64 = 1;
const COLL: u64 = 2;
const P2P: u64 = 4;
const PROXY_OP: u64 = 8;
const KERNEL_CH: u64 = 64;
const GROUP_API: u64 = 256;
const COLL_API: u64 = 512;
const P2P_API: u64 = 1024;
const KERNEL_LAUNCH: u64 = 2048;

/// A plugin with one communicator, as NCCL would talk to it.
#[derive(Clone, Copy)]
struct Nccl {
    plugin: &'static Plugin,
    version: Version,
    context: u64,
}

fn cuda_library() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().join("libcuda_stand_in.so")
}

fn settings() -> Settings {
    Settings { rank: Some(1), world_size: Some(4), watchdog: false, buffer_size: 512, ..Settings::default() }
}

fn told(version: Version) -> Introduction {
    Introduction { version, id: 0xabc, name: String::new(), size: 4, rank: 1 }
}

fn nccl_with(settings: Settings, version: Version, cuda: bool, kernel_ch: bool) -> Nccl {
    let recorder = Recorder::launch(settings, Source { library: "nccl", version: "test".to_owned() });
    let cuda_library = cuda.then(|| OsString::from(cuda_library()));
    let plugin = Plugin::launch(recorder, &PluginSettings { cuda_library, kernel_ch });
    Nccl { plugin, version, context: plugin.init(&told(version)) }
}

/// With channels and without CUDA.
fn nccl() -> Nccl {
    nccl_with(settings(), Version::V6, false, true)
}

impl Nccl {
    fn comm(self) -> Arc<Comm> {
        self.plugin.communicator(self.context).unwrap()
    }

    fn bytes(self, kind: u64, parent: u64) -> Bytes {
        let version = match self.version {
            Version::V4 => Told::V4,
            Version::V5 => Told::V5,
            Version::V6 => Told::V6,
        };
        Bytes::new(version, kind, as_pointer(parent), 1)
    }

    fn start(self, bytes: &Bytes) -> u64 {
        // SAFETY: the bytes are a descriptor of this version, and its texts are constants.
        let given = unsafe {
            let descriptor = Descriptor::new(bytes.as_pointer(), self.version).unwrap();
            entry::begin(self.plugin, &self.comm(), descriptor)
        };
        given.map_or(0, crate::handle::Given::to_word)
    }

    fn stop(self, word: u64) {
        entry::end(self.plugin, word);
    }

    fn group(self, depth: i32) -> u64 {
        self.start(&self.bytes(GROUP_API, 0).int(28, depth))
    }

    fn call(self, group: u64, func: &'static CStr, count: u64) -> u64 {
        self.call_on(group, func, count, Stream::of(std::ptr::null_mut()))
    }

    fn call_on(self, group: u64, func: &'static CStr, count: u64, stream: Stream) -> u64 {
        let bytes = self.bytes(COLL_API, group).text(24, func).word(32, count).text(40, c"ncclFloat32").int(48, 0);
        let handle = self.start(&bytes.pointer(56, stream.handle()));
        self.stop(handle);
        handle
    }

    fn message(self, group: u64, func: &'static CStr) -> u64 {
        let handle = self.start(&self.bytes(P2P_API, group).text(24, func).word(32, 8).text(40, c"ncclFloat32"));
        self.stop(handle);
        handle
    }

    fn launch(self, group: u64, stream: Stream) {
        let handle = self.start(&self.bytes(KERNEL_LAUNCH, group).pointer(24, stream.handle()));
        self.stop(handle);
    }

    fn task(self, call: u64, func: &'static CStr, channels: u8) -> u64 {
        let bytes = self.bytes(COLL, call).word(24, 0).text(32, func).word(56, 77).text(72, c"ncclInt8");
        let handle = self.start(&bytes.byte(80, channels).text(88, c"RING").text(96, c"LL"));
        self.stop(handle);
        handle
    }

    fn message_task(self, call: u64, func: &'static CStr, peer: i32) -> u64 {
        let bytes = self.bytes(P2P, call).text(24, func).text(40, c"ncclFloat32").word(48, 8).int(56, peer);
        let handle = self.start(&bytes.byte(60, 1));
        self.stop(handle);
        handle
    }

    fn channel(self, task: u64, channel: u8) -> u64 {
        self.start(&self.bytes(KERNEL_CH, task).byte(24, channel).word(32, 5))
    }

    /// A collective that runs on one channel, to its end.
    fn whole(self, func: &'static CStr) {
        let group = self.group(1);
        let call = self.call(group, func, 8);
        let task = self.task(call, func, 1);
        self.stop(group);
        self.stop(self.channel(task, 0));
    }

    fn entries(self) -> Vec<SnapshotEntry> {
        self.plugin.recorder.snapshot().entries
    }

    fn only(self) -> SnapshotEntry {
        let entries = self.entries();
        assert_eq!(entries.len(), 1);
        entries[0].clone()
    }
}

/// Waits for what another thread does at some time. It fails after a time in which it must have.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn one_rank_has_a_communicator_and_no_operations() {
    let nccl = nccl();
    let alone = nccl.plugin.init(&Introduction { id: 7, size: 1, rank: 0, ..told(Version::V6) });
    let group = nccl.group(1);
    nccl.stop(group);
    let snapshot = nccl.plugin.recorder.snapshot();
    assert_eq!(snapshot.entries.len(), 0);
    let comm = nccl.plugin.communicator(alone).unwrap();
    assert_eq!(comm.recorded.members(), Some(&[1][..]));
    nccl.plugin.finalize(alone);
    assert!(nccl.plugin.communicator(alone).is_none());
}

#[test]
fn numbers_are_the_recorders_own() {
    let nccl = nccl();
    for func in [c"AllReduce", c"AllGather", c"AllReduce"] {
        nccl.whole(func);
    }
    let numbers: Vec<_> = nccl.entries().iter().map(|entry| (entry.collective_seq, entry.op_id)).collect();
    assert_eq!(numbers, [(1, 1), (2, 2), (3, 3)]);
    assert!(nccl.entries().iter().all(|entry| entry.completed_ns.is_some()));
}

#[test]
fn counts_and_types_are_the_calls() {
    let nccl = nccl();
    nccl.whole(c"AllGather");
    let operation = nccl.only().operation;
    assert_eq!(operation.input.map(|buffer| (buffer.count, buffer.dtype.name())), Some((8, "Float")));
    assert_eq!(operation.output.map(|buffer| buffer.count), Some(32));
}

#[test]
fn version_4_takes_what_there_is_from_the_tasks() {
    let nccl = nccl_with(settings(), Version::V4, false, true);
    let group = nccl.start(&nccl.bytes(GROUP, 0));
    let task = nccl.task(group, c"Broadcast", 2);
    nccl.stop(group);
    let entry = nccl.only();
    assert!(entry.launched && !entry.operation.untracked);
    assert_eq!(entry.operation.input.map(|buffer| (buffer.count, buffer.dtype.name())), Some((77, "Char")));
    let channels = [nccl.channel(task, 0), nccl.channel(task, 1)];
    assert!(nccl.only().started_ns.is_some());
    nccl.stop(channels[0]);
    nccl.stop(channels[0]);
    assert!(nccl.only().completed_ns.is_none(), "one channel of two");
    nccl.stop(channels[1]);
    assert!(nccl.only().completed_ns.is_some());
}

#[test]
fn a_collective_that_becomes_messages_is_a_block() {
    let nccl = nccl();
    // One call, which nobody opened a group for.
    let group = nccl.group(1);
    let calls: Vec<u64> = (0..3).flat_map(|_| [nccl.message(group, c"Send"), nccl.message(group, c"Recv")]).collect();
    entry::change(nccl.plugin, group, 24);
    let tasks: Vec<u64> =
        calls.iter().zip([0, 0, 2, 2, 3, 3]).map(|(call, peer)| nccl.message_task(*call, c"Send", peer)).collect();
    nccl.stop(group);

    let entries = nccl.entries();
    assert_eq!(entries.len(), 7);
    assert_eq!(entries[6].operation.kind.name(), "coalesced");
    assert!(entries.iter().all(|entry| (entry.collective_seq, entry.p2p_seq) == (0, 1)));
    assert_eq!(entries[5].operation.peer, hangscope_recorder::Peer::Rank(3));

    // The end stands for all: it comes with the last of them.
    for (at, task) in tasks.iter().enumerate() {
        assert!(nccl.entries()[6].completed_ns.is_none(), "before message {at}");
        nccl.stop(nccl.channel(*task, 0));
    }
    assert!(nccl.entries().iter().all(|entry| entry.completed_ns.is_some()));
}

#[test]
fn a_group_of_messages_is_a_block() {
    let nccl = nccl();
    let group = nccl.group(2);
    nccl.message(group, c"Send");
    nccl.stop(group);
    // Another one, with a collective in between: the messages before it and after it are apart.
    let group = nccl.group(2);
    nccl.message(group, c"Send");
    nccl.call(group, c"AllReduce", 4);
    nccl.message(group, c"Recv");
    nccl.stop(group);
    // And one alone.
    let group = nccl.group(1);
    nccl.message(group, c"Send");
    nccl.stop(group);

    let entries = nccl.entries();
    let shown: Vec<_> =
        entries.iter().map(|entry| (entry.operation.kind.name(), entry.collective_seq, entry.p2p_seq)).collect();
    let expected = [
        ("send", 0, 1),
        ("coalesced", 0, 1),
        ("send", 0, 2),
        ("coalesced", 0, 2),
        ("all_reduce", 1, 2),
        ("recv", 1, 3),
        ("coalesced", 1, 3),
        ("send", 1, 4),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn what_nothing_tells_of_ends_with_a_later_one() {
    let nccl = nccl();
    let group = nccl.group(1);
    nccl.call(group, c"Broadcast", 8);
    nccl.stop(group);
    assert!(nccl.only().completed_ns.is_none());
    nccl.whole(c"AllReduce");
    until("the broadcast has ended before the all_reduce", || nccl.entries()[0].completed_ns.is_some());
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
fn a_dump_has_one_dimension_and_no_operator() {
    let form = hangscope_recorder::DumpForm::Json;
    let nccl = nccl_with(Settings { form, ..settings() }, Version::V6, false, true);
    nccl.whole(c"ReduceScatter");
    let dump: serde_json::Value = serde_json::from_slice(&nccl.plugin.recorder.dump_bytes().unwrap()).unwrap();
    let entry = &dump["entries"][0];
    assert_eq!(entry["profiling_name"], "nccl:_reduce_scatter_base");
    assert_eq!(entry["input_sizes"], serde_json::json!([[32]]));
    assert_eq!(entry["output_sizes"], serde_json::json!([[8]]));
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
fn channels_are_asked_for_on_request_alone() {
    let usual = nccl_with(settings(), Version::V6, false, false).plugin;
    assert_eq!(usual.events(Version::V6), GROUP_API | COLL_API | P2P_API | KERNEL_LAUNCH | P2P);
    assert_eq!(usual.events(Version::V5), usual.events(Version::V6));
    assert_eq!(usual.events(Version::V4), GROUP | COLL | P2P);
    let more = nccl().plugin;
    assert_eq!(more.events(Version::V6), usual.events(Version::V6) | COLL | KERNEL_CH);
    assert_eq!(more.events(Version::V4), usual.events(Version::V4) | KERNEL_CH);
    let off = nccl_with(Settings { buffer_size: 0, ..settings() }, Version::V6, false, true).plugin;
    assert_eq!(off.events(Version::V6), 0);
}

#[test]
fn proxies_are_never_asked_for_nor_looked_at() {
    let nccl = nccl();
    for version in [Version::V4, Version::V5, Version::V6] {
        assert_eq!(nccl.plugin.events(version) & 0b1011_1000, 0);
    }
    let group = nccl.group(1);
    let task = nccl.task(nccl.call(group, c"AllReduce", 8), c"AllReduce", 1);
    // Of another process, with a parent that is a pointer there.
    let proxy = nccl.start(&nccl.bytes(PROXY_OP, task).int(24, 1));
    assert_eq!(proxy, 0);
    for kind in [16, 32, 128, 4096, 8192, 16384, 32768, 1 << 40, 0] {
        assert_eq!(nccl.start(&nccl.bytes(kind, 0x7f00_dead_beef)), 0);
    }
    assert_eq!(nccl.entries().len(), 1);
}

#[test]
fn handles_that_lead_nowhere_do_nothing() {
    let nccl = nccl();
    for word in [0, 1, 0x7ffd_0000_1000, u64::MAX, 1 << 61, (1 << 61) | 999, (4 << 61) | 999, (5 << 61) | 999] {
        nccl.stop(word);
        entry::change(nccl.plugin, word, 24);
        assert_eq!(nccl.channel(word, 0), 0);
        nccl.message_task(word, c"Send", 2);
    }
    let group = nccl.group(1);
    let call = nccl.call(group, c"AllReduce", 8);
    let task = nccl.task(call, c"AllReduce", 1);
    nccl.stop(group);
    // The call's own bit is off, and NCCL stops it again and again; its children come all the same.
    nccl.stop(call);
    nccl.stop(call);
    assert!(nccl.only().completed_ns.is_none());
    nccl.stop(nccl.channel(task, 0));
    let ended = nccl.only().completed_ns;
    assert!(ended.is_some());
    nccl.stop(call);
    nccl.stop(task);
    nccl.stop(group);
    assert_eq!(nccl.only().completed_ns, ended);
}

#[test]
fn a_late_end_changes_nothing_of_what_took_the_place() {
    let nccl = nccl_with(Settings { buffer_size: 4, ..settings() }, Version::V6, false, true);
    let group = nccl.group(1);
    let task = nccl.task(nccl.call(group, c"AllReduce", 8), c"AllReduce", 1);
    let channel = nccl.channel(task, 0);
    nccl.stop(group);
    for _ in 0..4 {
        let group = nccl.group(1);
        nccl.call(group, c"Broadcast", 8);
        nccl.stop(group);
    }
    nccl.stop(channel);
    assert!(nccl.entries().iter().all(|entry| entry.operation.kind.name() == "broadcast"));
    assert!(nccl.entries().iter().all(|entry| entry.started_ns.is_none()));
}

#[test]
fn many_threads_record_at_once() {
    const THREADS: u64 = 8;
    const CALLS: usize = 200;
    let settings = Settings { buffer_size: 4096, ..settings() };
    let nccl = nccl_with(settings, Version::V6, false, true);
    let threads: Vec<_> = (0..THREADS)
        .map(|id| {
            let context = nccl.plugin.init(&Introduction { id: id + 1, ..told(Version::V6) });
            thread::spawn(move || (0..CALLS).for_each(|_| Nccl { context, ..nccl }.whole(c"AllReduce")))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let entries = nccl.entries();
    assert_eq!(entries.len(), THREADS as usize * CALLS);
    assert!(entries.iter().all(|entry| entry.completed_ns.is_some()));
    for id in 1..=THREADS {
        let name = format!("{id:#018x}");
        let own = entries.iter().filter(|entry| entry.communicator.info().name == name);
        assert!(own.map(|entry| entry.collective_seq).eq(1..=CALLS as u64), "each communicator counts for itself");
    }
}

/// A process of its own, since nothing is recorded in it afterwards.
#[test]
fn a_panic_stays_inside_and_switches_events_off() {
    const INSIDE: &str = "HANGSCOPE_TEST_INSIDE";
    if env::var_os(INSIDE).is_none() {
        let output = process::Command::new(env::current_exe().unwrap())
            .args(["--exact", "traps::a_panic_stays_inside_and_switches_events_off", "--nocapture"])
            .env(INSIDE, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("it records nothing from here on"), "{said}");
        return;
    }
    let mut mask: c_int = 77;
    entry::keep_mask(&raw mut mask);
    assert_eq!(entry::enter(|| {}), 0);
    assert_eq!(mask, 77);
    assert_eq!(entry::enter(|| panic!("inside")), 0);
    assert_eq!(mask, 0);
    // All entries go through the same door, and it is shut.
    let mut handle: *mut c_void = std::ptr::dangling_mut();
    let bytes = Bytes::new(Told::V6, GROUP_API, std::ptr::null_mut(), 0);
    // SAFETY: the place is a local, and the bytes are a descriptor of this version.
    let code = unsafe { entry::start_event(std::ptr::null_mut(), &raw mut handle, bytes.as_pointer(), Version::V6) };
    assert_eq!((code, handle.is_null()), (0, true));
    assert_eq!((entry::stop_event(handle), entry::record_state(handle, 24), entry::finalize(handle)), (0, 0, 0));
}

#[test]
fn the_id_names_a_communicator_on_all_ranks() {
    let nccl = nccl();
    let comm = nccl.comm();
    let info = comm.recorded.info();
    assert_eq!((info.name.as_str(), info.shared_id, info.rank, info.size), ("0x0000000000000abc", Some(0xabc), 1, 4));
    assert_eq!(comm.recorded.members(), Some(&[0, 1, 2, 3][..]));
    // A part: who else is in it, the other ranks have to say.
    let part = nccl.plugin.init(&Introduction { id: 5, size: 2, rank: 0, ..told(Version::V6) });
    let part = nccl.plugin.communicator(part).unwrap();
    assert_eq!((part.recorded.info().rank, part.recorded.members()), (0, None));
    // All ranks in another order: not known either.
    let turned = nccl.plugin.init(&Introduction { id: 6, size: 4, rank: 3, ..told(Version::V6) });
    assert_eq!(nccl.plugin.communicator(turned).unwrap().recorded.members(), None);
    // Another rank of the same one, in the same process.
    assert_eq!(nccl.plugin.init(&Introduction { rank: 2, ..told(Version::V6) }), 0);
}

#[test]
fn a_process_without_a_rank_takes_that_of_its_first_communicator() {
    let unknown = Settings { rank: None, world_size: None, ..settings() };
    let nccl = nccl_with(unknown, Version::V6, false, true);
    assert_eq!((nccl.plugin.recorder.rank(), nccl.plugin.recorder.world_size()), (Some(1), Some(4)));
}

#[test]
fn a_communicator_without_a_name_has_its_id() {
    let nccl = nccl();
    assert_eq!(nccl.comm().recorded.info().description, "");
    let named = Introduction { id: 9, name: "tensor".to_owned(), ..told(Version::V6) };
    let named = nccl.plugin.communicator(nccl.plugin.init(&named)).unwrap();
    let info = named.recorded.info();
    assert_eq!((info.name.as_str(), info.description.as_str()), ("0x0000000000000009", "tensor"));
}

#[test]
fn cuda_is_absent_without_harm() {
    let recorder = Recorder::launch(settings(), Source { library: "nccl", version: "test".to_owned() });
    for library in ["libcuda-that-nobody-has.so.1", "libc.so.6"] {
        let plugin = Plugin::launch(recorder, &PluginSettings { cuda_library: Some(library.into()), kernel_ch: false });
        assert!(!plugin.sees_ends(Version::V6), "{library}");
    }
}
