//! What a file that breaks off still tells.

use alloc::vec::Vec;

use super::super::keys;
use super::super::value::Value;
use super::sink::{DumpParts, Sink};
use crate::symbols::StrId;

impl Sink {
    /// Finds the dumps in what stood on the value stack when the file broke off.
    ///
    /// Entries and whole dumps are in the columns already. What is left is to look for their neighbours: keys of a dump's top level
    /// with their values, and the keys under which dumps, groups and statuses would have been filed. Answers with the dumps that were
    /// read to their end and are not part of something larger, and stores the one that was not as the last of all.
    pub(super) fn salvage(&mut self, stack: &[Value]) -> Vec<u32> {
        let mut found = Vec::new();
        let mut partial = DumpParts { truncated: true, ..DumpParts::default() };
        let mut seen: keys::WordSet = 0;
        for (at, &value) in stack.iter().enumerate() {
            let key = at.checked_sub(1).and_then(|before| stack.get(before)).copied().unwrap_or(Value::None);
            match value {
                Value::Dump(index) => {
                    self.rank_dump(index, key);
                    self.take_dumps(index, index + 1, &mut found);
                }
                Value::Dumps { start, end, .. } => self.take_dumps(start, end, &mut found),
                Value::Group(index) => self.name_group(index, key),
                Value::Status(index) => self.number_status(index, key),
                Value::Dict { .. } => {
                    // A dump under its rank in a bundle: the rank, the open dict, the first key of a dump.
                    let starts_dump = matches!(stack.get(at + 1), Some(Value::Str(next)) if is_top_key(*next));
                    if starts_dump && partial.rank.is_none() && matches!(key, Value::Str(_) | Value::Int(_)) {
                        partial.rank = self.rank_of(key);
                    }
                }
                _ => {}
            }
            let Value::Str(key) = key else { continue };
            let first = seen & keys::bit(key.0) == 0;
            seen |= keys::bit(key.0);
            match key.0 {
                keys::VERSION | keys::COMM_LIB_VERSION | keys::NCCL_VERSION
                    if first && matches!(value, Value::Str(_)) =>
                {
                    self.dump_field(&mut partial, key, value);
                }
                keys::RANK if first && partial.rank.is_none() => partial.rank = self.rank_of(value),
                keys::ENTRIES => partial.has_entries_key = true,
                _ => {}
            }
        }
        // Whatever no whole dump has is the broken one's.
        let rows = self.entries.len() as u32;
        let (groups, statuses) = (self.groups.len() as u32, self.statuses.len() as u32);
        partial.entries = (self.claimed_rows.min(rows), rows);
        partial.groups = (self.claimed_groups.min(groups), groups);
        partial.statuses = (self.claimed_statuses.min(statuses), statuses);
        partial.unknown_keys = core::mem::take(&mut self.unknown_keys);
        let has = |(start, end): (u32, u32)| start < end;
        let has_rows = has(partial.entries);
        partial.has_entries_key |= has_rows;
        if has_rows || has(partial.groups) || has(partial.statuses) || seen & keys::DUMP != 0 {
            found.push(self.dumps.len() as u32);
            self.dumps.push(partial);
        } else if let [only] = *found {
            // The dump was all there but for the very end of the file.
            if let Some(dump) = self.dumps.get_mut(only as usize) {
                dump.truncated = true;
            }
        }
        found
    }

    /// Gives out the dumps of a range, each once.
    pub(super) fn take_dumps(&mut self, start: u32, end: u32, found: &mut Vec<u32>) {
        if self.dumps.get(start as usize).is_none_or(|first| first.taken) {
            return;
        }
        for index in start..end {
            if let Some(dump) = self.dumps.get_mut(index as usize)
                && !core::mem::replace(&mut dump.taken, true)
            {
                found.push(index);
            }
        }
    }
}

fn is_top_key(key: StrId) -> bool {
    matches!(
        key.0,
        keys::VERSION
            | keys::ENTRIES
            | keys::PG_CONFIG
            | keys::PG_STATUS
            | keys::COMM_LIB_VERSION
            | keys::NCCL_VERSION
            | keys::NCCL_COMM_STATE
            | keys::RANK
            | keys::HOST_NAME
    )
}
