//! Entries on their way from a file to packed columns.

use alloc::vec::Vec;
use core::hash::BuildHasher as _;
use core::ops::Range;

use hashbrown::DefaultHashBuilder;

use super::column::Column;
use super::entries::{ABSENT, Entries, EntryHead, Marks};
use super::{Entry, EntryIdx};
use crate::small_sort::sorted_places;
use crate::symbols::TableIndex;

/// Entries while they are put together, so that some can be added and all put in order. [`EntryRows::pack`] makes [`Entries`] of them.
#[derive(Clone, Debug, Default)]
pub struct EntryRows {
    /// Whole ones: a column for each field would have to grow as often as there are fields.
    rows: Vec<Entry>,
}

impl EntryRows {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends an entry.
    pub fn push(&mut self, entry: &Entry) {
        self.rows.push(*entry);
    }

    /// The entry at `index`; an empty one when there is none.
    pub fn get(&self, index: EntryIdx) -> Entry {
        self.rows.get(index.0 as usize).copied().unwrap_or_default()
    }

    /// Forgets all rows outside of a range.
    pub(super) fn keep(&mut self, rows: Range<usize>) {
        self.rows.truncate(rows.end);
        self.rows.drain(..rows.start.min(self.rows.len()));
    }

    /// Puts the entries in the order of their record ids where all have one; equal ids keep the order of the file.
    ///
    /// Recorders write them so; files that other programs saved again need not be.
    pub fn sort_by_record_id(&mut self) {
        let rows = &self.rows;
        if rows.is_sorted_by_key(|entry| entry.record_id) || rows.iter().any(|entry| entry.record_id.is_none()) {
            return;
        }
        let order = sorted_places(rows.len(), &|a, b| rows[a].record_id.cmp(&rows[b].record_id));
        self.rows = order.iter().map(|&at| rows[at]).collect();
    }

    /// The rows in as few bytes as they need.
    pub fn pack(&self) -> Entries {
        let mut values: Vec<i64> = Vec::with_capacity(self.len());
        let heads = self.heads(&mut values);
        let head = Column::of(&values);
        let mut column = |value: &dyn Fn(&Entry) -> i64| {
            values.clear();
            values.extend(self.rows.iter().map(value));
            Column::of(&values)
        };
        let id = |id: Option<u32>| i64::from(id.unwrap_or(ABSENT));
        // Later times lie near the first one, so that the distance takes fewer bytes.
        let since = |ns: i64, from: i64| if ns == 0 { 0 } else { ns.wrapping_sub(from) };
        Entries {
            len: self.len() as u32,
            record_id: column(&|entry| id(entry.record_id)),
            collective_seq: column(&|entry| id(entry.collective_seq)),
            p2p_seq: column(&|entry| id(entry.p2p_seq)),
            op_id: column(&|entry| id(entry.op_id)),
            created_ns: column(&|entry| entry.created_ns),
            started: column(&|entry| since(entry.started_ns, entry.created_ns)),
            completed: column(&|entry| since(entry.completed_ns, entry.created_ns)),
            duration: column(&|entry| i64::from(entry.duration_ms.unwrap_or(f32::NAN).to_bits())),
            marks: column(&|entry| i64::from(Marks::of(entry).0)),
            head,
            heads,
        }
    }

    /// All distinct heads, and to `places` the place of each row's.
    fn heads(&self, places: &mut Vec<i64>) -> Vec<EntryHead> {
        let mut heads: Vec<EntryHead> = Vec::new();
        let mut index = TableIndex::default();
        let hasher = DefaultHashBuilder::default();
        // The head that came behind each one the last time: what follows is the same in each step of a training loop.
        let mut followers: Vec<u32> = Vec::new();
        let mut before = 0;
        for entry in &self.rows {
            let head = EntryHead {
                group_ref: entry.group_ref,
                op: entry.op,
                args: entry.args,
                stack: entry.stack,
                thread: entry.thread,
                timeout_ms: entry.timeout_ms,
            };
            let mut place = followers.get(before).copied().unwrap_or(0);
            if heads.get(place as usize) != Some(&head) {
                let hash = hasher.hash_one(head);
                let known = index.find(hash, |at| heads.get(at as usize) == Some(&head));
                place = known.unwrap_or_else(|| {
                    heads.push(head);
                    followers.push(0);
                    let new = heads.len() as u32 - 1;
                    index.insert(hash, new, &|at| hasher.hash_one(heads[at as usize]));
                    new
                });
                if let Some(follower) = followers.get_mut(before) {
                    *follower = place;
                }
            }
            before = place as usize;
            places.push(i64::from(place));
        }
        heads.shrink_to_fit();
        heads
    }
}
