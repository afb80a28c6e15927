//! A finding before it is put into words.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Place, WaitStep};
use crate::dump::EntryIdx;
use crate::job::RankIdx;
use crate::report::{Alternative, Cause, Confidence, Kind};

/// What a rule found.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What was observed.
    pub kind: Kind,
    /// The class of root cause.
    pub cause: Cause,
    /// How sure it is.
    pub confidence: Confidence,
    /// Where.
    pub place: Place,
    /// Where else the same happened: the same row of sibling groups.
    pub more: Vec<Place>,
    /// Where waits go round through the place; empty where they don't, or where that is not what it is about.
    pub cycle: Vec<WaitStep>,
    /// Blamed ranks, ascending; empty when none can be singled out.
    pub suspects: Vec<u32>,
    /// Two sides that the evidence cannot tell apart.
    pub tie: bool,
    /// Who did what at the origin; the report puts the largest first.
    pub sides: Vec<DraftSide>,
    /// One sentence.
    pub headline: String,
    /// Facts from the dumps.
    pub evidence: Vec<String>,
    /// Other readings.
    pub alternatives: Vec<Alternative>,
    /// What to do now.
    pub next_steps: Vec<String>,
    /// Whether the job hangs here; false for a mismatch that everybody got past.
    pub hangs: bool,
}

impl Draft {
    /// All places of the finding, the first one first.
    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        core::iter::once(self.place).chain(self.more.iter().copied())
    }
}

/// Ranks that did the same.
#[derive(Clone, Debug)]
pub struct DraftSide {
    /// They, ascending.
    pub ranks: Vec<u32>,
    /// The entry that stands for them, of the lowest of these ranks; `None` if they issued nothing here.
    pub entry: Option<(RankIdx, EntryIdx)>,
    /// For a side that issued nothing here: the newest entry of its lowest rank.
    pub last: Option<(RankIdx, EntryIdx)>,
    /// What is known of a side without an entry.
    pub absence: Absence,
}

/// Why a side has no entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absence {
    /// They issued nothing here.
    #[default]
    Missing,
    /// Nothing is known of what they did.
    Unknown,
    /// They finished it, and their recorder left it out.
    Finished,
}
