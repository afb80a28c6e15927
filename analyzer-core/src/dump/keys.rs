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
/// Keys that only an entry has. Words such as `state` are left out, because other programs' data have them too.
pub(super) const ENTRY: WordSet = bit(RECORD_ID)
    | bit(PG_ID)
    | bit(PROCESS_GROUP)
    | bit(COLLECTIVE_SEQ_ID)
    | bit(SEQ_ID)
    | bit(P2P_SEQ_ID)
    | bit(OP_ID)
    | bit(PROFILING_NAME)
    | bit(TIME_CREATED_NS)
    | bit(TIME_CREATED_US)
    | bit(INPUT_SIZES)
    | bit(OUTPUT_SIZES)
    | bit(IS_P2P);
/// Keys that only a frame has.
pub(super) const FRAME: WordSet = bit(FILENAME) | bit(LINE);
/// Keys that only an item of `pg_config` has.
pub(super) const GROUP: WordSet = bit(DESC) | bit(RANKS);
/// Keys that only an item of `pg_status` has.
pub(super) const STATUS: WordSet = bit(LAST_ENQUEUED) | bit(LAST_STARTED) | bit(LAST_COMPLETED);

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
