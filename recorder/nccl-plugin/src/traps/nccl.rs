//! NCCL as the tests speak for it.

#![expect(unsafe_code, reason = "descriptors as NCCL passes them")]

use std::ffi::{CStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, thread};

use hangscope_nccl_stand_in::{Descriptor as Bytes, Stream, Version as Told};
use hangscope_recorder::{Recorder, Settings, SnapshotEntry, Source};

use crate::abi::Version;
use crate::abi::descriptor::Descriptor;
use crate::communicator::{Comm, Introduction};
use crate::entry;
use crate::handle::as_pointer;
use crate::plugin::Plugin;
use crate::settings::PluginSettings;

/// Kinds of events, by the facts.
pub(super) const GROUP: u64 = 1;
pub(super) const COLL: u64 = 2;
pub(super) const P2P: u64 = 4;
pub(super) const PROXY_OP: u64 = 8;
pub(super) const KERNEL_CH: u64 = 64;
pub(super) const GROUP_API: u64 = 256;
pub(super) const COLL_API: u64 = 512;
pub(super) const P2P_API: u64 = 1024;
pub(super) const KERNEL_LAUNCH: u64 = 2048;

/// A plugin with one communicator, as NCCL would talk to it.
#[derive(Clone, Copy)]
pub(super) struct Nccl {
    pub(super) plugin: &'static Plugin,
    pub(super) version: Version,
    pub(super) context: u64,
}

pub(super) fn cuda_library() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().join("libcuda_stand_in.so")
}

pub(super) fn settings() -> Settings {
    Settings { rank: Some(1), world_size: Some(4), watchdog: false, buffer_size: 512, ..Settings::default() }
}

pub(super) fn told(version: Version) -> Introduction {
    Introduction { version, id: 0xabc, name: String::new(), size: 4, rank: 1 }
}

pub(super) fn nccl_with(settings: Settings, version: Version, cuda: bool, kernel_ch: bool) -> Nccl {
    let recorder = Recorder::launch(settings, Source { library: "nccl", version: "test".to_owned() });
    let cuda_library = cuda.then(|| OsString::from(cuda_library()));
    let plugin = Plugin::launch(recorder, &PluginSettings { cuda_library, kernel_ch });
    Nccl { plugin, version, context: plugin.init(&told(version)) }
}

/// With channels and without CUDA.
pub(super) fn nccl() -> Nccl {
    nccl_with(settings(), Version::V6, false, true)
}

impl Nccl {
    pub(super) fn comm(self) -> Arc<Comm> {
        self.plugin.communicator(self.context).unwrap()
    }

    pub(super) fn bytes(self, kind: u64, parent: u64) -> Bytes {
        let version = match self.version {
            Version::V4 => Told::V4,
            Version::V5 => Told::V5,
            Version::V6 => Told::V6,
        };
        Bytes::new(version, kind, as_pointer(parent), 1)
    }

    pub(super) fn start(self, bytes: &Bytes) -> u64 {
        // SAFETY: the bytes are a descriptor of this version, and its texts are constants.
        let given = unsafe {
            let descriptor = Descriptor::new(bytes.as_pointer(), self.version).unwrap();
            entry::begin(self.plugin, &self.comm(), descriptor)
        };
        given.map_or(0, crate::handle::Given::to_word)
    }

    pub(super) fn stop(self, word: u64) {
        entry::end(self.plugin, word);
    }

    pub(super) fn group(self, depth: i32) -> u64 {
        self.start(&self.bytes(GROUP_API, 0).int(28, depth))
    }

    pub(super) fn call(self, group: u64, func: &'static CStr, count: u64) -> u64 {
        self.call_on(group, func, count, Stream::of(std::ptr::null_mut()))
    }

    pub(super) fn call_on(self, group: u64, func: &'static CStr, count: u64, stream: Stream) -> u64 {
        let bytes = self.bytes(COLL_API, group).text(24, func).word(32, count).text(40, c"ncclFloat32").int(48, 0);
        let handle = self.start(&bytes.pointer(56, stream.handle()));
        self.stop(handle);
        handle
    }

    pub(super) fn message(self, group: u64, func: &'static CStr) -> u64 {
        let handle = self.start(&self.bytes(P2P_API, group).text(24, func).word(32, 8).text(40, c"ncclFloat32"));
        self.stop(handle);
        handle
    }

    pub(super) fn launch(self, group: u64, stream: Stream) {
        let handle = self.start(&self.bytes(KERNEL_LAUNCH, group).pointer(24, stream.handle()));
        self.stop(handle);
    }

    pub(super) fn task(self, call: u64, func: &'static CStr, channels: u8) -> u64 {
        let bytes = self.bytes(COLL, call).word(24, 0).text(32, func).word(56, 77).text(72, c"ncclInt8");
        let handle = self.start(&bytes.byte(80, channels).text(88, c"RING").text(96, c"LL"));
        self.stop(handle);
        handle
    }

    pub(super) fn message_task(self, call: u64, func: &'static CStr, peer: i32) -> u64 {
        let bytes = self.bytes(P2P, call).text(24, func).text(40, c"ncclFloat32").word(48, 8).int(56, peer);
        let handle = self.start(&bytes.byte(60, 1));
        self.stop(handle);
        handle
    }

    pub(super) fn channel(self, task: u64, channel: u8) -> u64 {
        self.start(&self.bytes(KERNEL_CH, task).byte(24, channel).word(32, 5))
    }

    /// A collective that runs on one channel, to its end.
    pub(super) fn whole(self, func: &'static CStr) {
        let group = self.group(1);
        let call = self.call(group, func, 8);
        let task = self.task(call, func, 1);
        self.stop(group);
        self.stop(self.channel(task, 0));
    }

    pub(super) fn entries(self) -> Vec<SnapshotEntry> {
        self.plugin.recorder.snapshot().entries
    }

    pub(super) fn only(self) -> SnapshotEntry {
        let entries = self.entries();
        assert_eq!(entries.len(), 1);
        entries[0].clone()
    }
}

/// Waits for what another thread does at some time. It fails after a time in which it must have.
pub(super) fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}
