//! What a dump can and cannot tell.

use alloc::vec::Vec;

use super::op_table::OpTable;
use crate::dump::{Entries, EntryIdx, GroupStatus, State};
use crate::small_sort::SmallSort as _;
use crate::symbols::{StrId, Symbols};

/// What the recorder of one rank writes and what its ring still holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Start events exist: `scheduled` then means that the device has not reached the op.
    pub start_events: bool,
    /// Some entry has a call stack.
    pub frames: bool,
    /// The ring wrapped or was reset: what it held before its first record is unknown.
    pub wrapped: bool,
    /// Only unfinished entries were dumped: an absent entry may be a finished one.
    pub only_active: bool,
    /// Some entry is finished.
    pub finished_some: bool,
    /// The file broke off: newer entries may be lost.
    pub truncated: bool,
    /// `collective_seq_id` counts over all groups (torchcomms): rows are counted per group instead.
    pub single_counter: bool,
    /// `collective_seq_id` has no gap, so that it may be such a counter if other ranks have one.
    pub gapless: bool,
    /// Libraries whose ops never reach `completed`: there `retired` means finished. Sorted.
    pub weak_libraries: Vec<StrId>,
}

/// What [`Capabilities::of`] looks at besides the entries.
pub(super) struct Clues<'a> {
    pub symbols: &'a Symbols,
    pub ops: &'a OpTable,
    pub statuses: &'a [GroupStatus],
    pub truncated: bool,
    pub has_entries_key: bool,
}

impl Capabilities {
    /// Looks at all entries of a dump once.
    #[inline(never)]
    pub(super) fn of(entries: &Entries, clues: &Clues<'_>) -> Capabilities {
        let mut capabilities = Capabilities { truncated: clues.truncated, ..Capabilities::default() };
        let first_record = entries.get(EntryIdx(0)).record_id.filter(|_| !entries.is_empty());
        capabilities.wrapped = first_record.is_some_and(|id| id > 0);
        // Libraries with (retired but never completed, completed) entries.
        let mut seen: Vec<(StrId, bool, bool)> = Vec::new();
        let mut library_of = |op: StrId| {
            let library = clues.ops.library(op);
            let known = seen.iter().position(|item| item.0 == library);
            known.unwrap_or_else(|| {
                seen.push((library, false, false));
                seen.len() - 1
            })
        };
        let libraries: Vec<usize> = entries.heads().iter().map(|head| library_of(head.op)).collect();
        let has_frames = |stack| clues.symbols.stacks.frames(stack).next().is_some();
        capabilities.frames = entries.heads().iter().any(|head| has_frames(head.stack));
        let (mut completed_any, mut retired_any) = (false, false);
        entries.for_each_state(|at, head, state, retired| {
            capabilities.start_events = capabilities.start_events || shows_start(state, entries.times(at));
            let completed = state == State::Completed;
            completed_any |= completed;
            retired_any |= retired;
            if let Some(item) = libraries.get(head).and_then(|&library| seen.get_mut(library)) {
                item.1 |= retired && !completed;
                item.2 |= completed;
            }
        });
        capabilities.start_events |= clues.statuses.iter().any(|status| status.last_started > 0);
        capabilities.weak_libraries = seen.iter().filter(|item| item.1 && !item.2).map(|item| item.0).collect();
        capabilities.weak_libraries.sort_small();
        let counted_some = clues.statuses.iter().any(|status| status.last_completed > 0);
        capabilities.finished_some = completed_any || retired_any;
        // A file that breaks off may have lost its finished entries.
        capabilities.only_active =
            clues.has_entries_key && !clues.truncated && !capabilities.finished_some && counted_some;
        let run = one_run(entries, clues.ops);
        capabilities.gapless = run.is_some();
        capabilities.single_counter = run == Some(true);
        capabilities
    }
}

/// A hook that learns of the end alone writes both times at once; that is no start event.
fn shows_start(state: State, [_, started_ns, completed_ns]: [i64; 3]) -> bool {
    state == State::Started || (started_ns != 0 && started_ns != completed_ns)
}

/// Whether the sequence numbers run on without a gap, as one counter for all groups makes them, and whether the entries prove that it
/// is for all. `None` where they do not run on.
///
/// In a short window counters of several groups may look so by chance. What they cannot do is to run on in a group that comes
/// again after another one, or to begin at 0.
#[inline(never)]
fn one_run(entries: &Entries, ops: &OpTable) -> Option<bool> {
    let mut entries = entries.iter().map(|(_, entry)| entry);
    let first = entries.next()?;
    let mut expected = first.collective_seq?;
    let peer = ops.get(first.op).peer;
    let from_zero = expected == 0 && peer.is_none();
    let mut shared = peer.is_some_and(|peer| peer.dst.is_none());
    let mut seen = alloc::vec![first.group_ref];
    let mut last = first.group_ref;
    for entry in entries {
        expected = expected.wrapping_add(1);
        if entry.collective_seq != Some(expected) || entry.p2p_seq.unwrap_or(0) != 0 {
            return None;
        }
        if entry.group_ref != last {
            last = entry.group_ref;
            let again = seen.contains(&last);
            shared |= again || from_zero;
            if !again {
                seen.push(last);
            }
        }
    }
    Some(shared)
}
