//! The aligned table as the page draws it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::majority::{MadeCall, Majority, made_call};
use super::marks::Marks;
use super::{Band, CellCode, FindingPlace, RankColumn, Report, RowNumber, TableIndex, ranges, sizes_text};
use crate::align::{self, Cell, Message, Progress, RowIdx, RowList, Table};
use crate::diagnose::{Draft, Place};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, Job, RankIdx};
use crate::small_sort::SmallSort as _;
use crate::symbols::{ArgsId, StrId};

/// Index and cells, and the way back from a row of the index to the aligned table.
#[derive(Clone, Debug, Default)]
pub struct TableView {
    /// Heads.
    pub index: TableIndex,
    /// One [`CellCode`] per cell.
    pub cells: Vec<u8>,
    /// The rows of the index as those of the aligned table.
    pub(crate) list: RowList,
    /// Whether columns of ranks without a dump are left out, because the table would be too large with them.
    dumped_only: bool,
}

/// Where a cell is: its row of the index, and its place among all cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellAt {
    pub row: u32,
    pub at: usize,
}

/// Most cells of a table that shows ranks without a dump.
const MOST_CELLS: usize = 1 << 28;

/// What a view is made of, and what was put into words already.
struct Builder<'a> {
    job: &'a Job,
    table: &'a Table,
    marks: Marks,
    view: TableView,
    texts: HashMap<Option<(Words, ArgsId)>, u32>,
}

/// What the words for a row begin with.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Words {
    Collective(StrId),
    Message,
}

/// What is in a cell.
#[derive(Clone, Copy)]
struct Look {
    code: CellCode,
    cell: Cell,
    call: Option<MadeCall>,
}

impl TableView {
    /// Lays the table out: the origin's band first, then bands in which somebody waits, then the rest.
    pub fn new(job: &Job, table: &Table, drafts: &[Draft], report: &Report) -> TableView {
        let ranks = report.ranks.iter().map(|state| RankColumn { rank: state.rank, status: state.status });
        let mut view =
            TableView { index: TableIndex { ranks: ranks.collect(), ..TableIndex::default() }, ..TableView::default() };
        let cells = |width: fn(&align::Band) -> usize| {
            let of = |band: &align::Band| {
                band.numbers.len().saturating_mul(width(band)).saturating_add(band.messages.len().saturating_mul(2))
            };
            table.bands.iter().map(of).fold(0, usize::saturating_add)
        };
        view.dumped_only = cells(|band| band.columns.len()) > MOST_CELLS;
        let cells = if view.dumped_only {
            cells(|band| band.columns.iter().flatten().count())
        } else {
            cells(|band| band.columns.len())
        };
        view.cells.reserve_exact(cells);
        view.index.rows.reserve(table.bands.iter().map(align::Band::row_count).sum());
        let marks = Marks::of(drafts);
        let mut order: Vec<(usize, bool, GroupIdx)> = table
            .bands
            .iter()
            .map(|band| (marks.first_draft(band.group), !somebody_waits(table, band), band.group))
            .collect();
        order.sort_small();
        let mut builder = Builder { job, table, marks, view, texts: HashMap::new() };
        for (_, _, group) in order {
            // Where a finding is about a message, messages come first.
            let about_messages = builder.marks.is_about_messages(group);
            if about_messages {
                builder.add_messages(group);
            }
            builder.add_collectives(group);
            if !about_messages {
                builder.add_messages(group);
            }
        }
        let Builder { mut view, marks, .. } = builder;
        for (at, draft) in drafts.iter().enumerate() {
            let row = match draft.place {
                Place::Row(group, row) => view.list.collective(group, row),
                Place::Message(group, at) => view.list.message(group, at),
            };
            view.index.findings.push(FindingPlace {
                id: format!("F{}", at + 1),
                row,
                columns: marks.loud_ranks(at).iter().filter_map(|&rank| view.index.column(rank)).collect(),
            });
        }
        view
    }

    /// The place of a row of the index.
    pub fn place(&self, row: u32) -> Option<Place> {
        let (stretch, at) = self.list.stretch_of(row)?;
        let place =
            if stretch.messages { Place::Message(stretch.group, at) } else { Place::Row(stretch.group, RowIdx(at)) };
        Some(place)
    }

    /// Calls `visit` for every cell that has an entry, band by band; in what order within a band is open.
    pub(super) fn for_each_entry(&self, job: &Job, table: &Table, mut visit: impl FnMut(CellAt, RankIdx, EntryIdx)) {
        for (head, stretch) in self.index.bands.iter().zip(self.list.stretches()) {
            let (band, width) = (table.band(stretch.group), head.row_bytes());
            let begin = head.cells_at as usize;
            let cell = |inside: u32, at: usize| CellAt {
                row: stretch.first + inside,
                at: begin + inside as usize * width + at,
            };
            if stretch.messages {
                for (inside, message) in (0..).zip(&band.messages) {
                    for (at, end) in message.ends().into_iter().enumerate() {
                        let dump = end.and_then(|(rank, cell)| Some((job.rank_idx(rank)?, cell.entry()?)));
                        if let Some((dump, entry)) = dump {
                            visit(cell(inside, at), dump, entry);
                        }
                    }
                }
                continue;
            }
            band.for_each_issued(|row, (lane, position, rank), entry| {
                let at = if self.dumped_only { lane } else { position };
                visit(cell(row.0, at), rank, entry);
            });
        }
    }

    fn shown_members(&self, job: &Job, group: GroupIdx) -> Vec<u32> {
        let shown = |rank: &u32| !self.dumped_only || job.rank_idx(*rank).is_some();
        job.group(group).members.iter().copied().filter(shown).collect()
    }

    fn open_band(&mut self, job: &Job, group: GroupIdx, p2p: bool, members: &[u32], row_count: usize) {
        let of = job.group(group);
        let first_row = self.list.push(group, p2p, row_count);
        self.index.bands.push(Band {
            label: job.label(group),
            name: of.name.clone(),
            desc: of.desc.clone(),
            ranks: ranges(of.members.iter().copied()),
            p2p,
            columns: members.iter().filter_map(|&rank| self.index.column(rank)).collect(),
            first_row,
            row_count: row_count as u32,
            cells_at: self.cells.len() as u64,
        });
    }
}

impl Builder<'_> {
    fn add_collectives(&mut self, group: GroupIdx) {
        let (job, table) = (self.job, self.table);
        let band = table.band(group);
        if band.numbers.is_empty() {
            return;
        }
        let members = self.view.shown_members(job, group);
        self.view.open_band(job, group, false, &members, band.numbers.len());
        let first_origin = self.marks.first_origin(group);
        let dumped_only = self.view.dumped_only;
        let nothing = Look { code: CellCode::NO_DUMP, cell: Cell::NO_DUMP, call: None };
        let look = |rank: RankIdx, cell: Cell| Look {
            code: code(table, Some(rank), cell),
            cell,
            call: cell.entry().map(|entry| made_call(job, table, rank, entry)),
        };
        band.for_each_row(nothing, look, |row, looks| {
            let place = Place::Row(group, row);
            let here = self.marks.findings_at(place);
            let majority = Majority::of(looks.iter().filter_map(|look| look.call));
            // What differs after the origin follows from it, and one loud thing is enough.
            let follows = first_origin.is_some_and(|origin| origin < row);
            let (mut agrees, mut seen) = (true, false);
            let mut looks = looks.iter();
            let shown = band.columns.iter().filter(|column| !dumped_only || column.is_some());
            for (column, &member) in shown.zip(&members) {
                let &Look { mut code, cell, call } = column.and_then(|_| looks.next()).unwrap_or(&nothing);
                if let Some(call) = call {
                    let differs = majority.as_ref().is_some_and(|majority| majority.differs(job, table, call));
                    if differs && !follows {
                        code = code.with(CellCode::DIFFERS);
                    }
                    agrees &= !differs && code == CellCode::COMPLETED;
                    seen = true;
                } else {
                    agrees &= cell == Cell::UNKNOWN || cell == Cell::FINISHED;
                }
                if self.marks.is_loud(here, member) {
                    code = code.with(CellCode::ORIGIN);
                    if cell.entry().is_some() && self.marks.is_divided(place) {
                        code = code.with(CellCode::DIFFERS);
                    }
                }
                self.view.cells.push(code.0);
            }
            let head = majority.and_then(|majority| job.head(majority.rank, majority.entry));
            let words = head.map(|head| (Words::Collective(job.op_name(head.op)), head.args));
            let op = self.text(words);
            self.view.index.rows.push(RowNumber::Collective(band.number(row)), op, agrees && seen);
        });
    }

    fn add_messages(&mut self, group: GroupIdx) {
        let (job, table) = (self.job, self.table);
        let messages = &table.band(group).messages;
        if messages.is_empty() {
            return;
        }
        let members = self.view.shown_members(job, group);
        self.view.open_band(job, group, true, &members, messages.len());
        for (at, message) in (0..).zip(messages) {
            let place = Place::Message(group, at);
            let here = self.marks.findings_at(place);
            let mut agrees = true;
            for end in message.ends() {
                let end = end.filter(|(rank, _)| members.binary_search(rank).is_ok());
                let Some((member, cell)) = end else {
                    self.view.cells.push(CellCode::NONE.0);
                    continue;
                };
                let mut code = code(table, job.rank_idx(member), cell);
                agrees &= code == CellCode::COMPLETED;
                if self.marks.is_loud(here, member) {
                    code = code.with(CellCode::ORIGIN);
                    if cell.entry().is_some() {
                        code = code.with(CellCode::DIFFERS);
                    }
                }
                self.view.cells.push(code.0);
            }
            let op = self.text(Some((Words::Message, message_args(job, message))));
            self.view.index.rows.push(message_number(message), op, agrees);
        }
    }

    /// The place of a row's words among the texts of the index.
    fn text(&mut self, words: Option<(Words, ArgsId)>) -> u32 {
        let (job, rows) = (self.job, &mut self.view.index.rows);
        *self.texts.entry(words).or_insert_with(|| {
            let Some((op, args)) = words else { return rows.add_op(String::new()) };
            let op = match op {
                Words::Collective(name) => job.symbols.strings.get(name),
                Words::Message => "send/recv",
            };
            let sizes = sizes_text(&job.symbols, args);
            rows.add_op(if sizes.is_empty() { op.to_string() } else { format!("{op} {sizes}") })
        })
    }
}

fn message_number(message: &Message) -> RowNumber {
    let [src, dst] = message.ends().map(|end| end.map(|(rank, _)| rank));
    RowNumber::Message { src, dst, nth: message.nth }
}

/// Arguments of a message, by its sender if that is there.
fn message_args(job: &Job, message: &Message) -> ArgsId {
    let end = |rank: u32, cell: Cell| Some(job.head(job.rank_idx(rank)?, cell.entry()?)?.args);
    end(message.src, message.send).or_else(|| end(message.dst, message.recv)).unwrap_or_default()
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

fn somebody_waits(table: &Table, band: &align::Band) -> bool {
    let newest = band.rows().rev().take(64);
    newest.into_iter().any(|row| band.issued(row).any(|(_, rank, entry)| table.progress(rank, entry).is_pending()))
}
