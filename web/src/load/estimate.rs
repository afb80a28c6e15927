//! What a load will need, before anything is read.

use crate::load::source::Source;

/// What the worker that holds an analysis can address.
pub(crate) const BUDGET_BYTES: u64 = 4_000_000_000;

/// At its peak the tab takes 60 bytes an entry, as measured with 20 million (docs/performance.md). A dump has 210 bytes an entry with a stack, and
/// 500 and more as JSON.
const DUMP_BYTES_A_BYTE: u64 = 3;
/// A pack has 6 bytes an entry and more.
const BYTES_A_PACK_BYTE: u64 = 10;

/// Memory in bytes that reading and showing these files takes at most, as far as their sizes tell.
pub(crate) fn memory_bytes(sources: &[Source]) -> u64 {
    sources
        .iter()
        .map(|source| match source.is_pack() {
            true => source.size_bytes.saturating_mul(BYTES_A_PACK_BYTE),
            false => source.size_bytes / DUMP_BYTES_A_BYTE,
        })
        .fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::source::SourcePlace;

    fn source(name: &str, size_bytes: u64) -> Source {
        Source { name: name.to_owned(), size_bytes, place: SourcePlace::Server(String::new()) }
    }

    #[test]
    fn ten_thousand_ranks_fit_and_forty_thousand_do_not() {
        let ranks = |count: u64| -> Vec<Source> { (0..count).map(|_| source("rank", 430_000)).collect() };
        assert!(memory_bytes(&ranks(10_240)) < BUDGET_BYTES);
        assert!(memory_bytes(&ranks(40_960)) > BUDGET_BYTES);
        assert!(memory_bytes(&[source("job.hangscope", 250_000_000)]) < BUDGET_BYTES);
        assert!(memory_bytes(&[source("job.hangscope", 1_000_000_000)]) > BUDGET_BYTES);
        assert_eq!(memory_bytes(&[source("a.hangscope", u64::MAX), source("b", 8)]), u64::MAX);
    }
}
