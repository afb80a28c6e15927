//! Names for the captured words, within a limit of time.

use std::collections::HashMap;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::{Frame, PYTHON, native, python};
use crate::watchdog::without_signals;

/// A library that is just being loaded holds a lock that looking up symbols needs; a dump cannot wait for it.
/// Dumps are to be there within two seconds.
const LIMIT: Duration = Duration::from_millis(1200);

/// Names the frames of all stacks. `None` for an entry without a stack.
///
/// It happens on a thread of its own, first with the names that libraries show, which takes no time, then with what
/// the debug information says, which for a large program takes some. What is not there when the time is up stays as it
/// is, at worst an address, and the dump is written.
pub(crate) fn resolve_all(stacks: Vec<Vec<u64>>) -> Vec<Option<Vec<Frame>>> {
    if stacks.iter().all(Vec::is_empty) {
        return vec![None; stacks.len()];
    }
    let mut words: Vec<u64> = stacks.iter().flatten().copied().collect();
    words.sort_unstable();
    words.dedup();
    let names = within_limit(words);
    let frames_of = |word: &u64| names.get(word).cloned().unwrap_or_else(|| vec![bare(*word)]);
    stacks.iter().map(|stack| (!stack.is_empty()).then(|| stack.iter().flat_map(frames_of).collect())).collect()
}

fn within_limit(words: Vec<u64>) -> HashMap<u64, Vec<Frame>> {
    let (sender, receiver) = mpsc::channel();
    let body = without_signals(move || {
        let [quick, thorough]: [fn(u64) -> Vec<Frame>; 2] = [quick, thorough];
        for resolve in [quick, thorough] {
            for word in &words {
                let frames = resolve(*word);
                // Nobody may be waiting any more.
                if !frames.is_empty() && sender.send((*word, frames)).is_err() {
                    return;
                }
            }
        }
    });
    let mut names = HashMap::new();
    if thread::Builder::new().name("hangscope-names".to_owned()).spawn(body).is_err() {
        return names;
    }
    let until = Instant::now() + LIMIT;
    // It ends when the thread has said all, or when the time is up.
    while let Ok((word, frames)) = receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
        names.insert(word, frames);
    }
    names
}

fn quick(word: u64) -> Vec<Frame> {
    if word & PYTHON == 0 { native::exported_name(word) } else { python::resolve(word).into_iter().collect() }
}

fn thorough(word: u64) -> Vec<Frame> {
    if word & PYTHON == 0 { native::resolve(word) } else { Vec::new() }
}

fn bare(word: u64) -> Frame {
    Frame { name: format!("{:#x}", word & !PYTHON), filename: String::new(), line: 0 }
}
