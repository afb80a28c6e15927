//! Files that are older than what the other ranks went on to do together with their rank.

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::{Band, Blocks, Cell, Progress};
use crate::job::{Job, RankIdx};

/// So many peers that went on are enough; a thousand of them say the same.
const WITNESSES: usize = 64;

/// Ranks whose dump was written before the others': a collective that nobody can finish alone is finished on a peer, and the peer has
/// since issued another one that is finished too, while the rank has neither. What such a rank did last is not known.
///
/// An abort also finishes operations that a member never issued, but all at once: nothing is issued after it that finishes.
pub(super) fn find(job: &Job, bands: &[Band], blocks: &[Blocks]) -> Vec<bool> {
    let mut stale = alloc::vec![false; job.ranks.len()];
    for band in bands {
        // For each member and peer: when the peer first finished a row without it, by the peer's own clock.
        let mut left_behind: HashMap<(RankIdx, RankIdx), i64> = HashMap::new();
        for row in band.rows() {
            let is_missing = |(_, rank, cell): &(usize, RankIdx, Cell)| {
                *cell == Cell::MISSING && stale.get(rank.0 as usize) == Some(&false)
            };
            if !band.dumped_cells_of(row).any(|item| is_missing(&item)) {
                continue;
            }
            let finished: Vec<(RankIdx, i64, i64)> = band
                .issued(row)
                .filter(|&(_, rank, at)| {
                    let progress = blocks.get(rank.0 as usize).map(|blocks| blocks.progress_of(at));
                    progress == Some(Progress::Completed)
                })
                .map(|(_, rank, at)| (rank, job.entry(rank, at)))
                .filter(|(_, entry)| job.waits_for_all(entry))
                .map(|(rank, entry)| (rank, entry.created_ns, entry.completed_ns))
                .take(WITNESSES)
                .collect();
            if finished.is_empty() {
                continue;
            }
            let missing: Vec<RankIdx> = band.dumped_cells_of(row).filter(is_missing).map(|(_, rank, _)| rank).collect();
            for rank in missing {
                for &(peer, created_ns, completed_ns) in &finished {
                    let left = *left_behind.entry((rank, peer)).or_insert(i64::MAX);
                    if left == i64::MAX {
                        left_behind.insert((rank, peer), completed_ns);
                    } else if left > 0
                        && created_ns > left
                        && let Some(flag) = stale.get_mut(rank.0 as usize)
                    {
                        *flag = true;
                    }
                }
            }
        }
    }
    stale
}
