//! What every rule looks at.

use alloc::vec::Vec;
use core::cell::OnceCell;

use super::clocks::{Clocks, Time};
use super::disagreement::{self, Misfit};
use super::first_missed;
use crate::align::{Band, Cell, Message, Progress, RowIdx, Table};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, Job, RankIdx};
use crate::small_sort::SmallSort as _;
use crate::tree_map::TreeMap;
use crate::tree_set::TreeSet;

/// Where operations meet: a row of collectives, or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A row of a group.
    Row(GroupIdx, RowIdx),
    /// A message of a group, by its place in [`Band::messages`].
    Message(GroupIdx, u32),
}

impl Place {
    /// The group.
    pub fn group(self) -> GroupIdx {
        match self {
            Place::Row(group, _) | Place::Message(group, _) => group,
        }
    }
}

/// A job, its table, and who waits where.
#[derive(Debug)]
pub struct Case<'a> {
    /// The job.
    pub job: &'a Job,
    /// Its table.
    pub table: &'a Table,
    /// For each rank, its unfinished operations in the order in which it issued them.
    pub pending: Vec<Vec<(EntryIdx, Place)>>,
    /// For each rank that waits for nothing and is missing where others wait, the first of these places in the order of its program.
    pub first_missed: TreeMap<u32, Place>,
    /// For each rank, the places of [`Case::fronts`].
    fronts: Vec<Vec<Place>>,
    clocks: Clocks,
    /// Whether somebody waits in a row of each group.
    waits_in: Vec<bool>,
    /// The groups of each rank with a dump, ascending, also those that it never used.
    groups_of: Vec<Vec<GroupIdx>>,
    /// For each group, the rows whose calls do not fit, worked out when a rule asks.
    misfits: Vec<OnceCell<Vec<Misfit>>>,
}

/// A party of a place: the rank, its dump, what it did.
#[derive(Clone, Copy, Debug)]
pub struct Party {
    /// Global rank.
    pub rank: u32,
    /// Its dump.
    pub dump: Option<RankIdx>,
    /// What it did.
    pub cell: Cell,
}

impl<'a> Case<'a> {
    /// Looks through the table once.
    pub fn new(job: &'a Job, table: &'a Table) -> Case<'a> {
        let mut pending: Vec<Vec<(EntryIdx, Place)>> = alloc::vec![Vec::new(); job.ranks.len()];
        let clocks = Clocks::of(job, table);
        let mut groups_of = alloc::vec![Vec::new(); job.ranks.len()];
        for band in &table.bands {
            for rank in band.columns.iter().flatten() {
                if let Some(own) = groups_of.get_mut(rank.0 as usize) {
                    own.push(band.group);
                }
            }
        }
        let mut case = Case {
            job,
            table,
            pending: Vec::new(),
            first_missed: TreeMap::new(),
            fronts: Vec::new(),
            clocks,
            waits_in: Vec::new(),
            groups_of,
            misfits: table.bands.iter().map(|_| OnceCell::new()).collect(),
        };
        let mut waits_in = alloc::vec![false; table.bands.len()];
        let mut note = |rank: RankIdx, entry: EntryIdx, place: Place| {
            if table.progress(rank, entry).is_pending()
                && let Some(own) = pending.get_mut(rank.0 as usize)
            {
                own.push((entry, place));
                if let Place::Row(group, _) = place
                    && let Some(flag) = waits_in.get_mut(group.0 as usize)
                {
                    *flag = true;
                }
            }
        };
        for band in &table.bands {
            band.for_each_issued(|row, (_, _, dump), entry| note(dump, entry, Place::Row(band.group, row)));
            for (at, message) in (0..).zip(&band.messages) {
                for (rank, cell) in [(message.src, message.send), (message.dst, message.recv)] {
                    if let (Some(rank), Some(entry)) = (job.rank_idx(rank), cell.entry()) {
                        note(rank, entry, Place::Message(band.group, at));
                    }
                }
            }
        }
        for own in &mut pending {
            own.sort_small();
        }
        case.pending = pending;
        case.waits_in = waits_in;
        case.fronts = (0..job.ranks.len() as u32).map(|rank| case.find_fronts(RankIdx(rank))).collect();
        let places = TreeSet::from_iter(case.fronts.iter().flatten().copied());
        case.first_missed = first_missed::of(&case, places.into_iter().collect());
        case
    }

    /// The band of a place.
    pub fn band(&self, place: Place) -> &'a Band {
        self.table.band(place.group())
    }

    /// The message of a place.
    pub fn message(&self, place: Place) -> Option<Message> {
        match place {
            Place::Message(group, at) => self.table.band(group).messages.get(at as usize).copied(),
            Place::Row(..) => None,
        }
    }

    /// Who has a part in a place, and what they did.
    pub fn parties(&self, place: Place) -> Vec<Party> {
        match place {
            Place::Row(group, row) => {
                let members = &self.job.group(group).members;
                let cells = self.table.band(group).cells_of(row);
                members.iter().zip(cells).map(|(&rank, (_, dump, cell))| Party { rank, dump, cell }).collect()
            }
            Place::Message(..) => {
                let Some(message) = self.message(place) else { return Vec::new() };
                let party = |rank, cell| Party { rank, dump: self.job.rank_idx(rank), cell };
                message.ends().into_iter().flatten().map(|(rank, cell)| party(rank, cell)).collect()
            }
        }
    }

    /// How far a party has come; `None` if it did not issue the operation.
    pub fn progress(&self, party: &Party) -> Option<Progress> {
        self.table.cell_progress(party.dump, party.cell)
    }

    /// Whether a party has issued the operation and not finished it.
    pub fn waits(&self, party: &Party) -> bool {
        self.progress(party).is_some_and(Progress::is_pending)
    }

    /// What a rank waits in, sorted: its oldest unfinished operation, and if that belongs to a block of messages, the whole block, which
    /// ends only when all of them have met.
    pub fn fronts(&self, rank: RankIdx) -> &[Place] {
        self.fronts.get(rank.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether a place is one of [`Case::fronts`].
    pub fn waits_at(&self, rank: RankIdx, place: Place) -> bool {
        self.fronts(rank).binary_search(&place).is_ok()
    }

    fn find_fronts(&self, rank: RankIdx) -> Vec<Place> {
        let Some(own) = self.pending.get(rank.0 as usize) else { return Vec::new() };
        let Some(&(first, place)) = own.first() else { return Vec::new() };
        let mut fronts = alloc::vec![place];
        if let Place::Message(group, _) = place {
            let batch = self.job.entry(rank, first).p2p_seq;
            for &(entry, other) in own.iter().skip(1) {
                let same = matches!(other, Place::Message(of, _) if of == group)
                    && batch.is_some()
                    && self.job.entry(rank, entry).p2p_seq == batch;
                if !same {
                    break;
                }
                fronts.push(other);
            }
            fronts.sort_small();
            fronts.dedup();
        }
        fronts
    }

    /// The oldest unfinished operation of a rank.
    pub fn front(&self, rank: RankIdx) -> Option<(EntryIdx, Place)> {
        self.pending.get(rank.0 as usize)?.first().copied()
    }

    /// Whether somebody waits in a collective of a group.
    pub fn somebody_waits_in(&self, group: GroupIdx) -> bool {
        self.waits_in.get(group.0 as usize).copied().unwrap_or(false)
    }

    /// The groups that a rank belongs to, ascending.
    pub fn groups_of(&self, rank: RankIdx) -> &[GroupIdx] {
        self.groups_of.get(rank.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Rows of a group whose calls do not fit, ascending.
    pub(super) fn misfits(&self, band: &Band) -> &[Misfit] {
        let known = self.misfits.get(band.group.0 as usize);
        known.map_or(&[], |known| known.get_or_init(|| disagreement::misfits(self, band)))
    }

    /// Whether a rank waits for nothing, as far as its dump tells: it has nothing unfinished, and its ring lost nothing unfinished either.
    pub fn is_idle(&self, rank: RankIdx) -> bool {
        let dump = self.job.rank(rank);
        let lost_some = || dump.statuses.iter().any(|(_, status)| status.last_enqueued > status.last_completed);
        let is_stale = self.table.stale.get(rank.0 as usize).copied().unwrap_or(false);
        let lost_block = self.table.blocks.get(rank.0 as usize).is_some_and(|blocks| blocks.lost_pending);
        let may_wait = is_stale || lost_block || dump.capabilities.wrapped && lost_some();
        self.front(rank).is_none() && !may_wait
    }

    /// Whether this place is where a rank is missing first.
    pub fn is_first_missed(&self, rank: u32, place: Place) -> bool {
        self.first_missed.get(&rank) == Some(&place)
    }

    /// When the first rank issued an operation; `None` when nobody says.
    fn first_issue(&self, place: Place) -> Option<Time> {
        let issued = |party: &Party| {
            let (rank, entry) = (party.dump?, party.cell.entry()?);
            Some((rank, self.job.entry(rank, entry).created_ns)).filter(|item| item.1 > 0)
        };
        let parties = self.parties(place);
        parties.iter().filter_map(issued).map(|(rank, ns)| self.clocks.common(rank, ns)).min()
    }

    /// What puts places in order where clocks are not to be asked: collectives first, then who has a part in them.
    pub(super) fn order_without_clocks(&self, place: Place) -> impl Ord + use<'a> {
        let group = self.job.group(place.group());
        let message = self.message(place).map(|message| (message.src, message.dst, message.nth));
        let number = match place {
            Place::Row(_, row) => self.band(place).number(row),
            Place::Message(..) => 0,
        };
        (message, group.members.as_slice(), group.desc.as_str(), number, place)
    }

    /// What puts places in order: the time, and where that is the same, who has a part in them. Names of groups come last, since
    /// they say nothing.
    pub(super) fn order(&self, place: Place) -> impl Ord + use<'a> {
        let issued = self.first_issue(place);
        (issued.is_none(), issued, self.order_without_clocks(place))
    }

    /// The newest entry of a rank.
    pub fn last_entry(&self, rank: RankIdx) -> Option<EntryIdx> {
        (self.job.rank(rank).entries.len() as u32).checked_sub(1).map(EntryIdx)
    }
}
