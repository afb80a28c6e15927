//! Who hangs, and from which operation on.

use std::collections::BTreeSet;
use std::ops::Range;

use super::fault::{Fault, FaultKind};
use super::program::Program;

/// So many operations before the end of the ring the job goes astray.
const BEFORE_END: u64 = 12;

/// The course of a job that hangs, or of one that doesn't.
#[derive(Debug)]
pub(super) struct Hang {
    /// What goes wrong, and at which operation.
    pub(super) fault: Option<(Fault, u64)>,
    /// By rank: the first operation that never ends there.
    stuck: Vec<Option<u64>>,
}

impl Hang {
    /// An operation hangs if any member of its group hangs already; `indices` are the operations that the recorders hold.
    pub(super) fn new(program: &Program, fault: Option<Fault>, indices: &Range<u64>) -> Self {
        let mut stuck = vec![None; program.world as usize];
        let fault = fault.map(|fault| (fault, indices.end.saturating_sub(BEFORE_END).max(indices.start)));
        if let Some((fault, bad)) = fault {
            for index in bad..indices.end {
                let dimension = program.call(index).dimension;
                let groups: BTreeSet<u32> = (0..program.world)
                    .filter(|&rank| if index == bad { rank == fault.rank } else { stuck[rank as usize].is_some() })
                    .map(|rank| program.group(dimension, rank))
                    .collect();
                for rank in 0..program.world {
                    let leaves_out = index == bad && fault.kind == FaultKind::Skip && rank == fault.rank;
                    if !leaves_out && groups.contains(&program.group(dimension, rank)) {
                        stuck[rank as usize].get_or_insert(index);
                    }
                }
            }
        }
        Self { fault, stuck }
    }

    /// Whether operation `index` never ends on `rank`.
    pub(super) fn hangs(&self, rank: u32, index: u64) -> bool {
        self.stuck.get(rank as usize).copied().flatten().is_some_and(|first| index >= first)
    }

    /// What `rank` does otherwise at operation `index`.
    pub(super) fn at(&self, rank: u32, index: u64) -> Option<FaultKind> {
        self.fault.filter(|(fault, bad)| fault.rank == rank && *bad == index).map(|(fault, _)| fault.kind)
    }
}
