//! What is recorded of calls and tasks.

use std::thread;

use hangscope_recorder::Settings;

use super::nccl::*;
use crate::abi::Version;
use crate::communicator::Introduction;
use crate::entry;

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

#[test]
fn version_4_watches_its_blocks() {
    let nccl = nccl_with(settings(), Version::V4, false, true);
    let group = nccl.start(&nccl.bytes(GROUP, 0));
    let tasks = [nccl.message_task(group, c"Send", 2), nccl.message_task(group, c"Recv", 0)];
    nccl.stop(group);
    let entries = nccl.entries();
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[2].operation.kind.name(), "coalesced");
    assert!(entries.iter().all(|entry| !entry.nonblocking && !entry.operation.untracked));
    tasks.iter().for_each(|task| nccl.stop(nccl.channel(*task, 0)));
    assert!(nccl.entries().iter().all(|entry| entry.completed_ns.is_some()));
}
