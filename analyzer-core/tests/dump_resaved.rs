//! Dumps that Python loaded and saved again, in every protocol.

#![expect(clippy::expect_used, reason = "a test may fail")]

mod dump;

use std::fs;
use std::path::PathBuf;

use hangscope_analyzer_core::dump::{Dump, EntryIdx, Reading, read};

use dump::fields;

fn data(name: &str) -> (Reading, Vec<u8>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/resaved").join(name);
    let bytes = fs::read(&path).expect("fixture");
    (read(name, &bytes), bytes)
}

/// The frames of an entry as `function:line`, innermost first.
fn frames(dump: &Dump, at: u32) -> Vec<String> {
    let stack = dump.entries.get(EntryIdx(at)).stack;
    dump.symbols
        .stacks
        .frames(stack)
        .map(|id| {
            let frame = dump.symbols.frames.get(id);
            format!("{}:{}", dump.symbols.strings.get(frame.function), frame.line)
        })
        .collect()
}

#[test]
fn every_protocol_gives_the_same_dump() {
    for name in ["small", "one_entry"] {
        let (_, json) = data(&format!("{name}.json"));
        let tree = serde_json::from_slice(&json).expect("JSON");
        for protocol in 0..6 {
            let file = format!("{name}_protocol{protocol}.pickle");
            let (reading, _) = data(&file);
            assert_eq!(reading.faults, [], "{file}");
            let [dump] = reading.dumps.as_slice() else { panic!("{file}: {} dumps", reading.dumps.len()) };
            assert!(!dump.truncated, "{file}");
            fields::compare_with_tree(dump, &tree, false, &file);
            assert_eq!(frames(dump, 0), ["all_reduce:2810", "train:41", "<module>:90"], "{file}");
            if dump.entries.len() > 1 {
                assert_eq!(frames(dump, 1), ["forward:12", "train:41", "<module>:90"], "{file}");
            }
        }
    }
}

#[test]
fn lists_that_come_in_parts_are_one_list() {
    for protocol in [0, 5] {
        let file = format!("large_protocol{protocol}.pickle.gz");
        let (reading, _) = data(&file);
        assert_eq!(reading.faults, [], "{file}");
        let dump = &reading.dumps[0];
        assert_eq!(dump.entries.len(), 1100, "{file}");
        let first = dump.entries.get(EntryIdx(0));
        let args = dump.symbols.args.get(first.args);
        let splits = dump.symbols.shapes.get(args.input_splits.expect("splits"));
        assert!(splits.iter().copied().eq(0..1100), "{file}");
        let sizes = dump.symbols.shape_lists.get(args.output_sizes);
        assert!(sizes.iter().map(|&id| dump.symbols.shapes.get(id)).eq((0..1100).map(|rank| [rank % 5])), "{file}");
        let expected: Vec<String> = (0..1100).map(|line| format!("recurse:{}", line % 7)).collect();
        assert_eq!(frames(dump, 0), expected, "{file}");
        assert_eq!(dump.entries.get(EntryIdx(1099)).collective_seq, Some(1399), "{file}");
    }
}

#[test]
fn a_bundle_is_one_dump_per_rank() {
    let (reading, _) = data("bundle_protocol4.pickle");
    assert_eq!(reading.faults, []);
    let ranks: Vec<_> = reading.dumps.iter().map(|dump| (dump.rank, dump.entries.len())).collect();
    assert_eq!(ranks, [(Some(0), 2), (Some(1), 2), (Some(2), 2)]);
    for dump in &reading.dumps {
        assert_eq!(frames(dump, 1), ["forward:12", "train:41", "<module>:90"]);
        let entry = dump.entries.get(EntryIdx(1));
        assert_eq!(dump.symbols.strings.get(entry.op), "nccl:all_reduce");
        assert_eq!(dump.symbols.strings.get(dump.group_refs[entry.group_ref as usize].desc), "default_pg");
        assert_eq!(dump.group_configs[0].ranks, [0, 1, 2, 3]);
        assert!(dump.unknown_keys.is_empty() && !dump.truncated);
    }
}
