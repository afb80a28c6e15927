//! What recording costs the program: one operation, on one thread and on eight at once, with and without a native
//! stack; and what a dump costs.
//!
//! Each figure is the middle one of many rounds, told in nanoseconds of one operation.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop")]

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use hangscope_recorder::{Buffer, CommunicatorInfo, DataType, OpKind, Operation, Recorder, Settings, Source, Stacks};

const ROUNDS: usize = 51;

fn main() {
    let bare = Stacks { native: false, python: false };
    println!("one operation recorded and ended, in ns (middle of {ROUNDS} rounds)");
    println!("  recorded alone, 1 thread         {:>8.0}", middle(|| alone(recorder(bare), 20_000)));
    println!("  recorded and ended, 1 thread     {:>8.0}", middle(|| ended(recorder(bare), 20_000)));
    println!("  recorded alone, 8 threads        {:>8.0}", middle(|| together(recorder(bare), 8, 5_000)));
    let native = Stacks { native: true, python: false };
    println!("  with a native stack, 1 thread    {:>8.0}", middle(|| alone(recorder(native), 500)));

    let full = recorder(bare);
    for count in [2_000, 2_000_000] {
        alone(full, count);
        println!("  after {count:>9} operations      {:>8.0}", middle(|| alone(full, 20_000)));
    }
    let dump = || {
        let began = Instant::now();
        assert!(full.dump_bytes().unwrap().len() > 2000);
        began.elapsed()
    };
    println!("a dump of 2,000 entries, in ms       {:>8.1}", middle(dump) / 1e6);
}

fn recorder(stacks: Stacks) -> &'static Recorder {
    let settings = Settings { stacks, watchdog: false, rank: Some(0), ..Settings::default() };
    Recorder::launch(settings, Source { library: "bench", version: String::new() })
}

fn operation() -> Operation {
    let buffer = Some(Buffer { count: 1024, dtype: DataType::Float });
    Operation::collective(OpKind::AllReduce, buffer, buffer)
}

/// The time of one operation.
fn alone(recorder: &Recorder, count: u32) -> Duration {
    let world = recorder.communicator(CommunicatorInfo::of_world("world", 0, 8));
    let operation = operation();
    let began = Instant::now();
    for _ in 0..count {
        std::hint::black_box(recorder.record(&world, &operation));
    }
    let time = began.elapsed();
    recorder.free(&world);
    time / count
}

fn ended(recorder: &Recorder, count: u32) -> Duration {
    let world = recorder.communicator(CommunicatorInfo::of_world("world", 0, 8));
    let operation = operation();
    let began = Instant::now();
    for _ in 0..count {
        recorder.complete(recorder.record(&world, &operation));
    }
    began.elapsed() / count
}

/// The time that one operation takes its thread, while as many do the same. More threads than processors would wait
/// for a processor, which is nothing of ours: the processors' time is what counts.
fn together(recorder: &Recorder, threads: u32, count: u32) -> Duration {
    let barrier = Barrier::new(threads as usize);
    let total: Duration = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let world = recorder.communicator(CommunicatorInfo::of_world("world", 0, 8));
                    let operation = operation();
                    barrier.wait();
                    let began = processor_time();
                    for _ in 0..count {
                        std::hint::black_box(recorder.record(&world, &operation));
                    }
                    processor_time() - began
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    total / (threads * count)
}

/// What the calling thread has used of the processors.
#[expect(unsafe_code, reason = "only the C library tells")]
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is alive and the clock is one that every thread has.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of one round")]
fn middle(mut round: impl FnMut() -> Duration) -> f64 {
    let mut times: Vec<_> = (0..ROUNDS).map(|_| round()).collect();
    times.sort_unstable();
    times[ROUNDS / 2].as_nanos() as f64
}
