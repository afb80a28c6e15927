//! Names for the captured words, within a limit of time.

use std::collections::HashMap;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{Frame, PYTHON, native, python};
use crate::watchdog::without_signals;

/// A library that is just being loaded holds a lock that looking up symbols needs; a dump cannot wait for it.
const LIMIT: Duration = Duration::from_secs(2);

/// Names the frames of all stacks. `None` for an entry without a stack.
///
/// It happens on a thread of its own: if that gets stuck, the frames are bare addresses, and the dump is written.
pub(crate) fn resolve_all(stacks: Vec<Vec<u64>>) -> Vec<Option<Vec<Frame>>> {
    if stacks.iter().all(Vec::is_empty) {
        return vec![None; stacks.len()];
    }
    let mut words: Vec<u64> = stacks.iter().flatten().copied().collect();
    words.sort_unstable();
    words.dedup();
    let names = within_limit(words).unwrap_or_default();
    let frames_of = |word: &u64| names.get(word).cloned().unwrap_or_else(|| vec![bare(*word)]);
    stacks.iter().map(|stack| (!stack.is_empty()).then(|| stack.iter().flat_map(frames_of).collect())).collect()
}

fn within_limit(words: Vec<u64>) -> Option<HashMap<u64, Vec<Frame>>> {
    let (sender, receiver) = mpsc::channel();
    let body = without_signals(move || {
        let names = words.into_iter().map(|word| (word, resolve(word))).collect();
        // Nobody may be waiting any more.
        let _ = sender.send(names);
    });
    thread::Builder::new().name("hangscope-names".to_owned()).spawn(body).ok()?;
    receiver.recv_timeout(LIMIT).ok()
}

fn resolve(word: u64) -> Vec<Frame> {
    if word & PYTHON != 0 {
        return vec![python::resolve(word).unwrap_or_else(|| bare(word))];
    }
    let frames = native::resolve(word);
    if frames.is_empty() { vec![bare(word)] } else { frames }
}

fn bare(word: u64) -> Frame {
    Frame { name: format!("{:#x}", word & !PYTHON), filename: String::new(), line: 0 }
}
