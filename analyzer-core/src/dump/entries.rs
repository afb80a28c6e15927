//! The entries of a dump, packed.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use super::column::Column;
use super::{Entry, EntryIdx, State};
use crate::symbols::{ArgsId, StackId, StrId, Transfer};

/// What entries have in common that come from one place in the program: everything but their numbers, times and state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHead {
    /// [`Entry::group_ref`].
    pub group_ref: u32,
    /// [`Entry::op`].
    pub op: StrId,
    /// [`Entry::args`].
    pub args: ArgsId,
    /// [`Entry::stack`].
    pub stack: StackId,
    /// [`Entry::thread`].
    pub thread: StrId,
    /// [`Entry::timeout_ms`].
    pub timeout_ms: u32,
}

impl Hash for EntryHead {
    /// Two fields at a time: each step of a hash costs the same, however many bytes it takes in.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut both = |high: u32, low: u32| state.write_u64(u64::from(high) << 32 | u64::from(low));
        both(self.group_ref, self.op.0);
        both(self.args.0, self.stack.0);
        both(self.thread.0, self.timeout_ms);
    }
}

/// Stands for "the file does not say" in the columns of numbers.
pub(super) const ABSENT: u32 = u32::MAX;

/// State and flags of an entry in one byte, and which of its times are there.
#[derive(Clone, Copy)]
pub(super) struct Marks(pub(super) u8);

impl Marks {
    const STATES: [State; 4] = [State::Unknown, State::Scheduled, State::Started, State::Completed];
    const RETIRED: u8 = 1;
    const P2P: u8 = 1 << 1;
    const P2P_KNOWN: u8 = 1 << 2;
    const STARTED: u8 = 1 << 5;
    const COMPLETED: u8 = 1 << 6;

    pub(super) fn of(entry: &Entry) -> Marks {
        let mark = |is_so: bool, mark: u8| if is_so { mark } else { 0 };
        Marks(
            mark(entry.retired, Marks::RETIRED)
                | mark(entry.is_p2p == Some(true), Marks::P2P)
                | mark(entry.is_p2p.is_some(), Marks::P2P_KNOWN)
                | (entry.state as u8) << 3
                | mark(entry.started_ns != 0, Marks::STARTED)
                | mark(entry.completed_ns != 0, Marks::COMPLETED),
        )
    }

    fn state(self) -> State {
        Marks::STATES.get(usize::from(self.0 >> 3 & 3)).copied().unwrap_or_default()
    }

    fn has(self, mark: u8) -> bool {
        self.0 & mark != 0
    }
}

/// The entries of a dump, oldest first, one packed column per field.
///
/// A job has one entry per rank and operation, so an entry costs 15 to 30 bytes here: what repeats is in [`Entries::heads`] and
/// in the symbol tables, and a column takes no more bytes than its numbers need. They are made by [`super::EntryRows`] and do not change.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    pub(super) len: u32,
    pub(super) record_id: Column,
    pub(super) collective_seq: Column,
    pub(super) p2p_seq: Column,
    pub(super) op_id: Column,
    pub(super) created_ns: Column,
    /// Since it was created; 0 for none.
    pub(super) started: Column,
    /// Since it was created; 0 for none.
    pub(super) completed: Column,
    /// The bits of the milliseconds.
    pub(super) duration: Column,
    pub(super) marks: Column,
    /// Place in `heads`.
    pub(super) head: Column,
    pub(super) heads: Vec<EntryHead>,
}

impl Entries {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry at `index`; an empty one when there is none.
    pub fn get(&self, index: EntryIdx) -> Entry {
        let Some(head) = self.head(index) else { return Entry::default() };
        let at = index.0 as usize;
        let number = |column: &Column| Some(column.get(at) as u32).filter(|&number| number != ABSENT);
        let marks = Marks(self.marks.get(at) as u8);
        let created_ns = self.created_ns.get(at);
        let later =
            |mark: u8, column: &Column| if marks.has(mark) { created_ns.wrapping_add(column.get(at)) } else { 0 };
        Entry {
            record_id: number(&self.record_id),
            group_ref: head.group_ref,
            collective_seq: number(&self.collective_seq),
            p2p_seq: number(&self.p2p_seq),
            op_id: number(&self.op_id),
            op: head.op,
            args: head.args,
            stack: head.stack,
            created_ns,
            started_ns: later(Marks::STARTED, &self.started),
            completed_ns: later(Marks::COMPLETED, &self.completed),
            duration_ms: Some(f32::from_bits(self.duration.get(at) as u32)).filter(|ms| !ms.is_nan()),
            timeout_ms: head.timeout_ms,
            thread: head.thread,
            state: marks.state(),
            is_p2p: marks.has(Marks::P2P_KNOWN).then_some(marks.has(Marks::P2P)),
            retired: marks.has(Marks::RETIRED),
        }
    }

    /// What an entry has in common with others; `None` when there is no such entry.
    pub fn head(&self, index: EntryIdx) -> Option<&EntryHead> {
        if index.0 >= self.len {
            return None;
        }
        self.heads.get(self.head.get(index.0 as usize) as usize)
    }

    /// The place of an entry's head in [`Entries::heads`]; `None` when there is no such entry.
    pub fn head_index(&self, index: EntryIdx) -> Option<usize> {
        (index.0 < self.len).then(|| self.head.get(index.0 as usize) as usize)
    }

    /// [`Entry::collective_seq`] and [`Entry::p2p_seq`] of an entry.
    #[inline(always)]
    pub fn seqs(&self, index: EntryIdx) -> (Option<u32>, Option<u32>) {
        if index.0 >= self.len {
            return (None, None);
        }
        let collective_seq = self.collective_seq.get(index.0 as usize) as u32;
        let p2p_seq = self.p2p_seq.get(index.0 as usize) as u32;
        (
            if collective_seq == ABSENT { None } else { Some(collective_seq) },
            if p2p_seq == ABSENT { None } else { Some(p2p_seq) },
        )
    }

    /// [`Entry::created_ns`] of an entry; 0 when there is no such entry.
    pub fn created_at(&self, index: EntryIdx) -> i64 {
        if index.0 < self.len { self.created_ns.get(index.0 as usize) } else { 0 }
    }

    /// When an entry was created, started and completed; 0 for what the file does not say, and when there is no such entry.
    pub fn times(&self, index: EntryIdx) -> [i64; 3] {
        if index.0 >= self.len {
            return [0; 3];
        }
        let at = index.0 as usize;
        let marks = Marks(self.marks.get(at) as u8);
        let created_ns = self.created_ns.get(at);
        let later =
            |mark: u8, column: &Column| if marks.has(mark) { created_ns.wrapping_add(column.get(at)) } else { 0 };
        [created_ns, later(Marks::STARTED, &self.started), later(Marks::COMPLETED, &self.completed)]
    }

    /// Whether it took longer than a limit from when an entry was created until it was completed.
    pub fn is_over(&self, index: EntryIdx, limit_ms: i64) -> bool {
        let is_long = |ns: i64| ns / 1_000_000 > limit_ms;
        index.0 < self.len && is_long(self.completed.get(index.0 as usize)) && {
            let [created_ns, _, completed_ns] = self.times(index);
            created_ns > 0 && is_long(completed_ns.saturating_sub(created_ns))
        }
    }

    /// Calls `visit` for each entry with the place of its head in [`Entries::heads`], [`Entry::state`] and [`Entry::retired`]. Whoever goes through
    /// all entries for a few fields asks for these: twenty million whole entries take seconds.
    #[inline(always)]
    pub fn for_each_state(&self, mut visit: impl FnMut(EntryIdx, usize, State, bool)) {
        self.for_each_head(|at, head| {
            let marks = Marks(self.marks.get(at.0 as usize) as u8);
            visit(at, head, marks.state(), marks.has(Marks::RETIRED));
        });
    }

    /// All distinct heads, in the order in which they come first.
    pub fn heads(&self) -> &[EntryHead] {
        &self.heads
    }

    /// Calls `visit` for each entry with the place of its head in [`Entries::heads`].
    ///
    /// No iterator: in a module that is built for size each step of one calls several functions.
    #[inline(always)]
    pub fn for_each_head(&self, mut visit: impl FnMut(EntryIdx, usize)) {
        let mut at = 0;
        while at < self.len {
            visit(EntryIdx(at), self.head.get(at as usize) as usize);
            at += 1;
        }
    }

    /// When each entry was created; 0 when the file does not say.
    pub fn created_ns(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.len()).map(|at| self.created_ns.get(at))
    }

    /// The newest time of all entries; 0 without any.
    #[inline(never)]
    pub fn newest_ns(&self) -> i64 {
        let mut newest_ns = i64::MIN;
        let mut at = 0;
        while at < self.len() {
            // What is not there is 0 after the creation.
            let created_ns = self.created_ns.get(at);
            let started_ns = created_ns.wrapping_add(self.started.get(at));
            let completed_ns = created_ns.wrapping_add(self.completed.get(at));
            newest_ns = newest_ns.max(created_ns).max(started_ns).max(completed_ns);
            at += 1;
        }
        if self.is_empty() { 0 } else { newest_ns }
    }

    /// All entries in the dump's order.
    pub fn iter(&self) -> impl Iterator<Item = (EntryIdx, Entry)> + '_ {
        (0..self.len).map(|at| (EntryIdx(at), self.get(EntryIdx(at))))
    }

    /// Moves the entries' symbols to other tables.
    pub(crate) fn transfer(&mut self, symbols: &mut Transfer<'_>) {
        for head in &mut self.heads {
            head.op = symbols.string(head.op);
            head.thread = symbols.string(head.thread);
            head.args = symbols.args(head.args);
            head.stack = symbols.stack(head.stack);
        }
    }

    /// All columns, in an order that stays.
    pub(crate) fn columns(&self) -> [&Column; 10] {
        [
            &self.record_id,
            &self.collective_seq,
            &self.p2p_seq,
            &self.op_id,
            &self.created_ns,
            &self.started,
            &self.completed,
            &self.duration,
            &self.marks,
            &self.head,
        ]
    }

    /// The entries of these columns, which are those of [`Entries::columns`].
    pub(crate) fn from_columns(len: u32, columns: [Column; 10], heads: Vec<EntryHead>) -> Entries {
        let [record_id, collective_seq, p2p_seq, op_id, created_ns, started, completed, duration, marks, head] =
            columns;
        Entries {
            len,
            record_id,
            collective_seq,
            p2p_seq,
            op_id,
            created_ns,
            started,
            completed,
            duration,
            marks,
            head,
            heads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::EntryRows;
    use super::*;

    #[test]
    fn every_field_comes_back() {
        let full = Entry {
            record_id: Some(48_001),
            group_ref: 3,
            collective_seq: Some(7),
            p2p_seq: Some(0),
            op_id: Some(9),
            op: StrId(70),
            args: ArgsId(2),
            stack: StackId(5),
            created_ns: 1_795_977_000_000_000_000,
            started_ns: 1_795_977_000_000_100_000,
            completed_ns: 1_795_977_000_000_900_000,
            duration_ms: Some(0.125),
            timeout_ms: 600_000,
            thread: StrId(4),
            state: State::Completed,
            is_p2p: Some(false),
            retired: true,
        };
        let empty = Entry { duration_ms: None, ..Entry::default() };
        let pending = Entry { state: State::Started, completed_ns: 0, is_p2p: Some(true), retired: false, ..full };
        let odd =
            Entry { created_ns: i64::MIN, started_ns: i64::MAX, completed_ns: -1, state: State::Scheduled, ..full };
        let same_moment = Entry { started_ns: full.created_ns, ..full };
        let all = [full, empty, pending, odd, same_moment];
        let mut rows = EntryRows::default();
        all.iter().for_each(|entry| rows.push(entry));
        let entries = rows.pack();
        assert_eq!(entries.iter().map(|(_, entry)| entry).collect::<Vec<_>>(), all);
        assert_eq!(entries.heads().len(), 2);
        assert_eq!(entries.get(EntryIdx(9)), Entry::default());
        let times = all.map(|entry| [entry.created_ns, entry.started_ns, entry.completed_ns]);
        assert_eq!([0, 1, 2, 3, 4].map(|at| entries.times(EntryIdx(at))), times);
        assert_eq!(entries.times(EntryIdx(9)), [0; 3]);
        assert_eq!([0, 1, 2, 4, 9].map(|at| entries.is_over(EntryIdx(at), 0)), [false; 5]);
        assert!(entries.is_over(EntryIdx(0), -1), "it took some time");
        assert!(!entries.is_over(EntryIdx(3), -1), "the clock went back");
        assert_eq!(Some(&entries.newest_ns()), times.as_flattened().iter().max());
        let mut states = Vec::new();
        entries.for_each_state(|at, head, state, retired| states.push((at, Some(head), state, retired)));
        let expected = (0..).map(EntryIdx).zip(all);
        let expected = expected.map(|(at, entry)| (at, entries.head_index(at), entry.state, entry.retired));
        assert_eq!(states, expected.collect::<Vec<_>>());
    }
}
