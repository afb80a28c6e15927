//! The words that a reader knows. They are interned before anything else, so that each has a small fixed handle.

use crate::symbols::{StrId, StringTable};

macro_rules! words {
    ($($name:ident = $text:literal),* $(,)?) => {
        words!(@count 1u32; $($name)*);
        const WORDS: &[&str] = &[$($text),*];
    };
    (@count $n:expr; $name:ident $($rest:ident)*) => {
        pub(super) const $name: u32 = $n;
        words!(@count $n + 1; $($rest)*);
    };
    (@count $n:expr;) => {};
}

words! {
    VERSION = "version",
    ENTRIES = "entries",
    PG_CONFIG = "pg_config",
    PG_STATUS = "pg_status",
    COMM_LIB_VERSION = "comm_lib_version",
    NCCL_VERSION = "nccl_version",
    NCCL_COMM_STATE = "nccl_comm_state",
    RANK = "rank",
    HOST_NAME = "host_name",
    FRAMES = "frames",
    RECORD_ID = "record_id",
    PG_ID = "pg_id",
    PROCESS_GROUP = "process_group",
    THREAD_NAME = "thread_name",
    THREAD_ID = "thread_id",
    COLLECTIVE_SEQ_ID = "collective_seq_id",
    SEQ_ID = "seq_id",
    P2P_SEQ_ID = "p2p_seq_id",
    OP_ID = "op_id",
    PROFILING_NAME = "profiling_name",
    TIME_CREATED_NS = "time_created_ns",
    TIME_CREATED_US = "time_created_us",
    DURATION_MS = "duration_ms",
    INPUT_SIZES = "input_sizes",
    INPUT_DTYPES = "input_dtypes",
    OUTPUT_SIZES = "output_sizes",
    OUTPUT_DTYPES = "output_dtypes",
    STATE = "state",
    TIME_DISCOVERED_STARTED_NS = "time_discovered_started_ns",
    TIME_DISCOVERED_COMPLETED_NS = "time_discovered_completed_ns",
    RETIRED = "retired",
    TIMEOUT_MS = "timeout_ms",
    IS_P2P = "is_p2p",
    INPUT_SPLIT_SIZES = "input_split_sizes",
    OUTPUT_SPLIT_SIZES = "output_split_sizes",
    NAME = "name",
    FILENAME = "filename",
    LINE = "line",
    DESC = "desc",
    RANKS = "ranks",
    LAST_ENQUEUED = "last_enqueued_collective",
    LAST_STARTED = "last_started_collective",
    LAST_COMPLETED = "last_completed_collective",
    SCHEDULED = "scheduled",
    STARTED = "started",
    COMPLETED = "completed",
}

/// A set of known words, one bit each.
pub(super) type WordSet = u64;

/// The set of one word; empty for texts that are not known words.
pub(super) const fn bit(word: u32) -> WordSet {
    if word < 64 { 1 << word } else { 0 }
}

/// Keys that only a dump has at its top level.
pub(super) const DUMP: WordSet = bit(ENTRIES) | bit(PG_CONFIG) | bit(PG_STATUS);

/// The kinds of dicts in a dump that are told by their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Dump,
    Entry,
    Frame,
    Group,
    Status,
}

/// The kind of dict that has this key, if only one has it. Words such as `state` and `version` tell nothing: other programs' data,
/// and the free texts of communicators, have them, too.
#[inline(always)]
pub(super) fn kind_of(key: u32) -> Option<Kind> {
    match key {
        ENTRIES | PG_CONFIG | PG_STATUS => Some(Kind::Dump),
        RECORD_ID | PROCESS_GROUP | COLLECTIVE_SEQ_ID | SEQ_ID | P2P_SEQ_ID | OP_ID | PROFILING_NAME
        | TIME_CREATED_NS | TIME_CREATED_US | INPUT_SIZES | OUTPUT_SIZES | IS_P2P => Some(Kind::Entry),
        FILENAME | LINE => Some(Kind::Frame),
        DESC | RANKS => Some(Kind::Group),
        LAST_ENQUEUED | LAST_STARTED | LAST_COMPLETED => Some(Kind::Status),
        _ => None,
    }
}

/// Interns the known words into a fresh table.
pub(super) fn intern_words(strings: &mut StringTable) {
    for word in WORDS {
        strings.intern(word);
    }
}

/// The text of a known word.
pub(super) fn text(word: u32) -> &'static str {
    let at = (word as usize).wrapping_sub(1);
    WORDS.get(at).copied().unwrap_or("?")
}

/// Whether a key names the state of communicators. Each fork has its own: `nccl_comm_state`, `hccl_comm_state`, …
pub(super) fn is_comm_state(key: StrId, strings: &StringTable) -> bool {
    key.0 == NCCL_COMM_STATE || strings.get(key).ends_with("_comm_state")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_handles() {
        let mut strings = StringTable::default();
        intern_words(&mut strings);
        for (word, text) in [(VERSION, "version"), (FRAMES, "frames"), (COMPLETED, "completed")] {
            assert_eq!(strings.find(text), Some(StrId(word)));
            assert_eq!(super::text(word), text);
        }
        assert_eq!(strings.len(), WORDS.len() + 1);
        assert!(WORDS.len() < 64, "a word set has 64 bits");
    }
}
