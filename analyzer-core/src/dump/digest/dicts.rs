//! Dicts: by their keys they are an entry, a frame, a group, a dump, ….

use alloc::format;
use alloc::string::String;

use super::super::value::{NOWHERE, Value};
use super::super::{FaultKind, keys};
use super::sink::{DumpParts, GroupParts, Sink, StatusParts};
use crate::symbols::{Frame, StrId};

impl Sink {
    /// What a dict of these pairs is.
    pub(in super::super) fn dict(&mut self, pairs: &[[Value; 2]]) -> Value {
        if pairs.is_empty() {
            return Value::EMPTY_DICT;
        }
        for &[key, _] in pairs {
            let Value::Str(key) = key else { continue };
            // No kind of dict has a key that tells another kind, so the first one that tells is enough.
            match keys::kind_of(key.0) {
                None => {}
                Some(keys::Kind::Entry) => return self.entry(pairs),
                Some(keys::Kind::Frame) => return self.frame(pairs),
                Some(keys::Kind::Dump) => return self.dump(pairs),
                Some(keys::Kind::Group) => return self.group(pairs),
                Some(keys::Kind::Status) => return self.status(pairs),
            }
        }
        self.dict_of_values(pairs)
    }

    /// Adds pairs to a dict that has some already.
    pub(in super::super) fn extend_dict(&mut self, dict: Value, pairs: &[[Value; 2]]) -> Value {
        match dict {
            Value::Groups { slot, start, end } => self.add_groups(slot, (start, end), pairs),
            Value::Statuses { slot, start, end } => self.add_statuses(slot, (start, end), pairs),
            Value::Dumps { slot, start, end } => self.add_ranks(slot, (start, end), pairs),
            _ => Value::Opaque,
        }
    }

    /// A dict whose keys are data: its values tell what it is.
    fn dict_of_values(&mut self, pairs: &[[Value; 2]]) -> Value {
        let slot = NOWHERE;
        let telling = pairs
            .iter()
            .map(|&[_, value]| value)
            .find(|value| matches!(value, Value::Group(_) | Value::Status(_) | Value::Dump(_) | Value::Dumps { .. }));
        match telling {
            Some(Value::Group(first)) => self.add_groups(slot, (first, first), pairs),
            Some(Value::Status(first)) => self.add_statuses(slot, (first, first), pairs),
            Some(Value::Dump(first)) => self.add_ranks(slot, (first, first), pairs),
            // Something around the bundle, such as `{"result": {rank: dump}}`.
            Some(Value::Dumps { start, end, .. }) => Value::Dumps { slot, start, end },
            _ => Value::Opaque,
        }
    }

    fn frame(&mut self, pairs: &[[Value; 2]]) -> Value {
        let mut frame = Frame::default();
        for &[key, value] in pairs {
            match key {
                Value::Str(StrId(keys::NAME)) => frame.function = self.text(keys::NAME, value),
                Value::Str(StrId(keys::FILENAME)) => frame.file = self.text(keys::FILENAME, value),
                Value::Str(StrId(keys::LINE)) => {
                    // C++ frames have line 0; a few writers say -1 for the same.
                    frame.line = self.int(keys::LINE, value).and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
                }
                _ => {}
            }
        }
        Value::Frame(self.symbols.frames.intern(frame))
    }

    fn group(&mut self, pairs: &[[Value; 2]]) -> Value {
        let mut group = GroupParts { name: None, desc: StrId::EMPTY, ranks: Value::None };
        for &[key, value] in pairs {
            match key {
                Value::Str(StrId(keys::NAME)) => group.name = Some(self.text(keys::NAME, value)),
                Value::Str(StrId(keys::DESC)) => group.desc = self.text(keys::DESC, value),
                Value::Str(StrId(keys::RANKS)) => group.ranks = value,
                _ => {}
            }
        }
        self.groups.push(group);
        Value::Group(self.groups.len() as u32 - 1)
    }

    fn status(&mut self, pairs: &[[Value; 2]]) -> Value {
        let mut status = StatusParts { pg_id: None, last_enqueued: -1, last_started: -1, last_completed: -1 };
        for &[key, value] in pairs {
            let Value::Str(StrId(key)) = key else { continue };
            let field = match key {
                keys::LAST_ENQUEUED => &mut status.last_enqueued,
                keys::LAST_STARTED => &mut status.last_started,
                keys::LAST_COMPLETED => &mut status.last_completed,
                keys::PG_ID => {
                    status.pg_id = self.int(key, value);
                    continue;
                }
                _ => continue,
            };
            *field = self.int(key, value).unwrap_or(-1);
        }
        self.statuses.push(status);
        Value::Status(self.statuses.len() as u32 - 1)
    }

    fn dump(&mut self, pairs: &[[Value; 2]]) -> Value {
        if self.dumps.len() >= self.max_dumps {
            let count = self.dumps.len();
            self.stop(format!("there are more than {count} dumps in a file of this size; reading stopped here"));
            return Value::Opaque;
        }
        let says_dump = pairs.iter().any(|[key, value]| match key {
            // Other programs' data have lists called "entries", too.
            Value::Str(StrId(keys::ENTRIES)) => {
                matches!(value, Value::Entries { .. } | Value::List { .. } | Value::None)
            }
            Value::Str(StrId(keys::PG_CONFIG | keys::PG_STATUS)) => true,
            _ => false,
        });
        if !says_dump {
            return Value::Opaque;
        }
        let mut dump = DumpParts::default();
        let unknown_in_entries = core::mem::take(&mut self.unknown_keys);
        for &[key, value] in pairs {
            let Value::Str(key) = key else { continue };
            self.dump_field(&mut dump, key, value);
        }
        for key in unknown_in_entries {
            self.note_unknown_key(key);
        }
        dump.unknown_keys = core::mem::take(&mut self.unknown_keys);
        self.dumps.push(dump);
        Value::Dump(self.dumps.len() as u32 - 1)
    }

    /// Takes over one pair of a dump's top level.
    pub(super) fn dump_field(&mut self, dump: &mut DumpParts, key: StrId, value: Value) {
        match key.0 {
            keys::VERSION => dump.version = self.text(keys::VERSION, value),
            keys::COMM_LIB_VERSION | keys::NCCL_VERSION => dump.comm_lib_version = self.text(key.0, value),
            keys::RANK => dump.rank = self.rank_of(value),
            keys::HOST_NAME => {}
            keys::ENTRIES => {
                dump.has_entries_key = true;
                match value {
                    Value::Entries { start, end, .. } => self.claim_rows(dump, start, end),
                    Value::List { .. } | Value::None => {}
                    other => self.unexpected(keys::ENTRIES, "a list of entries", other),
                }
            }
            keys::PG_CONFIG => match value {
                Value::Groups { start, end, .. } => {
                    dump.groups = (start, end);
                    self.claimed_groups = self.claimed_groups.max(end);
                }
                Value::Dict { .. } | Value::None => {}
                other => self.unexpected(keys::PG_CONFIG, "a dict of process groups", other),
            },
            keys::PG_STATUS => match value {
                Value::Statuses { start, end, .. } => {
                    dump.statuses = (start, end);
                    self.claimed_statuses = self.claimed_statuses.max(end);
                }
                Value::Dict { .. } | Value::None => {}
                other => self.unexpected(keys::PG_STATUS, "a dict of statuses", other),
            },
            _ if keys::is_comm_state(key, &self.symbols.strings) => {}
            _ => self.note_unknown_key(key),
        }
    }

    /// Gives rows to a dump. They go to one dump only, or a small file could ask for many copies of them.
    pub(super) fn claim_rows(&mut self, dump: &mut DumpParts, start: u32, end: u32) {
        if start < self.claimed_rows {
            self.fault(
                FaultKind::UnexpectedValue,
                String::from("two dumps of the file share one list of entries; only the first has it"),
            );
            return;
        }
        dump.entries = (start, end);
        self.claimed_rows = end;
    }

    fn add_groups(&mut self, slot: u32, (start, mut end): (u32, u32), pairs: &[[Value; 2]]) -> Value {
        for &[key, value] in pairs {
            let Value::Group(index) = value else {
                self.unexpected(keys::PG_CONFIG, "a dict of process groups", value);
                continue;
            };
            self.name_group(index, key);
            if index == end {
                end += 1;
            } else {
                self.unexpected(keys::PG_CONFIG, "a dict of different process groups", value);
            }
        }
        Value::Groups { slot, start, end }
    }

    /// A group without a name of its own has its key in `pg_config`.
    pub(super) fn name_group(&mut self, index: u32, key: Value) {
        let name = match key {
            Value::Str(name) => name,
            Value::Int(_) => self.text(keys::NAME, key),
            _ => return,
        };
        if let Some(group) = self.groups.get_mut(index as usize) {
            group.name.get_or_insert(name);
        }
    }

    fn add_statuses(&mut self, slot: u32, (start, mut end): (u32, u32), pairs: &[[Value; 2]]) -> Value {
        for &[key, value] in pairs {
            let Value::Status(index) = value else {
                self.unexpected(keys::PG_STATUS, "a dict of statuses", value);
                continue;
            };
            self.number_status(index, key);
            if index == end {
                end += 1;
            } else {
                self.unexpected(keys::PG_STATUS, "a dict of different statuses", value);
            }
        }
        Value::Statuses { slot, start, end }
    }

    /// The key of a status is the group's number.
    pub(super) fn number_status(&mut self, index: u32, key: Value) {
        let pg_id = self.int(keys::PG_STATUS, key);
        if let Some(status) = self.statuses.get_mut(index as usize) {
            status.pg_id = status.pg_id.or(pg_id);
        }
    }

    /// The keys of a bundle are ranks.
    fn add_ranks(&mut self, slot: u32, range: (u32, u32), pairs: &[[Value; 2]]) -> Value {
        let (start, mut end) = range;
        for &[key, value] in pairs {
            let Value::Dump(index) = value else { continue };
            self.rank_dump(index, key);
            if let Value::Dumps { end: new_end, .. } = self.add_dumps(slot, (start, end), &[value]) {
                end = new_end;
            }
        }
        Value::Dumps { slot, start, end }
    }

    /// The key of a dump in a bundle goes before what the dump itself says.
    pub(super) fn rank_dump(&mut self, index: u32, key: Value) {
        let Some(rank) = self.rank_of(key) else { return };
        if let Some(dump) = self.dumps.get_mut(index as usize) {
            dump.rank = Some(rank);
        }
    }
}
