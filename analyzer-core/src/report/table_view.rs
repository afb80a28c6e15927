//! The aligned table as the page draws it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Band, CellCode, FindingPlace, RankColumn, Report, RowHead, TableIndex, ranges, sizes_text};
use crate::align::{Cell, Message, Progress, RowIdx, Table};
use crate::diagnose::{Call, Draft, Place};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, Job, RankIdx};

/// Index and cells, and the way back from a row of the index to the aligned table.
#[derive(Clone, Debug, Default)]
pub struct TableView {
    /// Heads.
    pub index: TableIndex,
    /// One [`CellCode`] per cell.
    pub cells: Vec<u8>,
    /// The place of each row of the index.
    pub(super) places: Vec<Place>,
    /// Whether columns of ranks without a dump are left out, because the table would be too large with them.
    dumped_only: bool,
}

/// Most cells of a table that shows ranks without a dump.
const MOST_CELLS: usize = 1 << 28;

impl TableView {
    /// Lays the table out: the origin's band first, then bands in which somebody waits, then the rest.
    pub fn new(job: &Job, table: &Table, drafts: &[Draft], report: &Report) -> TableView {
        let ranks = report.ranks.iter().map(|state| RankColumn { rank: state.rank, status: state.status });
        let mut view =
            TableView { index: TableIndex { ranks: ranks.collect(), ..TableIndex::default() }, ..TableView::default() };
        let cells = |band: &crate::align::Band| (band.numbers.len() + band.messages.len()) * band.columns.len();
        view.dumped_only = table.bands.iter().map(cells).fold(0, usize::saturating_add) > MOST_CELLS;
        let mut order: Vec<(usize, bool, GroupIdx)> = table
            .bands
            .iter()
            .map(|band| {
                let origin = drafts.iter().position(|draft| draft.place.group() == band.group).unwrap_or(usize::MAX);
                (origin, !somebody_waits(table, band), band.group)
            })
            .collect();
        order.sort_unstable();
        for (_, _, group) in order {
            let band = table.band(group);
            // Where a finding is about a message, messages come first.
            let about_messages = drafts.iter().any(|draft| matches!(draft.place, Place::Message(of, _) if of == group));
            if about_messages {
                view.add_messages(job, table, drafts, group);
            }
            if !band.numbers.is_empty() {
                view.add_collectives(job, table, drafts, group);
            }
            if !about_messages {
                view.add_messages(job, table, drafts, group);
            }
        }
        for (at, draft) in drafts.iter().enumerate() {
            let row = view.places.iter().position(|&place| place == draft.place).map(|row| row as u32);
            view.index.findings.push(FindingPlace {
                id: format!("F{}", at + 1),
                row,
                columns: loud_ranks(draft).iter().filter_map(|&rank| view.column(rank)).collect(),
            });
        }
        view
    }

    fn column(&self, rank: u32) -> Option<u32> {
        self.index.ranks.binary_search_by_key(&rank, |column| column.rank).ok().map(|at| at as u32)
    }

    fn shown_members(&self, job: &Job, group: GroupIdx) -> Vec<u32> {
        let shown = |rank: &u32| !self.dumped_only || job.rank_idx(*rank).is_some();
        job.group(group).members.iter().copied().filter(shown).collect()
    }

    fn open_band(&self, job: &Job, group: GroupIdx, p2p: bool, members: &[u32], row_count: usize) -> Band {
        let of = job.group(group);
        Band {
            label: job.label(group),
            name: of.name.clone(),
            desc: of.desc.clone(),
            ranks: ranges(of.members.iter().copied()),
            p2p,
            columns: members.iter().filter_map(|&rank| self.column(rank)).collect(),
            first_row: self.index.rows.len() as u32,
            row_count: row_count as u32,
            cells_at: self.cells.len() as u64,
        }
    }

    fn add_collectives(&mut self, job: &Job, table: &Table, drafts: &[Draft], group: GroupIdx) {
        let band = table.band(group);
        let members = self.shown_members(job, group);
        let head = self.open_band(job, group, false, &members, band.numbers.len());
        self.index.bands.push(head);
        for row in band.rows() {
            let place = Place::Row(group, row);
            let majority = majority(job, table, group, row);
            let loud = loud_here(drafts, place);
            // What differs after the origin follows from it, and one loud thing is enough.
            let follows =
                drafts.iter().any(|draft| matches!(draft.place, Place::Row(of, origin) if of == group && origin < row));
            let (mut agrees, mut seen) = (true, false);
            let shown: Vec<(Option<RankIdx>, Cell)> = if self.dumped_only {
                band.dumped_cells_of(row).map(|(_, rank, cell)| (Some(rank), cell)).collect()
            } else {
                band.cells_of(row).map(|(_, rank, cell)| (rank, cell)).collect()
            };
            for ((rank, cell), &member) in shown.into_iter().zip(&members) {
                let mut code = code(table, rank, cell);
                if let (Some(rank), Some(entry)) = (rank, cell.entry()) {
                    let differs = majority.as_ref().is_some_and(|majority| differs(job, table, majority, rank, entry));
                    if differs && !follows {
                        code = code.with(CellCode::DIFFERS);
                    }
                    agrees &= !differs && code == CellCode::COMPLETED;
                    seen = true;
                } else {
                    agrees &= cell == Cell::UNKNOWN || cell == Cell::FINISHED;
                }
                if loud.contains(&member) {
                    code = code.with(CellCode::ORIGIN);
                    if cell.entry().is_some() && is_divided(drafts, place) {
                        code = code.with(CellCode::DIFFERS);
                    }
                }
                self.cells.push(code.0);
            }
            let op = majority.map(|majority| majority.text(job)).unwrap_or_default();
            self.index.rows.push(RowHead { number: band.number(row).to_string(), op, agrees: agrees && seen });
            self.places.push(place);
        }
    }

    fn add_messages(&mut self, job: &Job, table: &Table, drafts: &[Draft], group: GroupIdx) {
        let messages = &table.band(group).messages;
        if messages.is_empty() {
            return;
        }
        let members = self.shown_members(job, group);
        let head = self.open_band(job, group, true, &members, messages.len());
        self.index.bands.push(head);
        for (at, message) in (0..).zip(messages) {
            let place = Place::Message(group, at);
            let loud = loud_here(drafts, place);
            let mut agrees = true;
            for &member in &members {
                let rank = job.rank_idx(member);
                let cell = message_cell(message, member);
                let mut code = match cell {
                    Some(cell) => code(table, rank, cell),
                    None => CellCode::NONE,
                };
                agrees &= matches!(code, CellCode::NONE | CellCode::COMPLETED);
                if loud.contains(&member) && cell.is_some() {
                    code = code.with(CellCode::ORIGIN);
                    if cell.is_some_and(|cell| cell.entry().is_some()) {
                        code = code.with(CellCode::DIFFERS);
                    }
                }
                self.cells.push(code.0);
            }
            self.index.rows.push(RowHead { number: message_number(message), op: message_op(job, message), agrees });
            self.places.push(place);
        }
    }
}

/// What one member did in a message; `None` for a member that has no part in it.
pub(super) fn message_cell(message: &Message, member: u32) -> Option<Cell> {
    if !message.is_pair() {
        return (message.src == member)
            .then(|| if message.send.entry().is_some() { message.send } else { message.recv });
    }
    match member {
        _ if member == message.src => Some(message.send),
        _ if member == message.dst => Some(message.recv),
        _ => None,
    }
}

fn message_number(message: &Message) -> String {
    if message.is_pair() {
        format!("{}→{} #{}", message.src, message.dst, message.nth)
    } else if message.send.entry().is_some() {
        format!("{}→? #{}", message.src, message.nth)
    } else {
        format!("?→{} #{}", message.dst, message.nth)
    }
}

fn message_op(job: &Job, message: &Message) -> String {
    let end = |rank: u32, cell: Cell| {
        let (rank, entry) = (job.rank_idx(rank)?, cell.entry()?);
        Some(sizes_text(&job.symbols, job.entry(rank, entry).args))
    };
    let sizes = end(message.src, message.send).or_else(|| end(message.dst, message.recv)).unwrap_or_default();
    format!("send/recv {sizes}").trim_end().to_string()
}

/// The call that most members made.
pub(super) struct Majority {
    pub rank: RankIdx,
    pub entry: EntryIdx,
    pub call: Call,
    quick: (crate::symbols::StrId, crate::symbols::ArgsId, u32),
}

impl Majority {
    fn text(&self, job: &Job) -> String {
        let entry = job.entry(self.rank, self.entry);
        let (op, sizes) = (&job.op(entry.op).name, sizes_text(&job.symbols, entry.args));
        if sizes.is_empty() { op.clone() } else { format!("{op} {sizes}") }
    }
}

/// The most frequent call of a row; of equally frequent ones that of the lowest rank.
pub(super) fn majority(job: &Job, table: &Table, group: GroupIdx, row: RowIdx) -> Option<Majority> {
    let mut kinds: Vec<(_, usize, RankIdx, EntryIdx)> = Vec::new();
    for (_, rank, entry) in table.band(group).issued(row) {
        let quick = table.signature(job, rank, entry);
        if let Some(kind) = kinds.iter_mut().find(|kind| kind.0 == quick) {
            kind.1 += 1;
        } else if kinds.len() < 64 {
            // Some rows differ by design (all_to_all); a few kinds tell enough.
            kinds.push((quick, 1, rank, entry));
        }
    }
    let most = kinds.iter().map(|kind| kind.1).max()?;
    let &(quick, _, rank, entry) = kinds.iter().find(|kind| kind.1 == most)?;
    Some(Majority { rank, entry, call: Call::of(job, table, rank, entry), quick })
}

pub(super) fn differs(job: &Job, table: &Table, majority: &Majority, rank: RankIdx, entry: EntryIdx) -> bool {
    table.signature(job, rank, entry) != majority.quick && !majority.call.fits(&Call::of(job, table, rank, entry))
}

fn code(table: &Table, rank: Option<RankIdx>, cell: Cell) -> CellCode {
    match table.cell_progress(rank, cell) {
        Some(Progress::Completed | Progress::Late) => CellCode::COMPLETED,
        Some(Progress::Started) => CellCode::STARTED,
        Some(Progress::Scheduled) => CellCode::SCHEDULED,
        Some(Progress::Unknown) => CellCode::UNKNOWN,
        None if cell == Cell::MISSING => CellCode::MISSING,
        None if cell == Cell::NO_DUMP => CellCode::NO_DUMP,
        None => CellCode::UNKNOWN,
    }
}

/// The ranks that a finding points at: its suspects, or in a tie the smaller side; of equal ones that without the lowest rank, whose call
/// stands for the row.
fn loud_ranks(draft: &Draft) -> Vec<u32> {
    if !draft.suspects.is_empty() {
        return draft.suspects.clone();
    }
    if !draft.tie {
        return Vec::new();
    }
    draft.sides.iter().rev().min_by_key(|side| side.ranks.len()).map(|side| side.ranks.clone()).unwrap_or_default()
}

fn loud_here(drafts: &[Draft], place: Place) -> Vec<u32> {
    drafts.iter().filter(|draft| draft.places().any(|of| of == place)).flat_map(loud_ranks).collect()
}

/// Whether the sides of a finding at this place made different calls.
fn is_divided(drafts: &[Draft], place: Place) -> bool {
    drafts.iter().filter(|draft| draft.place == place).any(|draft| {
        draft.sides.iter().filter(|side| side.entry.is_some()).count() > 1
            && !matches!(draft.kind, super::Kind::RankBehind | super::Kind::AllJoined | super::Kind::MissingRank)
    })
}

fn somebody_waits(table: &Table, band: &crate::align::Band) -> bool {
    let newest = band.rows().rev().take(64);
    newest.into_iter().any(|row| band.issued(row).any(|(_, rank, entry)| table.progress(rank, entry).is_pending()))
}
