//! Files that are older than what the other ranks went on to do together with their rank.

use alloc::vec::Vec;

use super::{Band, Blocks, Cell, Progress};
use crate::job::{Job, RankIdx};

/// Ranks whose dump was written before the others': a collective that nobody can finish alone is finished on a peer, and the peer has
/// since issued another one that is finished too, while the rank has neither. What such a rank did last is not known.
///
/// An abort also finishes operations that a member never issued, but all at once: nothing is issued after it that finishes.
pub(super) fn find(job: &Job, bands: &[Band], blocks: &[Blocks]) -> Vec<bool> {
    let mut stale = alloc::vec![false; job.ranks.len()];
    for band in bands {
        // For each member: when a peer first finished a row without it, by the peer's own clock.
        let mut left_behind: Vec<(RankIdx, RankIdx, i64)> = Vec::new();
        for row in band.rows() {
            if !band.dumped_cells_of(row).any(|(_, _, cell)| cell == Cell::MISSING) {
                continue;
            }
            let finished: Vec<_> = band
                .issued(row)
                .filter(|&(_, rank, at)| {
                    let progress = blocks.get(rank.0 as usize).map(|blocks| blocks.progress_of(at));
                    progress == Some(Progress::Completed)
                })
                .map(|(_, rank, at)| (rank, job.entry(rank, at)))
                .filter(|(_, entry)| job.waits_for_all(entry))
                .collect();
            for (_, rank, cell) in band.dumped_cells_of(row) {
                if cell != Cell::MISSING {
                    continue;
                }
                for (peer, entry) in &finished {
                    match left_behind.iter().find(|item| (item.0, item.1) == (rank, *peer)) {
                        Some(item) if item.2 > 0 && entry.created_ns > item.2 => {
                            if let Some(flag) = stale.get_mut(rank.0 as usize) {
                                *flag = true;
                            }
                        }
                        Some(_) => {}
                        None => left_behind.push((rank, *peer, entry.completed_ns)),
                    }
                }
            }
        }
    }
    stale
}
