//! How far the clocks of the ranks are apart.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::align::{Band, Progress, Table};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, Job, RankIdx};
use crate::small_sort::SmallSort as _;

/// How many of the newest rows of a group are searched for one that all of its members finished.
const ROWS: usize = 64;

/// A time that can be compared with others of the same clock: the rank whose clock it is, and its nanoseconds.
pub(crate) type Time = (RankIdx, i64);

/// By which rank's clock each rank's times are told, and what to take from them.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    ahead: Vec<Time>,
}

impl Clocks {
    /// Compares clocks by the operations that ranks finished together, from the lowest rank on. Hosts set their clocks by
    /// themselves; what they saw end at one time, ended at one time.
    pub fn of(job: &Job, table: &Table) -> Clocks {
        let mut ahead: Vec<Option<Time>> = alloc::vec![None; job.ranks.len()];
        let mut groups: Vec<Vec<GroupIdx>> = alloc::vec![Vec::new(); job.ranks.len()];
        for band in &table.bands {
            for rank in band.columns.iter().flatten() {
                if let Some(own) = groups.get_mut(rank.0 as usize) {
                    own.push(band.group);
                }
            }
        }
        let mut seen = alloc::vec![false; job.groups.len()];
        for root in 0..job.ranks.len() {
            if ahead.get(root).copied().flatten().is_some() {
                continue;
            }
            let mut open = VecDeque::from([root]);
            if let Some(slot) = ahead.get_mut(root) {
                *slot = Some((RankIdx(root as u32), 0));
            }
            while let Some(rank) = open.pop_front() {
                let mut own = groups.get_mut(rank).map(core::mem::take).unwrap_or_default();
                // Not by their names, which say nothing.
                own.sort_small_by_key(|&group| {
                    let group = job.group(group);
                    (Reverse(group.members.len()), &group.members, &group.desc)
                });
                for group in own {
                    if !seen.get_mut(group.0 as usize).is_none_or(|seen| core::mem::replace(seen, true)) {
                        spread(job, table, table.band(group), RankIdx(rank as u32), &mut ahead, &mut open);
                    }
                }
            }
        }
        Clocks { ahead: ahead.into_iter().flatten().collect() }
    }

    /// A time of a rank by a common clock. Ranks that finished nothing together have none: then the clock of the lower rank
    /// comes first, whatever it shows.
    pub fn common(&self, rank: RankIdx, ns: i64) -> Time {
        let (clock, ahead) = self.ahead.get(rank.0 as usize).copied().unwrap_or((rank, 0));
        (clock, ns.saturating_sub(ahead))
    }
}

/// Sets the clocks of a group's members by one of them: by what they finished together, else by what they issued.
fn spread(
    job: &Job,
    table: &Table,
    band: &Band,
    from: RankIdx,
    ahead: &mut [Option<Time>],
    open: &mut VecDeque<usize>,
) {
    let Some((clock, known)) = ahead.get(from.0 as usize).copied().flatten() else { return };
    let ended = |rank, entry| {
        let ns = job.entry(rank, entry).completed_ns;
        (table.progress(rank, entry) == Progress::Completed && ns > 0).then_some(ns)
    };
    let issued = |rank, entry| Some(job.entry(rank, entry).created_ns).filter(|&ns| ns > 0);
    let times: [&dyn Fn(RankIdx, EntryIdx) -> Option<i64>; 2] = [&ended, &issued];
    for time in times {
        for row in band.rows().rev().take(ROWS) {
            let Some(own) = band.entry_of(row, from).and_then(|entry| time(from, entry)) else { continue };
            let mut open_yet = false;
            for (_, rank, cell) in band.dumped_cells_of(row) {
                let Some(slot @ None) = ahead.get_mut(rank.0 as usize) else { continue };
                match cell.entry().and_then(|entry| time(rank, entry)) {
                    Some(ns) => {
                        *slot = Some((clock, known.saturating_add(ns.saturating_sub(own))));
                        open.push_back(rank.0 as usize);
                    }
                    None => open_yet = true,
                }
            }
            if !open_yet {
                return;
            }
        }
    }
}
