//! Entries on their way from a file to packed columns.

use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashMap;

use super::column::Column;
use super::entries::{Entries, EntryHead, Marks};
use super::{Entry, EntryIdx, State};
use crate::small_sort::sorted_places;
use crate::symbols::{ArgsId, StackId, StrId};

/// Entries while they are put together: one column per field, so that rows can be added and put in order. [`EntryRows::pack`] makes
/// [`Entries`] of them.
#[derive(Clone, Debug, Default)]
pub struct EntryRows {
    record_id: Vec<u32>,
    group_ref: Vec<u32>,
    collective_seq: Vec<u32>,
    p2p_seq: Vec<u32>,
    op_id: Vec<u32>,
    op: Vec<StrId>,
    args: Vec<ArgsId>,
    stack: Vec<StackId>,
    created_ns: Vec<i64>,
    started_ns: Vec<i64>,
    completed_ns: Vec<i64>,
    duration_ms: Vec<f32>,
    timeout_ms: Vec<u32>,
    thread: Vec<StrId>,
    state: Vec<State>,
    flags: Vec<u8>,
}

pub(super) const RETIRED: u8 = 1;
pub(super) const P2P: u8 = 2;
pub(super) const P2P_KNOWN: u8 = 4;
/// Stands for "the file does not say" in the columns of numbers.
pub(super) const ABSENT: u32 = u32::MAX;

impl EntryRows {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.state.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// Appends an entry.
    pub fn push(&mut self, entry: &Entry) {
        self.record_id.push(entry.record_id.unwrap_or(ABSENT));
        self.group_ref.push(entry.group_ref);
        self.collective_seq.push(entry.collective_seq.unwrap_or(ABSENT));
        self.p2p_seq.push(entry.p2p_seq.unwrap_or(ABSENT));
        self.op_id.push(entry.op_id.unwrap_or(ABSENT));
        self.op.push(entry.op);
        self.args.push(entry.args);
        self.stack.push(entry.stack);
        self.created_ns.push(entry.created_ns);
        self.started_ns.push(entry.started_ns);
        self.completed_ns.push(entry.completed_ns);
        self.duration_ms.push(entry.duration_ms.unwrap_or(f32::NAN));
        self.timeout_ms.push(entry.timeout_ms);
        self.thread.push(entry.thread);
        self.state.push(entry.state);
        let mut flags = 0;
        if entry.retired {
            flags |= RETIRED;
        }
        if let Some(is_p2p) = entry.is_p2p {
            flags |= P2P_KNOWN | if is_p2p { P2P } else { 0 };
        }
        self.flags.push(flags);
    }

    /// The entry at `index`; an empty one when there is none.
    pub fn get(&self, index: EntryIdx) -> Entry {
        let at = index.0 as usize;
        if at >= self.len() {
            return Entry::default();
        }
        let known = |value: u32| (value != ABSENT).then_some(value);
        let flags = self.flags[at];
        Entry {
            record_id: known(self.record_id[at]),
            group_ref: self.group_ref[at],
            collective_seq: known(self.collective_seq[at]),
            p2p_seq: known(self.p2p_seq[at]),
            op_id: known(self.op_id[at]),
            op: self.op[at],
            args: self.args[at],
            stack: self.stack[at],
            created_ns: self.created_ns[at],
            started_ns: self.started_ns[at],
            completed_ns: self.completed_ns[at],
            duration_ms: Some(self.duration_ms[at]).filter(|ms| !ms.is_nan()),
            timeout_ms: self.timeout_ms[at],
            thread: self.thread[at],
            state: self.state[at],
            is_p2p: (flags & P2P_KNOWN != 0).then_some(flags & P2P != 0),
            retired: flags & RETIRED != 0,
        }
    }

    /// Forgets all rows outside of a range.
    pub(super) fn keep(&mut self, rows: Range<usize>) {
        fn cut<T>(column: &mut Vec<T>, rows: &Range<usize>) {
            column.truncate(rows.end);
            column.drain(..rows.start.min(column.len()));
        }
        cut(&mut self.record_id, &rows);
        cut(&mut self.group_ref, &rows);
        cut(&mut self.collective_seq, &rows);
        cut(&mut self.p2p_seq, &rows);
        cut(&mut self.op_id, &rows);
        cut(&mut self.op, &rows);
        cut(&mut self.args, &rows);
        cut(&mut self.stack, &rows);
        cut(&mut self.created_ns, &rows);
        cut(&mut self.started_ns, &rows);
        cut(&mut self.completed_ns, &rows);
        cut(&mut self.duration_ms, &rows);
        cut(&mut self.timeout_ms, &rows);
        cut(&mut self.thread, &rows);
        cut(&mut self.state, &rows);
        cut(&mut self.flags, &rows);
    }

    /// Puts the entries in the order of their record ids where all have one; equal ids keep the order of the file.
    ///
    /// Recorders write them so; files that other programs saved again need not be.
    pub fn sort_by_record_id(&mut self) {
        if self.record_id.is_sorted() || self.record_id.contains(&ABSENT) {
            return;
        }
        let order = sorted_places(self.len(), &|a, b| self.record_id[a].cmp(&self.record_id[b]));
        fn apply<T: Copy>(order: &[usize], column: &mut Vec<T>) {
            *column = order.iter().map(|&at| column[at]).collect();
        }
        apply(&order, &mut self.record_id);
        apply(&order, &mut self.group_ref);
        apply(&order, &mut self.collective_seq);
        apply(&order, &mut self.p2p_seq);
        apply(&order, &mut self.op_id);
        apply(&order, &mut self.op);
        apply(&order, &mut self.args);
        apply(&order, &mut self.stack);
        apply(&order, &mut self.created_ns);
        apply(&order, &mut self.started_ns);
        apply(&order, &mut self.completed_ns);
        apply(&order, &mut self.duration_ms);
        apply(&order, &mut self.timeout_ms);
        apply(&order, &mut self.thread);
        apply(&order, &mut self.state);
        apply(&order, &mut self.flags);
    }

    /// The rows in as few bytes as they need.
    pub fn pack(&self) -> Entries {
        let mut heads: Vec<EntryHead> = Vec::new();
        let mut index: HashMap<EntryHead, u32> = HashMap::new();
        let mut values: Vec<i64> = Vec::with_capacity(self.len());
        for at in 0..self.len() {
            let head = EntryHead {
                group_ref: self.group_ref[at],
                op: self.op[at],
                args: self.args[at],
                stack: self.stack[at],
                thread: self.thread[at],
                timeout_ms: self.timeout_ms[at],
            };
            let next = heads.len() as u32;
            let place = *index.entry(head).or_insert_with(|| {
                heads.push(head);
                next
            });
            values.push(i64::from(place));
        }
        heads.shrink_to_fit();
        let head = Column::of(&values);
        let mut column = |value: &dyn Fn(usize) -> i64| {
            values.clear();
            values.extend((0..self.len()).map(value));
            Column::of(&values)
        };
        // Later times lie near the first one, so that the distance takes fewer bytes.
        let since = |ns: i64, from: i64| if ns == 0 { 0 } else { ns.wrapping_sub(from) };
        Entries {
            len: self.len() as u32,
            record_id: column(&|at| i64::from(self.record_id[at])),
            collective_seq: column(&|at| i64::from(self.collective_seq[at])),
            p2p_seq: column(&|at| i64::from(self.p2p_seq[at])),
            op_id: column(&|at| i64::from(self.op_id[at])),
            created_ns: column(&|at| self.created_ns[at]),
            started: column(&|at| since(self.started_ns[at], self.created_ns[at])),
            completed: column(&|at| since(self.completed_ns[at], self.created_ns[at])),
            duration: column(&|at| i64::from(self.duration_ms[at].to_bits())),
            marks: column(&|at| {
                let (started, completed) = (self.started_ns[at] != 0, self.completed_ns[at] != 0);
                i64::from(Marks::of(self.state[at], self.flags[at], started, completed).0)
            }),
            head,
            heads,
        }
    }
}
