//! The part of a bundle's columns and symbols that one of its dumps has.

use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashMap;

use super::super::{EntryIdx, EntryRows, GroupRef};
use super::sink::Sink;
use crate::symbols::{StrId, Symbols, Transfer};

impl Sink {
    /// Copies rows and the symbols that they use. `None` when the file asks for too many copies.
    pub(super) fn share(&mut self, rows: Range<usize>) -> Option<(EntryRows, Vec<GroupRef>, Symbols)> {
        let mut to = Symbols::default();
        let mut copy = Transfer::new(&self.symbols, &mut to);
        let mut entries = EntryRows::default();
        let mut group_refs = Vec::new();
        let mut refs: HashMap<u32, u32> = HashMap::new();
        for row in rows {
            let mut entry = self.entries.get(EntryIdx(row as u32));
            entry.op = copy.string(entry.op);
            entry.thread = copy.string(entry.thread);
            entry.args = copy.args(entry.args);
            entry.stack = copy.stack(entry.stack);
            let known = refs.get(&entry.group_ref).copied();
            let group_ref = known.unwrap_or_else(|| {
                let group = self.group_refs.get(entry.group_ref as usize).copied();
                let group = group.unwrap_or(GroupRef { pg_id: None, name: StrId::EMPTY, desc: StrId::EMPTY });
                group_refs.push(GroupRef { name: copy.string(group.name), desc: copy.string(group.desc), ..group });
                group_refs.len() as u32 - 1
            });
            if known.is_none() {
                refs.insert(entry.group_ref, group_ref);
            }
            entry.group_ref = group_ref;
            entries.push(&entry);
        }
        let cost = copy.cost();
        self.spend(cost).then_some((entries, group_refs, to))
    }
}
