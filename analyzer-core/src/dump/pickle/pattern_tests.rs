//! Taking entries over from earlier ones gives what decoding them gives, whatever the file.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use std::rc::Rc;

use proptest::collection::vec as some;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::Machine;
use super::pickler::{Tree, dict, pickle};
use crate::dump::digest::Origin;
use crate::dump::{Dump, Encoding};

/// Everything that can be told about a reading, and how many entries were taken over.
fn reading(bytes: &[u8], patterns: bool) -> (Vec<String>, usize) {
    let mut machine = Machine::new(bytes);
    // Without patterns: as if a text of the memo had been replaced.
    machine.memo.replaced = !patterns;
    let result = machine.run();
    let hits = machine.patterns.hits();
    let mut told = vec![format!("{result:?}"), format!("{} {}", machine.position(), machine.memo.len())];
    told.push(format!("{:?} {:?}", machine.stack, machine.marks));
    let (sink, stack) = machine.into_remains();
    told.push(format!("{:?} {:?} {:?}", sink.offset, sink.stop, sink.faults));
    let origin = Origin { file: "rank_0", encoding: Encoding::Pickle };
    let (dumps, faults) = match result {
        Ok(top) => sink.finish(top, origin),
        Err(_) => sink.finish_broken(&stack, origin),
    };
    told.push(format!("{faults:?}"));
    dumps.iter().for_each(|dump| tell(dump, &mut told));
    (told, hits)
}

fn tell(dump: &Dump, told: &mut Vec<String>) {
    let Dump { rank, version, has_entries_key, truncated, group_refs, unknown_keys, symbols, .. } = dump;
    told.push(format!("{rank:?} {version} {has_entries_key} {truncated} {group_refs:?} {unknown_keys:?}"));
    told.push(format!("{:?} {:?}", dump.group_configs, dump.group_statuses));
    told.extend(dump.entries.iter().map(|(_, entry)| format!("{entry:?}")));
    told.push(format!("{:?}", dump.entries.heads()));
    told.push(format!("{:?}", symbols.strings.iter().collect::<Vec<_>>()));
    told.push(format!("{:?}", symbols.frames.iter().collect::<Vec<_>>()));
    told.push(format!("{:?}", symbols.stacks.nodes().collect::<Vec<_>>()));
    told.push(format!("{:?}", symbols.args.iter().collect::<Vec<_>>()));
    told.push(format!("{:?}", symbols.shapes.iter().collect::<Vec<_>>()));
    told.push(format!("{:?}", symbols.shape_lists.iter().collect::<Vec<_>>()));
    told.push(format!("{:?}", symbols.dtype_lists.iter().collect::<Vec<_>>()));
}

/// Reads both ways and answers with how many entries were taken over.
fn same(bytes: &[u8]) -> usize {
    let ((fast, hits), (slow, none)) = (reading(bytes, true), reading(bytes, false));
    assert_eq!(none, 0);
    for (fast, slow) in fast.iter().zip(&slow) {
        assert_eq!(fast, slow, "of {}", bytes.escape_ascii());
    }
    assert_eq!(fast.len(), slow.len());
    hits
}

/// A place in a made-up program.
#[derive(Clone, Debug)]
struct Site {
    frames: Vec<u8>,
    op: u8,
    group: u8,
    sizes: Vec<Vec<i64>>,
    /// Where the keys begin.
    turn: usize,
    /// Keys that are left out, by bits.
    without: u32,
    odd: Odd,
}

/// What a recorder does not write.
#[derive(Clone, Copy, Debug)]
enum Odd {
    Nothing,
    UnknownKey,
    KeyTwice,
    TextForNumber,
    NumberForText,
    MixedStack,
    MixedSizes,
}

#[derive(Clone, Debug)]
struct Issued {
    site: usize,
    number: i64,
    time: i64,
    float: f64,
    none: u8,
}

fn site() -> impl Strategy<Value = Site> {
    let odd = prop_oneof![
        12 => Just(Odd::Nothing),
        1 => Just(Odd::UnknownKey),
        1 => Just(Odd::KeyTwice),
        1 => Just(Odd::TextForNumber),
        1 => Just(Odd::NumberForText),
        1 => Just(Odd::MixedStack),
        1 => Just(Odd::MixedSizes),
    ];
    let without = prop_oneof![3 => Just(0), 1 => any::<u32>()];
    let turn = prop_oneof![3 => Just(0usize), 1 => 0..20usize];
    (some(0..9u8, 0..6), 0..4u8, 0..3u8, some(some(0..70_000i64, 0..3), 0..3), turn, without, odd).prop_map(
        |(frames, op, group, sizes, turn, without, odd)| Site { frames, op, group, sizes, turn, without, odd },
    )
}

fn issued(sites: usize) -> impl Strategy<Value = Issued> {
    let number = prop_oneof![
        6 => 0..300i64,
        2 => 0..100_000i64,
        1 => prop_oneof![Just(-1), Just(i64::from(u32::MAX)), Just(i64::from(u32::MAX) - 1), Just(i64::MAX - 1)],
    ];
    let float = prop_oneof![6 => 0.0..50.0f64, 1 => Just(f64::NAN), 1 => Just(f64::INFINITY), 1 => Just(1e300)];
    let none = prop_oneof![4 => Just(0u8), 1 => any::<u8>()];
    let time = 1_795_977_000_000_000_000..1_795_977_000_900_000_000i64;
    (0..sites, number, time, float, none).prop_map(|(site, number, time, float, none)| Issued {
        site,
        number,
        time,
        float,
        none,
    })
}

fn job() -> impl Strategy<Value = (Vec<Site>, Vec<Issued>)> {
    some(site(), 1..5).prop_flat_map(|sites| {
        let issued = some(issued(sites.len()), 1..40);
        (Just(sites), issued)
    })
}

fn bytes_of(job: &(Vec<Site>, Vec<Issued>)) -> Vec<u8> {
    pickle(&dump_of(job))
}

fn dump_of((sites, issued): &(Vec<Site>, Vec<Issued>)) -> Tree {
    let frames: Vec<Tree> = (0..9i64)
        .map(|line| {
            let frame = dict([("name", "step".into()), ("filename", "/train.py".into()), ("line", line.into())]);
            Tree::Shared(Rc::new(frame))
        })
        .collect();
    let entries = issued.iter().map(|one| entry(&sites[one.site], one, &frames)).collect();
    let group = dict([("name", "0".into()), ("desc", "tp".into()), ("ranks", "[0, 1]".into())]);
    dict([
        ("version", "2.10".into()),
        ("pg_config", Tree::Dict(vec![("0".into(), group)])),
        ("entries", Tree::List(entries)),
    ])
}

fn entry(site: &Site, one: &Issued, frames: &[Tree]) -> Tree {
    let number = |bit: u8, number: Tree| if one.none & bit != 0 { Tree::None } else { number };
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.into()).collect::<Vec<Tree>>();
    let sizes =
        || Tree::List(site.sizes.iter().map(|shape| Tree::List(shape.iter().map(|&n| n.into()).collect())).collect());
    let group = ["0", "1", "2"][usize::from(site.group)];
    let op = ["nccl:all_reduce", "nccl:broadcast", "nccl:send", "gloo:barrier"][usize::from(site.op)];
    let mut pairs: Vec<(Tree, Tree)> = [
        ("frames", Tree::List(site.frames.iter().map(|&at| frames[usize::from(at)].clone()).collect())),
        ("record_id", number(1, one.number.into())),
        ("pg_id", i64::from(site.group).into()),
        ("process_group", Tree::Tuple(texts(&[group, "tp"]))),
        ("thread_name", "pt_main_thread".into()),
        ("collective_seq_id", number(2, (one.number / 2).into())),
        ("p2p_seq_id", 0.into()),
        ("op_id", number(4, (one.number / 3).into())),
        ("profiling_name", op.into()),
        ("time_created_ns", number(8, one.time.into())),
        ("duration_ms", number(16, Tree::Float(one.float))),
        ("input_sizes", sizes()),
        ("input_dtypes", Tree::List(texts(&["BFloat16"]))),
        ("output_sizes", sizes()),
        ("output_dtypes", Tree::List(texts(&["BFloat16", "Long"]))),
        ("state", if one.none & 32 == 0 { "completed".into() } else { "started".into() }),
        ("time_discovered_started_ns", number(64, (one.time + 10_000).into())),
        ("time_discovered_completed_ns", number(128, (one.time + 90_000).into())),
        ("retired", (one.none & 1 == 0).into()),
        ("timeout_ms", 600_000.into()),
        ("is_p2p", (site.op == 2).into()),
    ]
    .into_iter()
    .enumerate()
    .filter(|(at, _)| site.without & (1 << at) == 0)
    .map(|(_, (key, value))| (key.into(), value))
    .collect();
    match site.odd {
        Odd::Nothing => {}
        Odd::UnknownKey => pairs.push(("nobody_knows".into(), 1.into())),
        Odd::KeyTwice => pairs.push(("record_id".into(), (one.number + 1).into())),
        Odd::TextForNumber => pairs.push(("op_id".into(), "7".into())),
        Odd::NumberForText => pairs.push(("profiling_name".into(), 7.into())),
        Odd::MixedStack => pairs.push(("frames".into(), Tree::List(vec![frames[0].clone(), "x".into()]))),
        Odd::MixedSizes => pairs.push(("input_sizes".into(), Tree::List(vec![1.into(), frames[0].clone()]))),
    }
    if !pairs.is_empty() {
        let turn = site.turn % pairs.len();
        pairs.rotate_left(turn);
    }
    Tree::Dict(pairs)
}

/// What may happen to a file. Places are parts of 65,536 of it.
#[derive(Clone, Debug)]
enum Harm {
    Cut(u16),
    Byte(u16, u8),
    /// A reference to a memo slot refers to another one.
    Reference(u16, u8),
    /// What is referred to is put into another slot as well.
    Put(u16, u8),
    /// Another opcode.
    Opcode(u16, prop::sample::Index),
    /// Bytes stand in another place once more.
    Copy(u16, u16, u16),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        any::<u16>().prop_map(Harm::Cut),
        any::<(u16, u8)>().prop_map(|(at, byte)| Harm::Byte(at, byte)),
        any::<(u16, u8)>().prop_map(|(at, slot)| Harm::Reference(at, slot)),
        any::<(u16, u8)>().prop_map(|(at, slot)| Harm::Put(at, slot)),
        any::<(u16, prop::sample::Index)>().prop_map(|(at, code)| Harm::Opcode(at, code)),
        (any::<u16>(), any::<u16>(), 1..600u16).prop_map(|(from, to, len)| Harm::Copy(from, to, len)),
    ]
}

fn harmed(mut bytes: Vec<u8>, harms: &[Harm]) -> Vec<u8> {
    for harm in harms {
        let place = |at: u16| usize::from(at) * bytes.len() / 65_536;
        let reference = |at: u16| {
            let from = place(at);
            bytes.iter().skip(from).position(|&byte| byte == b'h').map(|more| from + more)
        };
        match *harm {
            Harm::Cut(at) => bytes.truncate(place(at)),
            Harm::Byte(at, byte) => {
                let at = place(at);
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
            }
            Harm::Reference(at, slot) => {
                if let Some(place) = reference(at).and_then(|at| bytes.get_mut(at + 1)) {
                    *place = slot;
                }
            }
            Harm::Put(at, slot) => {
                if let Some(at) = reference(at).filter(|at| at + 2 <= bytes.len()) {
                    bytes.splice(at + 2..at + 2, [b'q', slot]);
                }
            }
            Harm::Opcode(at, code) => {
                let codes = b"(.012FIJKLMNRSUVX}]aegGhjlpqrstu)\x85\x86\x87\x88\x89\x8a\x8c\x8f\x90\x94";
                let at = place(at);
                if let Some(place) = bytes.get_mut(at) {
                    *place = codes[code.index(codes.len())];
                }
            }
            Harm::Copy(from, to, len) => {
                let (from, to) = (place(from), place(to));
                let copy: Vec<u8> = bytes.iter().skip(from).take(usize::from(len)).copied().collect();
                bytes.splice(to..to, copy);
            }
        }
    }
    bytes
}

fn config(cases: u32) -> ProptestConfig {
    let usual = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return usual;
    }
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(0x0072_6570_6561_7473), ..usual }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn whatever_a_program_did(job in job()) {
        same(&bytes_of(&job));
        let bundle = [0, 1].map(|rank| (Tree::Int(rank), dump_of(&job)));
        same(&pickle(&Tree::Dict(bundle.into())));
    }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn whatever_happened_to_the_file(job in job(), harms in some(harm(), 1..6)) {
        same(&harmed(bytes_of(&job), &harms));
    }
}

/// A program with one place that issues `count` operations.
fn one_site(count: i64) -> Vec<u8> {
    let site = Site {
        frames: vec![0, 1, 2],
        op: 0,
        group: 0,
        sizes: vec![vec![4, 8]],
        turn: 0,
        without: 0,
        odd: Odd::Nothing,
    };
    let issued = |number| Issued { site: 0, number, time: 1_795_977_000_000_000_000 + number, float: 0.5, none: 0 };
    bytes_of(&(vec![site], (0..count).map(issued).collect()))
}

/// Where entries begin and end that refer to all their texts and frames.
fn repeats(bytes: &[u8]) -> Vec<Range<usize>> {
    let frames = bytes.windows(6).position(|six| six == b"frames").unwrap();
    let head = [b'}', b'(', b'h', bytes[frames + 7], b']', b'(', b'h'];
    let starts: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&head)).collect();
    starts.windows(2).map(|two| two[0]..two[1]).collect()
}

#[test]
fn most_entries_are_taken_over() {
    // The first has all texts, the second makes the pattern.
    assert_eq!(same(&one_site(100)), 98);
    assert_eq!(repeats(&one_site(100)).len(), 98);
}

#[test]
fn a_slot_that_was_put_again_counts() {
    let bytes = one_site(20);
    let place = repeats(&bytes)[10].start;
    let mut changed = 0;
    for slot in 0..40 {
        let mut other = bytes.clone();
        other.splice(place..place, [b"X\x05\0\0\0otherq", &[slot][..], b"0"].concat());
        assert_eq!(same(&other), 9, "slot {slot}");
        changed += usize::from(reading(&other, true).0 != reading(&bytes, true).0);
    }
    assert_eq!(changed, 40);
}

#[test]
fn a_file_with_too_many_entries_is_told() {
    let mut bytes = b"](}(X\x09\0\0\0record_idq\0K\x01u".to_vec();
    for _ in 0..12_000 {
        bytes.extend(b"}(h\0K\x01u");
    }
    bytes.extend(b"e.");
    assert!(same(&bytes) > 4096);
    assert!(reading(&bytes, true).0[0].contains("entries in a file of this size"));
}

#[test]
fn depth_is_told() {
    let bytes = one_site(5);
    let one = repeats(&bytes)[2].clone();
    for depth in 990..1000 {
        let mut deep = bytes.clone();
        let copy = bytes[one.clone()].to_vec();
        deep.splice(one.end..one.end, [vec![b'('; depth], copy, vec![b'1'; depth]].concat());
        same(&deep);
    }
}

#[test]
fn too_many_open_values_are_told() {
    let bytes = one_site(5);
    let one = repeats(&bytes)[2].clone();
    let mut told = 0;
    for open in (131_072 - 80..131_072).step_by(7) {
        let mut full = bytes.clone();
        let copy = bytes[one.clone()].to_vec();
        full.splice(one.end..one.end, [vec![b'('], vec![b'N'; open], copy, vec![b'1']].concat());
        same(&full);
        told += usize::from(reading(&full, true).0[0].contains("values are open"));
    }
    assert!((3..12).contains(&told), "{told}");
}

#[test]
fn no_byte_can_change_unnoticed() {
    let bytes = one_site(6);
    let last = repeats(&bytes)[3].clone();
    for at in last {
        for byte in [0, 1, b'N', b'u', b'e', b'(', 0xff] {
            let mut other = bytes.clone();
            other[at] = byte;
            same(&other);
        }
        same(&bytes[..at]);
    }
}

#[test]
fn what_follows_an_opcode_is_walked_through_once() {
    // A long list that makes no pattern, and many entries in a dict that is fetched from the memo.
    let mut bytes = b"](X\x09\0\0\0record_idq\0}(".to_vec();
    bytes.extend(b"h\0K\x01".repeat(1000));
    bytes.extend(b"1q\x01");
    bytes.extend(b"h\x01(h\0K\x01u".repeat(1000));
    bytes.extend(b"e.");
    let mut machine = Machine::new(&bytes);
    machine.run().unwrap();
    assert!(machine.patterns.opened.is_empty());
    assert_eq!(same(&bytes), 0);
}
