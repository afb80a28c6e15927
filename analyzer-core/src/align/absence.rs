//! Why a rank has no entry in a row.

use super::Cell;
use crate::job::GroupIdx;
use crate::job::{Capabilities, Job, RankIdx};

/// What is known of one rank's operations in one group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// Number of its first retained collective.
    pub first: Option<u32>,
    /// Highest number that it is known to have issued.
    pub last: Option<u32>,
    /// Whether some of its retained entries in the group are messages.
    pub messages: bool,
}

impl Window {
    /// What an absent entry means.
    ///
    /// `number` is the row. Above the last number that the rank issued, the operation is missing; below its first retained one,
    /// nobody knows. Between them a number is only known to be missing where nothing else (a block of messages) takes numbers.
    pub fn absent(&self, number: u32, job: &Job, rank: RankIdx, group: GroupIdx) -> Cell {
        let capabilities = &job.rank(rank).capabilities;
        match (self.first, self.last) {
            (_, Some(last)) if number > last => after_the_end(capabilities),
            (Some(first), Some(_)) if number > first && !self.messages && !capabilities.only_active => Cell::MISSING,
            (_, Some(_)) => Cell::UNKNOWN,
            (_, None) => never_used(number, job, rank, group),
        }
    }
}

/// A file that breaks off lost its newest entries.
fn after_the_end(capabilities: &Capabilities) -> Cell {
    if capabilities.truncated { Cell::UNKNOWN } else { Cell::MISSING }
}

/// No retained entry in the whole group: if the ring never lost one, the rank issued nothing; else only the counters can tell.
fn never_used(number: u32, job: &Job, rank: RankIdx, group: GroupIdx) -> Cell {
    let dump = job.rank(rank);
    let capabilities = &dump.capabilities;
    if capabilities.truncated {
        return Cell::UNKNOWN;
    }
    if !capabilities.wrapped && !capabilities.only_active {
        return Cell::MISSING;
    }
    let status = dump.statuses.iter().find(|item| item.0 == group).map(|item| item.1.last_enqueued);
    match status {
        Some(last) if i64::from(number) > last => Cell::MISSING,
        _ => Cell::UNKNOWN,
    }
}
