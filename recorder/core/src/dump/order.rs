//! The order of a dump's entries.
//!
//! Readers take the entries of a rank for what it issued in this order, and the oldest unfinished one for what it is
//! stuck in. A call that returned at once and that nobody waits for holds up nothing, so it comes after those that do.

use std::collections::HashMap;

use crate::snapshot::SnapshotEntry;
use crate::stack::Frame;
use crate::{OpKind, Peer};

type Pair = (SnapshotEntry, Option<Vec<Frame>>);

/// Puts calls that nobody waits for at the end, in their own order, and gives those an end that must have had one.
pub(super) fn for_readers(entries: Vec<SnapshotEntry>, frames: Vec<Option<Vec<Frame>>>) -> Vec<Pair> {
    let mut entries = entries;
    let held = complete_overtaken(&mut entries);
    let mut pairs: Vec<(bool, Pair)> = entries
        .into_iter()
        .zip(frames)
        .zip(held)
        .map(|((entry, frames), held)| (is_pending(&entry) && !held, (entry, frames)))
        .collect();
    pairs.sort_by_key(|(last, _)| *last);
    pairs.into_iter().map(|(_, pair)| pair).collect()
}

fn is_pending(entry: &SnapshotEntry) -> bool {
    entry.nonblocking && !entry.waited && !entry.is_over()
}

/// Messages between two ranks do not overtake each other: a later one that ended says that the earlier ones have. Tells
/// for each entry whether a later message of the same way holds somebody up: it must stay before that one.
fn complete_overtaken(entries: &mut [SnapshotEntry]) -> Vec<bool> {
    // What the later entries of the same way say, from the newest to the oldest.
    let mut ended: HashMap<(u32, OpKind, u32), u64> = HashMap::new();
    let mut waited: HashMap<(u32, OpKind, u32), ()> = HashMap::new();
    let mut held = vec![false; entries.len()];
    for (entry, held) in entries.iter_mut().zip(&mut held).rev() {
        let Peer::Rank(peer) = entry.operation.peer else { continue };
        if !entry.operation.kind.is_message() {
            continue;
        }
        let way = (entry.communicator.index, entry.operation.kind, peer);
        match (entry.completed_ns, ended.get(&way)) {
            (Some(at), _) => {
                ended.insert(way, at);
            }
            (None, Some(at)) if is_pending(entry) => entry.completed_ns = Some(*at),
            (None, _) => {}
        }
        if is_pending(entry) {
            *held = waited.contains_key(&way);
        } else if !entry.is_over() {
            waited.insert(way, ());
        }
    }
    held
}
