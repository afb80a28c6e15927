//! Why a rank has no entry in a row.

use super::Cell;
use crate::job::{Capabilities, GroupIdx, Job, RankIdx};

/// What is known of one rank's operations in one group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// Number of its first retained collective.
    pub first: Option<u32>,
    /// Highest number that it is known to have issued, by its entries.
    pub last: Option<u32>,
    /// Highest number that it has issued, by the group's counter; `None` where that cannot be trusted.
    pub counted: Option<u32>,
    /// Highest number that it has finished, by the group's counter.
    pub finished: Option<u32>,
    /// Whether some of its retained entries in the group are messages.
    pub messages: bool,
    /// Whether it ever sent or received a message in the group, as far as its entries tell.
    pub used_messages: bool,
}

impl Window {
    /// What an absent entry means.
    ///
    /// `number` is the row. Above the last number that the rank issued, the operation is missing; below its first retained one,
    /// nobody knows, unless the recorder wrote only what was unfinished: then it is finished. Between them a number is only known to
    /// be missing where nothing else (a block of messages) takes numbers.
    pub fn absent(&self, number: u32, job: &Job, rank: RankIdx) -> Cell {
        let capabilities = &job.rank(rank).capabilities;
        let last = self.last.max(self.counted.filter(|_| capabilities.only_active));
        match (self.first, last) {
            (_, Some(last)) if number > last => after_the_end(capabilities),
            // Operations of one communicator finish in order.
            (Some(first), Some(_)) if capabilities.only_active && number < first => {
                self.finished_by_counter(number, true)
            }
            (None, Some(_)) if capabilities.only_active => self.finished_by_counter(number, false),
            (Some(first), Some(_)) if number > first && !self.messages && !capabilities.only_active => Cell::MISSING,
            (_, Some(_)) => Cell::UNKNOWN,
            (_, None) => self.never_used(number, capabilities),
        }
    }

    /// Finished as far as the counter says so; `usual` where there is no counter to ask.
    fn finished_by_counter(&self, number: u32, usual: bool) -> Cell {
        let finished = self.finished.map_or(usual, |finished| number <= finished);
        if finished { Cell::FINISHED } else { Cell::UNKNOWN }
    }

    /// No retained entry in the whole group: if the ring never lost one, the rank issued nothing; else only the counters can tell.
    fn never_used(&self, number: u32, capabilities: &Capabilities) -> Cell {
        match self.counted {
            _ if capabilities.truncated => Cell::UNKNOWN,
            Some(last) if number > last => Cell::MISSING,
            // It says that the operation was issued, which no entry shows.
            Some(_) => Cell::UNKNOWN,
            None if capabilities.wrapped || capabilities.only_active => Cell::UNKNOWN,
            None => Cell::MISSING,
        }
    }
}

/// A file that breaks off lost its newest entries.
fn after_the_end(capabilities: &Capabilities) -> Cell {
    if capabilities.truncated { Cell::UNKNOWN } else { Cell::MISSING }
}

/// The counters of a group, if the dump has them: what was issued last, and what was finished last.
pub(super) fn counters(job: &Job, rank: RankIdx, group: GroupIdx) -> Option<(u32, u32)> {
    let status = job.rank(rank).status(group)?;
    // -1 is never.
    let number = |counter: i64| u32::try_from(counter.max(0)).ok();
    Some((number(status.last_enqueued)?, number(status.last_completed)?))
}
