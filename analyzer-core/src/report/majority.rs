//! The call that most members of a row made.

use alloc::vec::Vec;
use core::cell::OnceCell;

use crate::align::{Signature, Table};
use crate::diagnose::Call;
use crate::dump::EntryIdx;
use crate::job::{Job, RankIdx};

/// A call of a row: its signature, and who made it.
pub(super) type MadeCall = (Signature, RankIdx, EntryIdx);

/// The call that most members made.
pub(super) struct Majority {
    pub rank: RankIdx,
    pub entry: EntryIdx,
    quick: Signature,
    /// Worked out where somebody differs.
    call: OnceCell<Call>,
}

impl Majority {
    /// The most frequent call of a row; of equally frequent ones that of the lowest rank. The calls come by rank.
    pub fn of(calls: impl Iterator<Item = MadeCall>) -> Option<Majority> {
        let mut kinds: Vec<(MadeCall, usize)> = Vec::new();
        for call in calls {
            if let Some(kind) = kinds.iter_mut().find(|kind| kind.0.0 == call.0) {
                kind.1 += 1;
            } else if kinds.len() < 64 {
                // Some rows differ by design (all_to_all); a few kinds tell enough.
                kinds.push((call, 1));
            }
        }
        let most = kinds.iter().map(|kind| kind.1).max()?;
        let &((quick, rank, entry), _) = kinds.iter().find(|kind| kind.1 == most)?;
        Some(Majority { rank, entry, quick, call: OnceCell::new() })
    }

    /// Whether a call does not fit that of the majority.
    pub fn differs(&self, job: &Job, table: &Table, (signature, rank, entry): MadeCall) -> bool {
        if signature == self.quick {
            return false;
        }
        let call = self.call.get_or_init(|| Call::of(job, table, self.rank, self.entry));
        !call.fits(&Call::of(job, table, rank, entry))
    }
}

/// A call with its signature.
pub(super) fn made_call(job: &Job, table: &Table, rank: RankIdx, entry: EntryIdx) -> MadeCall {
    (table.signature(job, rank, entry), rank, entry)
}
