//! What a rank used to do next, by its own past.

use alloc::vec::Vec;

use super::Case;
use crate::dump::EntryIdx;
use crate::job::RankIdx;
use crate::symbols::{StackId, StrId};

/// How many operations of a rank are searched.
const HISTORY: u32 = 256;
/// How many operations before it must be the same for one to be usual.
const CONTEXT: usize = 4;

/// Group, operation with its ranks, and stack.
type Key = (u32, StrId, StackId);

/// What a rank did after the newest earlier stretch of operations that is most like the one before entry `end`: an earlier entry of its
/// own, and how many operations are alike.
pub(super) fn usual_after(case: &Case<'_>, rank: RankIdx, end: EntryIdx) -> Option<(EntryIdx, usize)> {
    let dump = case.job.rank(rank);
    let blocks = case.table.blocks.get(rank.0 as usize)?;
    let own: Vec<(EntryIdx, Key)> = (end.0.saturating_sub(HISTORY)..end.0)
        .map(EntryIdx)
        .filter(|&at| !blocks.is_folded(at))
        .map(|at| (at, key(case, rank, at)))
        .collect();
    // The beginning of the program is as good as any operation before the stretch.
    let from_the_beginning = !dump.capabilities.wrapped && end.0 <= HISTORY;
    let alike = |until: usize| {
        let earlier = own.get(..until).unwrap_or(&[]).iter().rev();
        let same = earlier.zip(own.iter().rev()).take_while(|(a, b)| a.1 == b.1).count();
        same + usize::from(same == until && same > 0 && from_the_beginning)
    };
    let best = (1..own.len()).filter(|&until| alike(until) > 0).max_by_key(|&until| (alike(until), until))?;
    Some((own.get(best)?.0, alike(best)))
}

/// Whether a rank may have done at an entry what it used to do there. Where the ring lost its past and no long enough stretch of it is
/// like the present one, that is open.
pub(super) fn may_be_usual(case: &Case<'_>, rank: RankIdx, at: EntryIdx) -> bool {
    match usual_after(case, rank, at) {
        Some((then, alike)) if alike >= CONTEXT => key(case, rank, then) == key(case, rank, at),
        _ => case.job.rank(rank).capabilities.wrapped,
    }
}

fn key(case: &Case<'_>, rank: RankIdx, at: EntryIdx) -> Key {
    case.job
        .head(rank, at)
        .map_or((0, StrId::EMPTY, StackId::NOT_RECORDED), |head| (head.group_ref, head.op, head.stack))
}
