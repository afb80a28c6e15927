//! The thread that watches the operations and writes the dumps.

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use crate::snapshot::{Snapshot, SnapshotEntry};
use crate::trigger::{self, Cause};
use crate::{Recorder, clock, guard, is_inert, log};

/// Time between two looks: short against the second within which all ranks are to dump.
const LOOK: Duration = Duration::from_millis(50);
/// Requests of other ranks for the same hang are one.
const SAME_HANG: Duration = Duration::from_secs(5);

/// Starts the thread; it ends with the process, or when the recorder has given up.
pub(crate) fn spawn(recorder: &'static Recorder) {
    if let Some(signal) = recorder.settings.signal {
        trigger::listen_for(signal);
    }
    let body = move || {
        let mut watchdog = Watchdog::default();
        while !is_inert() {
            thread::sleep(LOOK.min(recorder.settings.timeout / 4));
            guard(|| watchdog.look(recorder));
        }
    };
    if let Err(error) = thread::Builder::new().name("hangscope-watch".to_owned()).spawn(without_signals(body)) {
        log::line(&format!("no watchdog, and so no dumps: the system refused a thread ({error})"));
    }
}

/// The program's signals go to its own threads.
#[expect(unsafe_code, reason = "signal masks are the C library's")]
pub fn without_signals(body: impl FnOnce() + Send) -> impl FnOnce() + Send {
    move || {
        // SAFETY: the set is filled before it is used, and lives until the call is over.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
        }
        body();
    }
}

#[derive(Debug, Default)]
struct Watchdog {
    /// Recordings that a dump was written for.
    told: HashSet<u64>,
    last_dump: Option<Instant>,
}

impl Watchdog {
    fn look(&mut self, recorder: &'static Recorder) {
        let just_dumped = self.dumped_within(SAME_HANG);
        let cause = match recorder.triggers.take() {
            // Who asks for what was just written is the next victim of the same hang.
            Some(Cause::Rank(..) | Cause::TriggerFile) if just_dumped => None,
            cause => cause,
        };
        let mut overdue = || if recorder.settings.dump_on_timeout { self.overdue(recorder) } else { None };
        // What is overdue now stands unfinished in the dump that was just written.
        let Some(cause) = cause.or_else(|| overdue().filter(|_| !just_dumped)) else { return };
        if let Some(reason) = reason_for_others(&cause) {
            log::line(&reason);
            match recorder.channel.get() {
                Some(channel) if channel.is_connected() => {
                    channel.ask_all(recorder.rank().unwrap_or_default(), &reason);
                }
                _ => recorder.triggers.touch(&reason),
            }
        }
        recorder.dump(&cause);
        // Whoever asks for dumps by hand gets as many as he asks for.
        if matches!(cause, Cause::Timeout(_) | Cause::Rank(..) | Cause::TriggerFile) {
            self.last_dump = Some(Instant::now());
        }
    }

    fn dumped_within(&self, time: Duration) -> bool {
        self.last_dump.is_some_and(|at| at.elapsed() < time)
    }

    /// The oldest operation that takes longer than it may, once for each of them.
    fn overdue(&mut self, recorder: &Recorder) -> Option<Cause> {
        let limit = u64::try_from(recorder.settings.timeout.as_nanos()).unwrap_or(u64::MAX);
        let now = clock::now_ns();
        let snapshot = recorder.snapshot();
        let overdue: Vec<_> = snapshot
            .oldest_unfinished()
            .into_iter()
            .filter(|entry| now.saturating_sub(entry.created_ns) > limit)
            .collect();
        let oldest = overdue.iter().min_by_key(|entry| entry.created_ns)?;
        // All of them are noted, so that each asks once.
        let new = overdue.iter().filter(|entry| self.told.insert(entry.record_id)).count();
        // What is over, or fell out of the ring, needs no memory.
        let still_there: HashSet<u64> = overdue.iter().map(|entry| entry.record_id).collect();
        self.told.retain(|id| still_there.contains(id));
        (new > 0).then(|| Cause::Timeout(describe(oldest, &snapshot, now)))
    }
}

/// What the other ranks are told when they are asked for their dumps too: one rank's dump says little.
fn reason_for_others(cause: &Cause) -> Option<String> {
    match cause {
        Cause::Timeout(text) => Some(text.clone()),
        Cause::Signal => Some("a signal asks for dumps".to_owned()),
        Cause::Program => Some("the program asks for dumps".to_owned()),
        Cause::Rank(..) | Cause::TriggerFile | Cause::Exit => None,
    }
}

fn describe(entry: &SnapshotEntry, snapshot: &Snapshot, now: u64) -> String {
    let seconds = now.saturating_sub(entry.created_ns) / 1_000_000_000;
    let number = if entry.operation.kind.is_message() { entry.p2p_seq } else { entry.collective_seq };
    let info = entry.communicator.info();
    let unfinished = snapshot.entries.iter().filter(|entry| !entry.is_over()).count();
    format!(
        "{} #{number} of {} has not ended for {seconds} s ({unfinished} unfinished)",
        entry.operation.kind.name(),
        if info.description.is_empty() { &info.name } else { &info.description },
    )
}
