//! Any bytes as a pickle.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // A second header does no harm, so that whole dumps can be seeds.
    hangscope_analyzer_core_fuzz::check(&[&[0x80, 2], bytes].concat());
});
