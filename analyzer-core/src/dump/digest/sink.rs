//! Where the values of a file go.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::super::float_text::text_of_float;
use super::super::keys;
use super::super::value::Value;
use super::super::{EntryRows, Fault, FaultKind, GroupRef};
use crate::symbols::{ShapeId, SliceTable, StackId, StrId, Symbols};

/// Faults of one file that are kept. A file that has more of them is broken in some other way than they tell.
const MAX_FAULTS: usize = 100;
/// Unknown keys of one dump that are kept.
pub(super) const MAX_UNKNOWN_KEYS: usize = 100;
/// Longest text that is looked at as a number or as a rank.
pub(super) const MAX_NUMBER_LEN: usize = 64;

/// An item of `pg_config` as it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupParts {
    pub(super) name: Option<StrId>,
    pub(super) desc: StrId,
    pub(super) ranks: Value,
}

/// An item of `pg_status` as it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusParts {
    pub(super) pg_id: Option<i64>,
    pub(super) last_enqueued: i64,
    pub(super) last_started: i64,
    pub(super) last_completed: i64,
}

/// A dump as it was read: ranges of the file's columns and lists.
#[derive(Clone, Debug, Default)]
pub(super) struct DumpParts {
    pub(super) rank: Option<u32>,
    pub(super) version: StrId,
    pub(super) comm_lib_version: StrId,
    pub(super) has_entries_key: bool,
    pub(super) truncated: bool,
    pub(super) entries: (u32, u32),
    pub(super) groups: (u32, u32),
    pub(super) statuses: (u32, u32),
    pub(super) unknown_keys: Vec<StrId>,
    /// Whether it was already given out; a file can name it again.
    pub(super) taken: bool,
}

/// Everything that was read from one document: one dump, or a bundle of them.
#[derive(Debug)]
pub(in super::super) struct Sink {
    pub(in super::super) symbols: Symbols,
    pub(super) entries: EntryRows,
    pub(super) group_refs: Vec<GroupRef>,
    pub(super) groups: Vec<GroupParts>,
    pub(super) statuses: Vec<StatusParts>,
    pub(super) dumps: Vec<DumpParts>,
    /// Rows, groups and statuses below these belong to a dump that was read to its end.
    pub(super) claimed_rows: u32,
    pub(super) claimed_groups: u32,
    pub(super) claimed_statuses: u32,
    pub(super) unknown_keys: Vec<StrId>,
    pub(super) stack_cache: StackCache,
    pub(super) scratch: Scratch,
    pub(super) group_ref_index: HashMap<GroupRef, u32>,
    pub(super) last_group_ref: Option<(GroupRef, u32)>,
    /// Handles of dtypes by those of lists of codes.
    pub(super) dtypes_of_codes: HashMap<u32, u32>,
    /// Where the reader is; goes into faults.
    pub(in super::super) offset: Option<u64>,
    pub(in super::super) faults: Vec<Fault>,
    /// Set when the file asks for more than a file of its size can need: reading ends.
    pub(in super::super) stop: Option<Fault>,
    /// Words about which a fault was already written.
    faulted: keys::WordSet,
    pub(super) max_rows: usize,
    pub(super) max_dumps: usize,
    budget: usize,
}

/// The stacks of this file by the whole list of their frames: most entries have a stack that was seen before.
#[derive(Debug, Default)]
pub(super) struct StackCache {
    /// Handles of frames as bare numbers, which are compared and hashed as bytes.
    pub(super) lists: SliceTable<u32>,
    pub(super) stacks: Vec<StackId>,
}

/// Buffers that are used again and again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) frames: Vec<u32>,
    pub(super) ints: Vec<i64>,
    pub(super) shapes: Vec<ShapeId>,
    pub(super) strs: Vec<StrId>,
}

impl Sink {
    /// An empty sink for a document of `size` bytes. All limits follow from that size.
    pub(in super::super) fn new(size: usize) -> Sink {
        let mut symbols = Symbols::default();
        keys::intern_words(&mut symbols.strings);
        Sink {
            symbols,
            entries: EntryRows::default(),
            group_refs: Vec::new(),
            groups: Vec::new(),
            statuses: Vec::new(),
            dumps: Vec::new(),
            claimed_rows: 0,
            claimed_groups: 0,
            claimed_statuses: 0,
            unknown_keys: Vec::new(),
            stack_cache: StackCache::default(),
            scratch: Scratch::default(),
            group_ref_index: HashMap::new(),
            last_group_ref: None,
            dtypes_of_codes: HashMap::new(),
            offset: None,
            faults: Vec::new(),
            stop: None,
            faulted: 0,
            // The shortest entry that says anything takes about this much, in any encoding.
            max_rows: 4096 + size / 16,
            max_dumps: 64 + size / 128,
            budget: (4 << 20) + size.saturating_mul(8),
        }
    }

    /// Notes that something was wrong.
    pub(super) fn fault(&mut self, kind: FaultKind, message: String) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault { kind, offset: self.offset, message });
        }
    }

    /// Notes once per file and key that a value has the wrong type.
    #[cold]
    pub(super) fn unexpected(&mut self, key: u32, expected: &str, found: Value) {
        if self.faulted & keys::bit(key) != 0 {
            return;
        }
        self.faulted |= keys::bit(key);
        let found = match found {
            Value::Int(number) => format!("{number}"),
            Value::Float(number) => text_of_float(number),
            Value::Str(id) => {
                let text = self.symbols.strings.get(id);
                let short: String = text.chars().take(40).collect();
                let dots = if short.len() < text.len() { "…" } else { "" };
                format!("the text {short:?}{dots}")
            }
            other => other.describe().to_string(),
        };
        let key = keys::text(key);
        self.fault(
            FaultKind::UnexpectedValue,
            format!(
                "`{key}` should be {expected}, found {found}; it counts as absent, here and wherever else it is so"
            ),
        );
    }

    /// Ends the reading: the file is not what a recorder writes.
    #[cold]
    pub(super) fn stop(&mut self, message: String) {
        if self.stop.is_none() {
            self.stop = Some(Fault { kind: FaultKind::Malformed, offset: self.offset, message });
        }
    }

    /// Accounts for work and memory that a file can ask for again and again with a few bytes. False when it asked for too much.
    pub(super) fn spend(&mut self, cost: usize) -> bool {
        match self.budget.checked_sub(cost) {
            Some(left) => {
                self.budget = left;
                true
            }
            None => {
                self.stop(String::from(
                    "large values are used again and again, which no recorder does; what comes after that is left out",
                ));
                false
            }
        }
    }

    /// Remembers a key that is not known.
    pub(super) fn note_unknown_key(&mut self, key: StrId) {
        if self.unknown_keys.len() < MAX_UNKNOWN_KEYS && !self.unknown_keys.contains(&key) {
            self.unknown_keys.push(key);
        }
    }

    /// The rank that a key of a bundle or the value of `rank` means.
    pub(super) fn rank_of(&self, value: Value) -> Option<u32> {
        match value {
            Value::Int(number) => u32::try_from(number).ok(),
            Value::Str(id) => {
                let text = self.symbols.strings.get(id).trim();
                if text.len() > MAX_NUMBER_LEN * 16 {
                    return None;
                }
                let says_rank = text.to_ascii_lowercase().contains("rank");
                if says_rank { super::super::rank_of_file_name(text) } else { text.parse().ok() }
            }
            _ => None,
        }
    }
}
