//! The aligned table.

use alloc::vec::Vec;

use super::slots::{Slot, Slots};
use super::{Blocks, Cell, Message, Progress, messages, rows, stale};
use crate::dump::EntryIdx;
use crate::job::{Families, GroupIdx, Job, RankIdx};
use crate::symbols::{ArgsId, SliceTable, StrId};

/// Names a row of a [`Band`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowIdx(pub u32);

/// So many rows are gone through lane by lane: a row is as wide as the job, and a lane as long.
pub(super) const TILE: usize = 256;

/// So many rows are looked at together in [`Band::for_each_row`]: what is found in a cell takes more bytes than the cell.
const LOOKED_AT: usize = 64;

/// What tells calls apart, but for the place in the code: operation, arguments and block contents.
pub type Signature = (StrId, ArgsId, u32);

/// The rows of one process group.
#[derive(Clone, Debug)]
pub struct Band {
    /// The group.
    pub group: GroupIdx,
    /// The dump of each member, by its place in the group; `None` where it left none.
    pub columns: Vec<Option<RankIdx>>,
    /// Sequence number of each row, ascending.
    pub numbers: Vec<u32>,
    /// The members with a dump: place in the group and dump, ascending.
    pub(super) lanes: Vec<(usize, RankIdx)>,
    /// Cells row by row, one for each member with a dump: of the others nothing is known, however many they are.
    pub(super) cells: Vec<Cell>,
    /// Messages between members, by pair and order.
    pub messages: Vec<Message>,
}

impl Band {
    /// The cells of those members that have a dump.
    fn lane_cells(&self, row: RowIdx) -> &[Cell] {
        let width = self.lanes.len();
        self.cells.get(row.0 as usize * width..(row.0 as usize + 1) * width).unwrap_or(&[])
    }

    /// What the member at a place of the group did in a row.
    pub fn cell(&self, row: RowIdx, position: usize) -> Cell {
        let lane = self.lanes.binary_search_by_key(&position, |lane| lane.0).ok();
        lane.and_then(|lane| self.lane_cells(row).get(lane)).copied().unwrap_or(Cell::NO_DUMP)
    }

    /// The entry of a rank in a row; `None` where it has none there, or is no member.
    pub fn entry_of(&self, row: RowIdx, rank: RankIdx) -> Option<EntryIdx> {
        let lane = self.lanes.binary_search_by_key(&rank, |lane| lane.1).ok()?;
        self.lane_cells(row).get(lane)?.entry()
    }

    /// Calls `visit` for every cell with an entry: row, place among the members with a dump, place among all members, dump and entry.
    ///
    /// Members are taken one after the other for some rows at a time: a row of all ranks leads to as many places in memory as there are
    /// ranks.
    pub fn for_each_issued(&self, mut visit: impl FnMut(RowIdx, (usize, usize, RankIdx), EntryIdx)) {
        let width = self.lanes.len();
        for (tile, cells) in (0..).zip(self.cells.chunks(width.max(1) * TILE)) {
            for (lane, &(position, rank)) in self.lanes.iter().enumerate() {
                each_of_lane(cells, lane, width, |row, cell| {
                    if let Some(entry) = cell.entry() {
                        visit(RowIdx(tile * TILE as u32 + row as u32), (lane, position, rank), entry);
                    }
                });
            }
        }
    }

    /// Calls `visit` for every row with what `look` finds in the cells of the members with a dump. The cells of some rows are looked at member by
    /// member first, for the same reason as in [`Band::for_each_issued`].
    pub fn for_each_row<T: Clone>(
        &self,
        none: T,
        mut look: impl FnMut(RankIdx, Cell) -> T,
        mut visit: impl FnMut(RowIdx, &[T]),
    ) {
        let width = self.lanes.len();
        let mut looks = alloc::vec![none; width * LOOKED_AT.min(self.numbers.len())];
        for (tile, cells) in (0..).zip(self.cells.chunks(width.max(1) * LOOKED_AT)) {
            for (lane, &(_, rank)) in self.lanes.iter().enumerate() {
                each_of_lane(cells, lane, width, |row, cell| {
                    if let Some(place) = looks.get_mut(row * width + lane) {
                        *place = look(rank, cell);
                    }
                });
            }
            let rows = looks.chunks(width.max(1)).take(cells.len() / width.max(1));
            (tile * LOOKED_AT as u32..).map(RowIdx).zip(rows).for_each(|(row, looks)| visit(row, looks));
        }
    }

    /// All rows, oldest first.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = RowIdx> + ExactSizeIterator + use<> {
        (0..self.numbers.len() as u32).map(RowIdx)
    }

    /// How many rows of collectives and messages there are.
    pub fn row_count(&self) -> usize {
        self.numbers.len() + self.messages.len()
    }

    /// The messages from one rank to another, in their order.
    pub fn messages_of(&self, src: u32, dst: u32) -> &[Message] {
        let places = self.message_places_of(src, dst);
        self.messages.get(places.start as usize..places.end as usize).unwrap_or(&[])
    }

    /// Where [`Band::messages_of`] are among all messages of the band.
    pub fn message_places_of(&self, src: u32, dst: u32) -> core::ops::Range<u32> {
        let pair = |message: &Message| (message.src, message.dst);
        let from = self.messages.partition_point(|message| pair(message) < (src, dst));
        let to = self.messages.partition_point(|message| pair(message) <= (src, dst));
        from as u32..to as u32
    }

    /// Sequence number of a row.
    pub fn number(&self, row: RowIdx) -> u32 {
        self.numbers.get(row.0 as usize).copied().unwrap_or_default()
    }

    /// The row of a sequence number.
    pub fn row_of(&self, number: u32) -> Option<RowIdx> {
        self.numbers.binary_search(&number).ok().map(|at| RowIdx(at as u32))
    }

    /// What each member did in a row: its place in the group, its dump if it has one, and the cell.
    pub fn cells_of(&self, row: RowIdx) -> impl Iterator<Item = (usize, Option<RankIdx>, Cell)> + '_ {
        let mut cells = self.lane_cells(row).iter();
        self.columns.iter().enumerate().map(move |(at, &rank)| {
            let cell = rank.and_then(|_| cells.next()).copied().unwrap_or(Cell::NO_DUMP);
            (at, rank, cell)
        })
    }

    /// What each member with a dump did in a row.
    pub fn dumped_cells_of(&self, row: RowIdx) -> impl Iterator<Item = (usize, RankIdx, Cell)> + '_ {
        self.lanes.iter().zip(self.lane_cells(row)).map(|(&(at, rank), &cell)| (at, rank, cell))
    }

    /// The members that issued a row: place in the group, dump and entry.
    pub fn issued(&self, row: RowIdx) -> impl Iterator<Item = (usize, RankIdx, EntryIdx)> + '_ {
        self.dumped_cells_of(row).filter_map(|(at, rank, cell)| Some((at, rank, cell.entry()?)))
    }
}

/// Calls `visit` for the cells of a lane in some rows.
///
/// A function of its own, which is called often: a browser runs the quicker form of a function only from the next call on.
#[inline(never)]
fn each_of_lane(cells: &[Cell], lane: usize, width: usize, mut visit: impl FnMut(usize, Cell)) {
    let (mut at, mut row) = (lane, 0);
    while let Some(&cell) = cells.get(at) {
        visit(row, cell);
        at += width;
        row += 1;
    }
}

/// All groups, lined up.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// One band per group of the job, in the job's order; a group that nobody used has an empty one.
    pub bands: Vec<Band>,
    /// Blocks and progress of each rank.
    pub blocks: Vec<Blocks>,
    /// Distinct contents of coalesced blocks: operation and arguments of each member.
    pub inner: SliceTable<(StrId, ArgsId)>,
    /// Groups that are alike.
    pub families: Families,
    /// Ranks whose file is older than what the others did together with them, by rank index: what they did last is not known.
    pub stale: Vec<bool>,
    /// Handle of the contents of each block, by rank and the entry that stands for it, sorted.
    inner_of: Vec<(RankIdx, EntryIdx, u32)>,
}

/// The entries of one rank in one group: where they are in [`Lots::order`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Lot {
    pub rank: RankIdx,
    pub from: usize,
    pub count: u32,
    /// Whether some of them may be messages.
    pub messages: bool,
}

impl Lot {
    /// Its place in the order.
    pub fn range(&self) -> core::ops::Range<usize> {
        self.from..self.from + self.count as usize
    }
}

/// All entries sorted by rank, group and the dump's order, four bytes each.
struct Lots {
    order: Vec<EntryIdx>,
    /// By group, ascending by rank.
    of_group: Vec<Vec<Lot>>,
}

impl Lots {
    #[inline(never)]
    fn add(&mut self, rank: RankIdx, slots: &Slots) {
        let mut next: Vec<usize> = Vec::with_capacity(slots.slots.len());
        let mut from = self.order.len();
        for &Slot { group, count, messages } in &slots.slots {
            next.push(from);
            if let Some(lots) = self.of_group.get_mut(group.0 as usize).filter(|_| count > 0) {
                lots.push(Lot { rank, from, count, messages });
            }
            from += count as usize;
        }
        self.order.resize(from, EntryIdx(0));
        let mut at = EntryIdx(0);
        for &slot in &slots.of_entry {
            if let Some(place) = next.get_mut(slot as usize) {
                if let Some(slot) = self.order.get_mut(*place) {
                    *slot = at;
                }
                *place += 1;
            }
            at.0 += 1;
        }
    }
}

impl Table {
    /// Lines up a job.
    pub fn align(job: &Job) -> Table {
        let mut table = Table { families: Families::of(&job.groups), ..Table::default() };
        let entries: usize = job.ranks.iter().map(|dump| dump.entries.len()).sum();
        let mut lots = Lots { order: Vec::with_capacity(entries), of_group: alloc::vec![Vec::new(); job.groups.len()] };
        for at in 0..job.ranks.len() as u32 {
            let rank = RankIdx(at);
            let slots = Slots::of(job, rank);
            let blocks = Blocks::of(job, rank, &slots);
            for (end, members) in blocks.iter() {
                let contents: Vec<(StrId, ArgsId)> = members
                    .iter()
                    .map(|&at| {
                        let entry = job.entry(rank, at);
                        (job.op_name(entry.op), entry.args)
                    })
                    .collect();
                table.inner_of.push((rank, end, table.inner.intern(&contents).index));
            }
            table.blocks.push(blocks);
            lots.add(rank, &slots);
        }
        table.inner_of.shrink_to_fit();
        for (group, lots_of_group) in (0..).map(GroupIdx).zip(&lots.of_group) {
            let messages = messages::pair(job, group, &table.blocks, &lots.order, lots_of_group);
            let mut band = rows::align(job, group, &table.blocks, &mut lots.order, lots_of_group);
            band.messages = messages;
            table.bands.push(band);
        }
        drop(lots);
        table.stale = stale::find(job, &table.bands, &table.blocks);
        if table.stale.contains(&true) {
            table.forget_stale(job);
        }
        table
    }

    /// Makes unknown what the files of stale ranks say of their last operations.
    fn forget_stale(&mut self, job: &Job) {
        let stale = &self.stale;
        let is_stale = |rank: RankIdx| stale.get(rank.0 as usize) == Some(&true);
        let unknown = |cell: &mut Cell| {
            if *cell == Cell::MISSING {
                *cell = Cell::UNKNOWN;
            }
        };
        for band in &mut self.bands {
            let width = band.lanes.len().max(1);
            for row in band.cells.chunks_mut(width) {
                let lanes = band.lanes.iter().zip(row).filter(|(lane, _)| is_stale(lane.1));
                lanes.for_each(|(_, cell)| unknown(cell));
            }
            for message in &mut band.messages {
                for (rank, cell) in [(message.src, &mut message.send), (message.dst, &mut message.recv)] {
                    if job.rank_idx(rank).is_some_and(is_stale) {
                        unknown(cell);
                    }
                }
            }
        }
        for (blocks, _) in self.blocks.iter_mut().zip(stale).filter(|item| *item.1) {
            blocks.forget_pending();
        }
    }

    /// The band of a group.
    pub fn band(&self, group: GroupIdx) -> &Band {
        &self.bands[group.0 as usize]
    }

    /// How far an entry has come.
    pub fn progress(&self, rank: RankIdx, entry: EntryIdx) -> Progress {
        self.blocks.get(rank.0 as usize).map_or(Progress::Unknown, |blocks| blocks.progress_of(entry))
    }

    /// How far a cell has come; `None` for a rank that did not issue it.
    pub fn cell_progress(&self, rank: Option<RankIdx>, cell: Cell) -> Option<Progress> {
        if cell == Cell::FINISHED {
            return Some(Progress::Completed);
        }
        Some(self.progress(rank?, cell.entry()?))
    }

    /// Operation, arguments and block contents of an entry: equal ones are equal calls but for the place in the code.
    pub fn signature(&self, job: &Job, rank: RankIdx, at: EntryIdx) -> Signature {
        let Some(head) = job.rank(rank).entries.head(at) else { return (StrId::EMPTY, ArgsId::EMPTY, 0) };
        (job.op_name(head.op), head.args, self.contents(rank, at))
    }

    /// Handle of a block's contents; 0 for an entry that is no block.
    fn contents(&self, rank: RankIdx, at: EntryIdx) -> u32 {
        if self.inner_of.is_empty() {
            return 0;
        }
        let found = self.inner_of.binary_search_by_key(&(rank, at), |item| (item.0, item.1)).ok();
        found.and_then(|place| self.inner_of.get(place)).map_or(0, |item| item.2)
    }
}
