//! How far the clocks of the ranks are apart.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::align::{Band, Progress, Table};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, Job, RankIdx};

/// How many of the newest rows of a group are searched for one that all of its members finished.
const ROWS: usize = 64;

/// What to take from each rank's times to compare them with others'.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    ahead_ns: Vec<i64>,
}

impl Clocks {
    /// Compares clocks by the operations that ranks finished together, from the lowest rank on. Hosts set their clocks by
    /// themselves; what they saw end at one time, ended at one time.
    pub fn of(job: &Job, table: &Table) -> Clocks {
        let mut ahead: Vec<Option<i64>> = alloc::vec![None; job.ranks.len()];
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
            ahead.iter_mut().skip(root).take(1).for_each(|slot| *slot = Some(0));
            while let Some(rank) = open.pop_front() {
                let mut own = groups.get_mut(rank).map(core::mem::take).unwrap_or_default();
                // Not by their names, which say nothing.
                own.sort_by_key(|&group| {
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
        Clocks { ahead_ns: ahead.into_iter().map(Option::unwrap_or_default).collect() }
    }

    /// A time of a rank by the common clock.
    pub fn common_ns(&self, rank: RankIdx, ns: i64) -> i64 {
        ns.saturating_sub(self.ahead_ns.get(rank.0 as usize).copied().unwrap_or_default())
    }
}

/// Sets the clocks of a group's members by one of them: by what they finished together, else by what they issued.
fn spread(job: &Job, table: &Table, band: &Band, from: RankIdx, ahead: &mut [Option<i64>], open: &mut VecDeque<usize>) {
    let Some(known) = ahead.get(from.0 as usize).copied().flatten() else { return };
    let ended = |rank, entry| {
        let ns = job.entry(rank, entry).completed_ns;
        (table.progress(rank, entry) == Progress::Completed && ns > 0).then_some(ns)
    };
    let issued = |rank, entry| Some(job.entry(rank, entry).created_ns).filter(|&ns| ns > 0);
    let times: [&dyn Fn(RankIdx, EntryIdx) -> Option<i64>; 2] = [&ended, &issued];
    for time in times {
        for row in band.rows().rev().take(ROWS) {
            let own = band.issued(row).find(|item| item.1 == from);
            let Some(own) = own.and_then(|(_, rank, entry)| time(rank, entry)) else { continue };
            let mut open_yet = false;
            for (_, rank, cell) in band.dumped_cells_of(row) {
                let Some(slot @ None) = ahead.get_mut(rank.0 as usize) else { continue };
                match cell.entry().and_then(|entry| time(rank, entry)) {
                    Some(ns) => {
                        *slot = Some(known.saturating_add(ns.saturating_sub(own)));
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
