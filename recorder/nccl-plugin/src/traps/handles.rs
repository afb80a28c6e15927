//! Masks, handles, and panics.

#![expect(unsafe_code, reason = "an entry as NCCL calls it")]

use std::ffi::{c_int, c_void};
use std::{env, process};

use hangscope_nccl_stand_in::{Descriptor as Bytes, Version as Told};
use hangscope_recorder::Settings;

use super::nccl::*;
use crate::abi::Version;
use crate::entry;

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

/// A process of its own, since nothing is recorded in it afterwards.
#[test]
fn a_panic_stays_inside_and_switches_events_off() {
    const INSIDE: &str = "HANGSCOPE_TEST_INSIDE";
    if env::var_os(INSIDE).is_none() {
        let output = process::Command::new(env::current_exe().unwrap())
            .args(["--exact", "traps::handles::a_panic_stays_inside_and_switches_events_off", "--nocapture"])
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
