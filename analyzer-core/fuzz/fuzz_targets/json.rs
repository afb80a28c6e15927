//! Any bytes as JSON.

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if !matches!(bytes.first(), Some(b'{' | b'[')) {
        return Corpus::Reject;
    }
    hangscope_analyzer_core_fuzz::check(bytes);
    Corpus::Keep
});
