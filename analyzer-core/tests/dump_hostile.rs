//! Files that are cut, damaged, or made to hurt: the reader keeps what it has, and never takes more than the file is worth.

#![expect(clippy::expect_used, reason = "a test may fail")]

mod dump;

use dump::heap;
use dump::pickler::{Tree, dict, pickle};
use hangscope_analyzer_core::dump::{EntryIdx, FaultKind, Reading, read};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// What reading may take at its peak: this much for each byte of the file,
const PEAK_PER_BYTE: usize = 32;
/// and this much for any file.
const PEAK_ALWAYS: usize = 4 << 20;

/// Reads a file and checks that it took no more memory than it may.
#[track_caller]
fn read_within_limits(bytes: &[u8]) -> Reading {
    let (reading, peak) = heap::peak_of(|| read("rank_0", bytes));
    let allowed = PEAK_ALWAYS + PEAK_PER_BYTE * bytes.len();
    assert!(peak <= allowed, "{peak} bytes for a file of {}: {:?}", bytes.len(), reading.faults);
    reading
}

fn entry(id: i64) -> Tree {
    let frame = |line: i64| {
        Tree::Shared(dict([("name", "f".into()), ("filename", "/a.py".into()), ("line", line.into())]).into())
    };
    dict([
        ("frames", Tree::List(vec![frame(id), frame(1000 + id), frame(5)])),
        ("record_id", id.into()),
        ("pg_id", 0.into()),
        ("process_group", Tree::Tuple(vec!["0".into(), "default_pg".into()])),
        ("collective_seq_id", (300 * id).into()),
        ("profiling_name", "nccl:broadcast".into()),
        ("time_created_ns", Tree::Int(1_795_976_860_191_356_753)),
        ("duration_ms", Tree::Float(1.5)),
        ("input_sizes", Tree::List(vec![Tree::List(vec![2.into(), 70_000.into()])])),
        ("input_dtypes", Tree::List(vec!["Float".into()])),
        ("state", "started".into()),
        ("time_discovered_started_ns", Tree::None),
        ("is_p2p", false.into()),
    ])
}

fn recorded() -> Vec<u8> {
    let group = dict([("name", "0".into()), ("desc", "default_pg".into()), ("ranks", "[0, 1]".into())]);
    let status = dict([("last_enqueued_collective", 3.into()), ("last_started_collective", (-1).into())]);
    pickle(&dict([
        ("version", "2.10".into()),
        ("pg_config", dict([("0", group)])),
        ("pg_status", dict([("0", status)])),
        ("entries", Tree::List((0..20).map(entry).collect())),
    ]))
}

fn recorded_json() -> Vec<u8> {
    let entries: Vec<String> = (0..20)
        .map(|id| {
            format!(
                r#"{{"record_id":{id},"process_group":["0","default_pg"],"profiling_name":"nccl:all_reduce","input_sizes":[[{id},4]]}}"#
            )
        })
        .collect();
    format!(
        r#"{{"entries":[{}],"pg_config":{{"0":{{"desc":"default_pg","name":"0","ranks":"[0, 1]"}}}},"version":"2.10"}}"#,
        entries.join(",")
    )
    .into_bytes()
}

/// Cut at every byte: nothing is lost that was complete, and nothing is made up.
#[track_caller]
fn check_cuts(bytes: &[u8], entries: usize) {
    let mut before = 0;
    for len in 0..bytes.len() {
        let reading = read("rank_0", &bytes[..len]);
        assert!(!reading.faults.is_empty(), "cut at {len}");
        assert!(reading.dumps.len() <= 1, "cut at {len}");
        let found = reading.dumps.first().map_or(0, |dump| dump.entries.len());
        assert!(found >= before, "cut at {len}: {found} entries, {before} before");
        before = found;
        if let Some(dump) = reading.dumps.first() {
            assert!(dump.truncated && dump.rank == Some(0), "cut at {len}");
            let first = dump.entries.get(EntryIdx(0)).record_id.unwrap_or(0);
            let expected = (first..).map(Some);
            assert!(dump.entries.iter().zip(expected).all(|((_, entry), id)| entry.record_id == id), "cut at {len}");
        }
    }
    assert_eq!(before, entries);
    let whole = read("rank_0", bytes);
    assert_eq!((whole.dumps[0].entries.len(), whole.faults.len(), whole.dumps[0].truncated), (entries, 0, false));
}

#[test]
fn a_pickle_cut_at_every_byte() {
    check_cuts(&recorded(), 20);
}

#[test]
fn json_cut_at_every_byte() {
    check_cuts(&recorded_json(), 20);
}

#[test]
fn pickles_of_every_protocol_cut_at_every_byte() {
    for protocol in 0..6 {
        let path = format!("{}/tests/data/resaved/small_protocol{protocol}.pickle", env!("CARGO_MANIFEST_DIR"));
        check_cuts(&std::fs::read(path).expect("fixture"), 3);
    }
}

#[test]
fn a_bundle_cut_at_every_byte() {
    let path = format!("{}/tests/data/resaved/bundle_protocol4.pickle", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).expect("fixture");
    let mut before = 0;
    for len in 0..bytes.len() {
        let reading = read("bundle", &bytes[..len]);
        let ranks: Vec<_> = reading.dumps.iter().map(|dump| dump.rank).collect();
        assert!(ranks.iter().copied().eq((0..).map(Some).take(ranks.len())), "cut at {len}: {ranks:?}");
        let cut = reading.dumps.iter().filter(|dump| dump.truncated).count();
        assert!(cut <= 1 && !reading.faults.is_empty(), "cut at {len}");
        let found = reading.dumps.iter().map(|dump| dump.entries.len()).sum();
        assert!(found >= before, "cut at {len}: {found} entries, {before} before");
        before = found;
    }
    assert_eq!(before, 6);
}

#[test]
fn a_cut_pickle_keeps_version_groups_and_statuses() {
    let bytes = recorded();
    let reading = read("rank_0", &bytes[..bytes.len() - 40]);
    let dump = &reading.dumps[0];
    assert_eq!((dump.entries.len(), dump.version.as_str(), dump.truncated), (19, "2.10", true));
    assert_eq!((dump.group_configs[0].ranks.as_slice(), dump.group_statuses[0].last_enqueued), (&[0, 1][..], 3));
    assert_eq!(reading.faults[0].kind, FaultKind::Truncated);
    assert_eq!(reading.faults[0].offset, Some(bytes.len() as u64 - 40));
}

/// A generator of numbers that are the same on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[test]
fn damaged_files_are_read_without_panic() {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for whole in [recorded(), recorded_json()] {
        for round in 0..1200 {
            let mut bytes = whole.clone();
            for _ in 0..=round % 7 {
                let at = numbers.below(bytes.len());
                bytes[at] = match numbers.below(3) {
                    0 => numbers.below(256) as u8,
                    1 => bytes[at] ^ (1 << numbers.below(8)),
                    // An opcode, a digit or a bracket from elsewhere.
                    _ => whole[numbers.below(whole.len())],
                };
            }
            let reading = read_within_limits(&bytes);
            let entries: usize = reading.dumps.iter().map(|dump| dump.entries.len()).sum();
            assert!(entries <= 20, "{entries} entries");
        }
    }
}

#[test]
fn lengths_that_the_file_does_not_have() {
    for (start, len) in
        [(&b"\x80\x02X"[..], 4), (b"\x80\x02T", 4), (b"\x80\x02B", 4), (b"\x80\x02\x8b", 4), (b"\x80\x04\x8d", 8)]
    {
        for byte in [0x7f, 0xff] {
            let mut bytes = start.to_vec();
            bytes.extend(vec![byte; len]);
            bytes.extend(b"some text");
            let reading = read_within_limits(&bytes);
            assert_eq!(reading.faults.len(), 1, "{bytes:?}");
            assert_eq!(reading.faults[0].kind, FaultKind::Truncated, "{bytes:?}");
            assert!(reading.dumps.is_empty());
        }
    }
}

#[test]
fn memo_numbers_that_jump() {
    // A text in slot 2^32 - 1 and fetched from there, a thousand times with other numbers.
    let mut bytes = b"\x80\x02](".to_vec();
    for round in 0..1000u32 {
        let slot = (u32::MAX - round * 4_000_000).to_le_bytes();
        bytes.extend(b"X\x01\0\0\0ar");
        bytes.extend(slot);
        bytes.extend(b"j");
        bytes.extend(slot);
    }
    bytes.extend(b"e.");
    let reading = read_within_limits(&bytes);
    assert_eq!(reading.faults[0].kind, FaultKind::NotADump);
}

/// A file of one repeated piece between a beginning and an end.
fn repeated(start: &[u8], piece: &[u8], times: usize, end: &[u8]) -> Vec<u8> {
    [start, &piece.repeat(times), end].concat()
}

#[test]
fn one_thing_again_and_again() {
    for (name, bytes) in [
        ("marks", repeated(b"\x80\x02", b"(", 200_000, b".")),
        ("lists with marks", repeated(b"\x80\x02", b"](", 200_000, b".")),
        ("lists", repeated(b"\x80\x02", b"]", 200_000, b".")),
        ("nones", repeated(b"\x80\x02](", b"N", 200_000, b"e.")),
        ("copies", repeated(b"\x80\x02N", b"2", 200_000, b".")),
        ("memo slots", repeated(b"\x80\x04N", b"\x94", 200_000, b".")),
        ("memo containers", repeated(b"\x80\x04", b"]\x940", 200_000, b".")),
        ("tuples in tuples", repeated(b"\x80\x02)", b"\x85", 200_000, b".")),
        ("lists in lists", repeated(b"\x80\x02]", b"]a", 200_000, b".")),
        ("lists of one", repeated(b"\x80\x02](", b"]Na", 60_000, b"e.")),
        ("dicts of one", repeated(b"\x80\x02](", b"}NNs", 60_000, b"e.")),
        ("dicts that are dropped", repeated(b"\x80\x02", b"}NNs0", 60_000, b"N.")),
        ("a list that grows", repeated(b"\x80\x02]", b"K\x01a", 60_000, b".")),
        ("a dict that grows", repeated(b"\x80\x02}", b"K\x01Ns", 60_000, b".")),
        ("a list that is opened again", repeated(b"\x80\x02](K\x01K\x02eq\x00", b"(K\x01e2", 200_000, b".")),
        (
            "one list opened again and again",
            repeated(&repeated(b"\x80\x02](", b"K\x01", 20_000, b"eq\x00"), b"h\x00(K\x02e0", 20_000, b"."),
        ),
        ("globals", repeated(b"\x80\x02", b"ctorch.jit._pickle\nbuild_intlist\n", 100_000, b".")),
        ("json brackets", repeated(b"", b"[", 100_000, b"")),
        ("json braces", repeated(b"", b"{\"a\":", 60_000, b"")),
        ("json numbers", repeated(b"[", b"1,", 100_000, b"1]")),
        ("json documents", repeated(b"", b"{}", 100_000, b"")),
        ("json dumps", repeated(b"", b"{\"entries\":[]}", 100_000, b"")),
        ("pickles", repeated(b"", b"\x80\x02].", 100_000, b"")),
    ] {
        let reading = read_within_limits(&bytes);
        assert!(!reading.faults.is_empty() || name.contains("dumps"), "{name}");
        assert!(reading.faults.len() <= 200, "{name}: {} faults", reading.faults.len());
    }
}

#[test]
fn entries_that_are_next_to_nothing() {
    // {"is_p2p": N} a hundred thousand times: 6 bytes each.
    let bytes = repeated(b"\x80\x02}(X\x07\0\0\0entries](}(X\x06\0\0\0is_p2pq\x00Nu", b"}(h\x00Nu", 100_000, b"eu.");
    let reading = read_within_limits(&bytes);
    let dump = &reading.dumps[0];
    assert!(dump.truncated && dump.entries.len() >= 4096, "{}", dump.entries.len());
    assert!(reading.faults[0].message.contains("entries in a file of this size"), "{:?}", reading.faults);
}

/// A bundle of many dumps in which each names the same large value.
fn bundle_that_shares(key: &str, value: &Tree, dumps: usize) -> Vec<u8> {
    // Values that are put in the memo and then dropped: the large one in slot 9, the keys in 10 and 11.
    let inner = pickle(value);
    let mut bytes = inner[..inner.len() - 3].to_vec();
    bytes.extend(b"q\x090X");
    bytes.extend((key.len() as u32).to_le_bytes());
    bytes.extend(key.as_bytes());
    bytes.extend(b"q\x0a0X\x09\0\0\0pg_statusq\x0b0}(");
    for rank in 0..dumps {
        bytes.push(b'M');
        bytes.extend((rank as u16).to_le_bytes());
        bytes.extend(b"}(h\x0ah\x09h\x0b}u");
    }
    bytes.extend(b"u.");
    bytes
}

#[test]
fn a_large_value_that_every_dump_of_a_bundle_names() {
    let long_text = Tree::Str("x".repeat(300_000).into());
    let ranks: Vec<String> = (0..50_000).map(|rank| rank.to_string()).collect();
    let group = dict([("name", "0".into()), ("ranks", Tree::Str(format!("[{}]", ranks.join(", ")).into()))]);
    for (key, value) in [("version", &long_text), ("rank", &long_text), ("pg_config", &dict([("0", group)]))] {
        let bytes = bundle_that_shares(key, value, 2000);
        let reading = read_within_limits(&bytes);
        assert_eq!(reading.dumps.len(), 2000, "{key}: {:?}", reading.faults);
    }
}

#[test]
fn a_stack_that_every_entry_names() {
    // A stack of 100,000 frames, and 10,000 entries that have it.
    let mut bytes = b"\x80\x02X\x04\0\0\0lineq\x000X\x06\0\0\0framesq\x010X\x09\0\0\0record_idq\x020".to_vec();
    bytes.extend(b"](");
    bytes.extend(b"}(h\x00K\x01uq\x03");
    bytes.extend(b"h\x03".repeat(100_000));
    bytes.extend(b"eq\x040](");
    for id in 0..10_000u16 {
        bytes.extend(b"}(h\x01h\x04h\x02M");
        bytes.extend(id.to_le_bytes());
        bytes.push(b'u');
    }
    bytes.extend(b"e.");
    let reading = read_within_limits(&bytes);
    assert_eq!(reading.dumps.iter().map(|dump| dump.entries.len()).sum::<usize>(), 10_000);
}

#[test]
fn dtype_codes_that_every_entry_names() {
    let mut bytes = b"\x80\x02X\x0c\0\0\0input_dtypesq\x000X\x09\0\0\0record_idq\x010](".to_vec();
    bytes.extend(b"K\x06".repeat(60_000));
    bytes.extend(b"eq\x020](");
    for id in 0..5_000u16 {
        bytes.extend(b"}(h\x00h\x02h\x01M");
        bytes.extend(id.to_le_bytes());
        bytes.push(b'u');
    }
    bytes.extend(b"e.");
    let reading = read_within_limits(&bytes);
    assert_eq!(reading.dumps[0].entries.len(), 5_000);
}

#[test]
fn python_objects_are_refused() {
    for code in [
        &b"cos\nsystem\n"[..],
        b"\x8c\x02os\x8c\x06system\x93",
        b"(ios\nsystem\n",
        b"N)\x81",
        b"Nb",
        b"P7\n",
        b"NQ",
        b"\x82\x01",
    ] {
        let bytes = [b"\x80\x04", code, b"."].concat();
        let reading = read_within_limits(&bytes);
        assert_eq!(reading.faults[0].kind, FaultKind::Malformed, "{code:?}");
        assert!(reading.faults[0].message.contains("trust"), "{:?}", reading.faults);
    }
}

#[test]
fn gzip_files() {
    let packed = |bytes: &[u8], level| {
        let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        file.extend(miniz_oxide::deflate::compress_to_vec(bytes, level));
        file.extend(crc32fast::hash(bytes).to_le_bytes());
        file.extend((bytes.len() as u32).to_le_bytes());
        file
    };
    let plain = recorded();
    let file = packed(&plain, 6);
    let reading = read("rank_3.gz", &file);
    assert_eq!((reading.faults.len(), reading.dumps[0].rank, reading.dumps[0].entries.len()), (0, Some(3), 20));
    assert_eq!(reading.size_bytes, file.len() as u64);

    // Two members are one file.
    let halves = plain.split_at(plain.len() / 2);
    let two = [packed(halves.0, 6), packed(halves.1, 1)].concat();
    assert_eq!(read("rank_3.gz", &two).faults, []);

    // A header with all its optional fields.
    let mut named = vec![0x1f, 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 3, 2, 0, b'a', b'b'];
    named.extend(b"rank_3\0comment\0\x12\x34");
    named.extend(&file[10..]);
    assert_eq!(read("rank_3.gz", &named).faults, []);

    let mut before = 0;
    for len in 1..file.len() {
        let reading = read_within_limits(&file[..len]);
        assert_eq!(reading.faults.len(), 1, "cut at {len}: {:?}", reading.faults);
        let found = reading.dumps.first().map_or(0, |dump| dump.entries.len());
        assert!(found >= before || found == 0 && len < 3, "cut at {len}");
        before = found;
    }
    assert_eq!(before, 20);

    let mut damaged = file.clone();
    let at = damaged.len() - 7;
    damaged[at] ^= 1;
    let reading = read("rank_3.gz", &damaged);
    assert!(reading.faults[0].message.contains("checksum"), "{:?}", reading.faults);
    assert_eq!(reading.dumps[0].entries.len(), 20);

    let bomb = packed(&vec![b' '; 200_000_000], 9);
    let (reading, peak) = heap::peak_of(|| read("rank_3.gz", &bomb));
    let last = reading.faults.last().expect("fault");
    assert!(last.message.contains("unpacks to more than"), "{:?}", reading.faults);
    assert!(peak < 130 * bomb.len() + (4 << 20), "{peak} bytes for {}", bomb.len());
}

#[test]
fn random_bytes() {
    let mut numbers = Numbers(7);
    for round in 0..1500 {
        let mut bytes: Vec<u8> = (0..numbers.below(300)).map(|_| numbers.below(256) as u8).collect();
        match round % 4 {
            0 => bytes.splice(0..0, [0x80, 2]).for_each(drop),
            1 => bytes.splice(0..0, [0x80, 4, b'}', b'(']).for_each(drop),
            2 => bytes.splice(0..0, gzip_start()).for_each(drop),
            _ => {}
        }
        let reading = read_within_limits(&bytes);
        assert!(!reading.faults.is_empty() || reading.dumps.len() == 1, "{bytes:?}");
    }
}

fn gzip_start() -> [u8; 10] {
    [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
}

#[test]
fn faults_say_where() {
    let mut bytes = recorded();
    let at = bytes.len() / 2;
    bytes.truncate(at);
    bytes.push(0xee);
    let reading = read("rank_0", &bytes);
    let fault = reading.faults.first().expect("fault");
    // The damaged byte may stand inside a number or a text, and then the end of the file is the place.
    assert!(fault.offset == Some(at as u64) || fault.offset == Some(at as u64 + 1), "{fault:?}");
}
