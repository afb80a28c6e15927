//! What must hold for whatever the reader makes of any bytes.

use hangscope_analyzer_core::dump::{Dump, read};

/// Reads the bytes and checks the answer.
pub fn check(bytes: &[u8]) {
    let reading = read("rank_0", bytes);
    assert_eq!(reading.size_bytes, bytes.len() as u64);
    assert!(!reading.faults.is_empty() || !reading.dumps.is_empty(), "nothing was read and nothing is said");
    assert!(reading.faults.len() <= 256);
    for fault in &reading.faults {
        assert!(!fault.message.is_empty());
        assert!(fault.offset.is_none_or(|offset| offset <= bytes.len() as u64), "{fault:?}");
    }
    assert!(reading.dumps.len() <= 64 + bytes.len() / 100);
    let entries: usize = reading.dumps.iter().map(|dump| dump.entries.len()).sum();
    assert!(entries <= (4096 + bytes.len() / 16) * reading.dumps.len().max(1));
    for dump in &reading.dumps {
        check_dump(dump);
    }
}

/// Every handle of a dump names something in its tables.
fn check_dump(dump: &Dump) {
    let symbols = &dump.symbols;
    let mut known = [false; 2];
    for (_, entry) in dump.entries.iter() {
        let group = dump.group_refs.get(entry.group_ref as usize).expect("group");
        for text in [entry.op, entry.thread, group.name, group.desc] {
            assert!(symbols.strings.find(symbols.strings.get(text)) == Some(text), "text");
        }
        for frame in symbols.stacks.frames(entry.stack).take(1000) {
            let frame = symbols.frames.get(frame);
            assert!(symbols.strings.find(symbols.strings.get(frame.file)) == Some(frame.file), "file");
            assert!(symbols.strings.find(symbols.strings.get(frame.function)) == Some(frame.function), "function");
        }
        let args = symbols.args.get(entry.args);
        for list in [args.input_sizes, args.output_sizes] {
            symbols.shape_lists.get(list).iter().for_each(|&shape| _ = symbols.shapes.get(shape));
        }
        for list in [args.input_dtypes, args.output_dtypes] {
            for &dtype in symbols.dtype_lists.get(list) {
                assert!(symbols.strings.find(symbols.strings.get(dtype)) == Some(dtype), "dtype");
            }
        }
        known[usize::from(entry.record_id.is_some())] = true;
    }
    if known == [false, true] {
        let ids = dump.entries.iter().map(|(_, entry)| entry.record_id);
        assert!(ids.is_sorted(), "entries in the order of their record ids");
    }
    for group in &dump.group_configs {
        assert!(group.ranks.is_sorted_by(|a, b| a < b));
    }
    assert!(dump.unknown_keys.is_sorted_by(|a, b| a < b));
}
