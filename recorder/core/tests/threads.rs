//! Many threads record while dumps are taken.

#![allow(clippy::unwrap_used, reason = "a test may stop where its own set-up fails")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hangscope_recorder::{
    Buffer, CommunicatorInfo, DataType, OpKind, Operation, Recorder, Settings, SnapshotEntry, Source, Stacks,
};

const THREADS: u64 = 8;

fn recorder(buffer_size: usize, stacks: Stacks) -> &'static Recorder {
    let settings = Settings { buffer_size, stacks, watchdog: false, rank: Some(0), ..Settings::default() };
    Recorder::launch(settings, Source { library: "test", version: String::new() })
}

/// Everything that a recording says about itself agrees: the thread's number stands in its counts, its communicator's
/// name and its type of elements.
fn assert_whole(entry: &SnapshotEntry) {
    let thread: u64 = entry.communicator.info().name.parse().unwrap();
    let input = entry.operation.input.unwrap();
    let output = entry.operation.output.unwrap();
    assert_eq!(input.count % THREADS, thread);
    assert_eq!(input.count / THREADS + 1, entry.collective_seq);
    assert_eq!(output.count, input.count);
    assert_eq!(entry.op_id, entry.collective_seq);
    assert_eq!(entry.thread.1, format!("worker-{thread}"));
    // Every second one is ended, the others never are.
    assert!(entry.completed_ns.is_none() || entry.collective_seq.is_multiple_of(2), "{entry:?}");
}

#[test]
fn no_entry_is_torn_while_the_ring_goes_round() {
    let recorder = recorder(16, Stacks { native: false, python: false });
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let over = &over;
            let body = move || {
                let communicator = recorder.communicator(CommunicatorInfo::of_world(&thread.to_string(), 0, 1));
                for count in 0.. {
                    if over.load(Ordering::Relaxed) && count >= 1000 {
                        break;
                    }
                    let buffer = Some(Buffer { count: count * THREADS + thread, dtype: DataType::Float });
                    let operation = Operation::collective(OpKind::AllReduce, buffer, buffer);
                    let handle = recorder.record(&communicator, &operation);
                    if count % 2 == 1 {
                        recorder.complete(handle);
                    }
                }
            };
            thread::Builder::new().name(format!("worker-{thread}")).spawn_scoped(scope, body).unwrap();
        }
        let mut seen = 0;
        for _ in 0..3000 {
            let snapshot = recorder.snapshot();
            assert!(snapshot.entries.is_sorted_by_key(|entry| entry.record_id));
            snapshot.entries.iter().for_each(assert_whole);
            seen += snapshot.entries.len();
        }
        over.store(true, Ordering::Relaxed);
        assert!(seen > 3000, "{seen}");
    });
    let snapshot = recorder.snapshot();
    assert_eq!((snapshot.entries.len(), snapshot.unread), (16, 0));
}

/// A call chain that has a name to look for.
#[inline(never)]
fn the_callers_own_function(recorder: &Recorder) {
    let communicator = recorder.communicator(CommunicatorInfo::of_world("world", 0, 1));
    recorder.record(&communicator, &Operation::collective(OpKind::Barrier, None, None));
}

#[test]
fn a_native_stack_has_its_names_in_the_dump() {
    let recorder = recorder(4, Stacks { native: true, python: false });
    the_callers_own_function(recorder);
    // A dump does not wait for debug information; a later one has what an earlier one began to read.
    let began = Instant::now();
    loop {
        let dump = recorder.dump_bytes().unwrap();
        assert_eq!(hangscope_analyzer_core::dump::read("rank_0", &dump).faults.len(), 0);
        let text = String::from_utf8_lossy(&dump);
        if text.contains("the_callers_own_function") && text.contains("tests/threads.rs") {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{text}");
    }
}
