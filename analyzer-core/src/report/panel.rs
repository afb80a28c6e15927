//! One cell in full.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::majority::{Majority, made_call};
use super::{CellCode, CellDetail, OtherSide, PanelFrame, Quality, QualityKind, TableView, ranges, shapes_text};
use crate::align::{Cell, Progress, Table};
use crate::diagnose::Place;
use crate::dump::{Entry, EntryIdx};
use crate::job::{Job, RankIdx};
use crate::symbols::{DtypesId, FrameId, StackId};

/// What the panel says about a cell: a row of the view's index and a global rank.
pub fn cell_detail(job: &Job, table: &Table, view: &TableView, row: u32, rank: u32) -> Option<CellDetail> {
    let place = view.place(row)?;
    let head = view.index.rows.get(row)?;
    let band = table.band(place.group());
    let dump = job.rank_idx(rank);
    let parties: Vec<(u32, Option<RankIdx>, Cell)> = match place {
        Place::Row(group, row) => {
            let members = &job.group(group).members;
            members.iter().zip(band.cells_of(row)).map(|(&member, (_, dump, cell))| (member, dump, cell)).collect()
        }
        Place::Message(group, at) => {
            let ends = band.messages.get(at as usize)?.ends().into_iter().flatten();
            let is_member = |rank: u32| job.group(group).members.binary_search(&rank).is_ok();
            ends.filter(|end| is_member(end.0)).map(|(rank, cell)| (rank, job.rank_idx(rank), cell)).collect()
        }
    };
    let &(_, _, cell) = parties.iter().find(|party| party.0 == rank)?;
    let own = dump.and_then(|dump| Some((dump, cell.entry()?)));
    let code = view.code_at(row, rank)?;

    let mut detail = CellDetail {
        rank,
        row,
        group: job.label(place.group()),
        number: head.number.to_string(),
        op: head.op.split(' ').next().unwrap_or_default().to_string(),
        state: code.name().to_string(),
        ..CellDetail::default()
    };
    let others: Vec<(u32, RankIdx, EntryIdx)> = parties
        .iter()
        .filter(|party| party.0 != rank)
        .filter_map(|&(member, dump, cell)| Some((member, dump?, cell.entry()?)))
        .collect();
    match own {
        Some((dump, at)) => describe_own(job, table, dump, at, &others, &mut detail),
        None => describe_absent(job, dump, cell, &mut detail),
    }
    let other = match place {
        Place::Row(group, row) => {
            let issued = table.band(group).issued(row);
            let majority = Majority::of(issued.map(|(_, rank, entry)| made_call(job, table, rank, entry)));
            other_of_row(job, table, own, &others, majority.as_ref())
        }
        Place::Message(..) => others.first().map(|&(member, dump, entry)| (alloc::vec![member], dump, entry)),
    };
    if let Some((ranks, other_dump, other_entry)) = other {
        // Of a row that is merely not in its dump, a rank's last stack tells nothing.
        let last = || last_stack(job, dump).filter(|_| detail.frames_of_last_op);
        let shown = own.map(|(dump, at)| job.entry(dump, at).stack).or_else(last);
        let theirs = job.entry(other_dump, other_entry);
        let (mine, other_frames) = compare(job, shown.unwrap_or_default(), theirs.stack);
        if !mine.is_empty() {
            detail.frames = mine;
        }
        let args = job.symbols.args.get(theirs.args);
        detail.other = Some(OtherSide {
            ranks: ranges(ranks),
            op: job.op(theirs.op).name.clone(),
            state: state_word(table.progress(other_dump, other_entry)).to_string(),
            input_sizes: shapes_text(&job.symbols, args.input_sizes),
            output_sizes: shapes_text(&job.symbols, args.output_sizes),
            input_dtypes: dtypes_text(job, args.input_dtypes),
            frames: other_frames,
        });
    }
    Some(detail)
}

impl TableView {
    /// The code of a rank's cell in a row of the index.
    pub fn code_at(&self, row: u32, rank: u32) -> Option<CellCode> {
        let after = self.index.bands.partition_point(|band| band.first_row <= row);
        let band = self.index.bands.get(after.checked_sub(1)?)?;
        let at = self.index.cell_at(band, row, self.index.column(rank)?)?;
        self.cells.get(at).map(|&code| CellCode(code))
    }
}

fn describe_own(
    job: &Job,
    table: &Table,
    rank: RankIdx,
    at: EntryIdx,
    others: &[(u32, RankIdx, EntryIdx)],
    detail: &mut CellDetail,
) {
    let entry = job.entry(rank, at);
    let args = job.symbols.args.get(entry.args);
    let progress = table.progress(rank, at);
    detail.op = job.op(entry.op).name.clone();
    detail.input_sizes = shapes_text(&job.symbols, args.input_sizes);
    detail.output_sizes = shapes_text(&job.symbols, args.output_sizes);
    detail.input_dtypes = dtypes_text(job, args.input_dtypes);
    detail.output_dtypes = dtypes_text(job, args.output_dtypes);
    detail.created_ns = entry.created_ns;
    detail.started_ns = entry.started_ns;
    detail.completed_ns = entry.completed_ns;
    detail.duration_ms = entry.duration_ms;
    detail.timeout_ms = entry.timeout_ms;
    detail.thread = job.symbols.strings.get(entry.thread).to_string();
    if progress.is_pending() && entry.created_ns > 0 {
        detail.waiting_ns = job.snapshot_ns.saturating_sub(entry.created_ns).max(0);
    }
    if progress == Progress::Late {
        detail.note = "completed only after its time limit: an abort released it".to_string();
    }
    if let Some(members) = table.blocks.get(rank.0 as usize).and_then(|blocks| blocks.members_of(at)) {
        detail.note = format!("ends a coalesced block of {} operations", members.len());
    }
    let first = others
        .iter()
        .map(|&(member, rank, at)| (job.entry(rank, at).created_ns, member))
        .filter(|item| item.0 > 0)
        .min();
    detail.after_first = first
        .filter(|first| first.0 < entry.created_ns)
        .map(|(created, member)| (member, entry.created_ns.saturating_sub(created)));
    detail.frames = frames(job, entry.stack);
}

fn describe_absent(job: &Job, rank: Option<RankIdx>, cell: Cell, detail: &mut CellDetail) {
    let Some(rank) = rank else {
        detail.note = format!("rank {} left no readable dump: what it did is unknown", detail.rank);
        return;
    };
    if cell == Cell::UNKNOWN {
        let breaks_off = |note: &Quality| note.kind == QualityKind::Truncated && note.rank == Some(detail.rank);
        let why = if job.quality.iter().any(breaks_off) {
            "the dump breaks off, so that it may be lost"
        } else {
            "the ring buffer no longer holds it, or the dump leaves it out"
        };
        detail.note = format!("not recorded: {why}");
        return;
    }
    if cell == Cell::FINISHED {
        detail.note = "finished: the recorder left it out, since it wrote only what was unfinished".to_string();
        return;
    }
    let dump = job.rank(rank);
    let last = (dump.entries.len() as u32).checked_sub(1).map(EntryIdx);
    let Some(last) = last else {
        detail.note = format!("never issued: the dump of rank {} has no operation", detail.rank);
        return;
    };
    let entry: Entry = dump.entries.get(last);
    let group = job.group_of(rank, &entry).map(|group| job.label(group)).unwrap_or_default();
    let row = entry.collective_seq.map(|seq| format!(", row {seq}")).unwrap_or_default();
    detail.note = format!("never issued; last seen in {} of {group}{row}", job.op(entry.op).name);
    detail.frames_of_last_op = true;
    detail.frames = frames(job, entry.stack);
}

fn last_stack(job: &Job, rank: Option<RankIdx>) -> Option<StackId> {
    let dump = job.rank(rank?);
    let last = (dump.entries.len() as u32).checked_sub(1)?;
    Some(dump.entries.get(EntryIdx(last)).stack)
}

/// Those that a cell is compared with: the majority for a cell that differs or is absent, those who differ for a cell of the majority.
fn other_of_row(
    job: &Job,
    table: &Table,
    own: Option<(RankIdx, EntryIdx)>,
    others: &[(u32, RankIdx, EntryIdx)],
    majority: Option<&Majority>,
) -> Option<(Vec<u32>, RankIdx, EntryIdx)> {
    let majority = majority?;
    let site = |rank: RankIdx, at: EntryIdx| job.user_frame(job.entry(rank, at).stack);
    let in_majority = |rank: RankIdx, at: EntryIdx| {
        !majority.differs(job, table, made_call(job, table, rank, at))
            && site(rank, at) == site(majority.rank, majority.entry)
    };
    let own_in_majority = own.is_some_and(|(rank, at)| in_majority(rank, at));
    let picked: Vec<&(u32, RankIdx, EntryIdx)> =
        others.iter().filter(|item| in_majority(item.1, item.2) != own_in_majority).collect();
    let first = picked.first()?;
    Some((picked.iter().map(|item| item.0).collect(), first.1, first.2))
}

fn frames(job: &Job, stack: StackId) -> Vec<PanelFrame> {
    job.symbols.stacks.frames(stack).map(|frame| panel_frame(job, frame)).collect()
}

fn panel_frame(job: &Job, id: FrameId) -> PanelFrame {
    let frame = job.symbols.frames.get(id);
    PanelFrame {
        function: job.symbols.strings.get(frame.function).to_string(),
        file: job.symbols.strings.get(frame.file).to_string(),
        line: frame.line,
        library: job.is_library_frame(&frame),
        ..PanelFrame::default()
    }
}

/// Two stacks with what differs marked, counted from the outermost frame: the programs were the same until they parted.
fn compare(job: &Job, mine: StackId, theirs: StackId) -> (Vec<PanelFrame>, Vec<PanelFrame>) {
    let ids = |stack| job.symbols.stacks.frames(stack).collect::<Vec<FrameId>>();
    let (a, b) = (ids(mine), ids(theirs));
    let common = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let mark = |ids: &[FrameId]| -> Vec<PanelFrame> {
        let parted = ids.len() - common;
        let comparable = !a.is_empty() && !b.is_empty();
        ids.iter()
            .enumerate()
            .map(|(at, &id)| PanelFrame {
                differs: comparable && at < parted,
                first_difference: comparable && at + 1 == parted,
                ..panel_frame(job, id)
            })
            .collect()
    };
    (mark(&a), mark(&b))
}

fn dtypes_text(job: &Job, list: DtypesId) -> String {
    let dtypes: Vec<&str> =
        job.symbols.dtype_lists.get(list).iter().map(|&dtype| job.symbols.strings.get(dtype)).collect();
    match dtypes.as_slice() {
        [first, rest @ ..] if rest.iter().all(|dtype| dtype == first) => first.to_string(),
        _ => dtypes.join(", "),
    }
}

fn state_word(progress: Progress) -> &'static str {
    match progress {
        Progress::Completed | Progress::Late => "completed",
        Progress::Started => "started",
        Progress::Scheduled => "scheduled",
        Progress::Unknown => "unknown",
    }
}
