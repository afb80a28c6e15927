//! The forms in which dumps of all versions were seen, one small case each.

#![expect(clippy::expect_used, reason = "a test may fail")]

mod dump;

use std::fmt::Write as _;

use dump::pickler::{Tree, dict, pickle};
use hangscope_analyzer_core::dump::{Dump, Encoding, FaultKind, Reading, read};

/// A line for each dump, its groups and its entries; a line for each fault.
fn describe(reading: &Reading) -> String {
    let mut text = String::new();
    for dump in &reading.dumps {
        let rank = dump.rank.map_or("?".into(), |rank| rank.to_string());
        let cut = if dump.truncated { " truncated" } else { "" };
        let list = if dump.has_entries_key { "" } else { " no list" };
        writeln!(text, "rank {rank} version {:?}{list}{cut}", dump.version).expect("text");
        for group in &dump.group_configs {
            writeln!(text, "group {:?} {:?} {:?}", group.name, group.desc, group.ranks).expect("text");
        }
        for status in &dump.group_statuses {
            let (pg, enqueued, started) = (status.pg_id, status.last_enqueued, status.last_started);
            writeln!(text, "status {pg}: {enqueued} {started} {}", status.last_completed).expect("text");
        }
        for (_, entry) in dump.entries.iter() {
            writeln!(text, "{}", describe_entry(dump, &entry)).expect("text");
        }
        if !dump.unknown_keys.is_empty() {
            writeln!(text, "unknown {:?}", dump.unknown_keys).expect("text");
        }
    }
    for fault in &reading.faults {
        writeln!(text, "{:?}: {}", fault.kind, fault.message).expect("text");
    }
    text
}

fn describe_entry(dump: &Dump, entry: &hangscope_analyzer_core::dump::Entry) -> String {
    let string = |id| dump.symbols.strings.get(id);
    let number = |number: Option<u32>| number.map_or("-".into(), |number| number.to_string());
    let group = dump.group_refs[entry.group_ref as usize];
    let args = dump.symbols.args.get(entry.args);
    let sizes = |id| -> Vec<&[i64]> {
        dump.symbols.shape_lists.get(id).iter().map(|&shape| dump.symbols.shapes.get(shape)).collect()
    };
    let dtypes = |id| -> Vec<&str> { dump.symbols.dtype_lists.get(id).iter().map(|&id| string(id)).collect() };
    let mut text = format!(
        "#{} {} {} c{} p{} o{} {:?}/{:?} {:?}{:?} {:?}{:?}",
        number(entry.record_id),
        string(entry.op),
        entry.state.name(),
        number(entry.collective_seq),
        number(entry.p2p_seq),
        number(entry.op_id),
        string(group.name),
        string(group.desc),
        dtypes(args.input_dtypes),
        sizes(args.input_sizes),
        dtypes(args.output_dtypes),
        sizes(args.output_sizes),
    );
    for (name, time) in [("created", entry.created_ns), ("started", entry.started_ns), ("done", entry.completed_ns)] {
        if time != 0 {
            write!(text, " {name} {time}").expect("text");
        }
    }
    if let Some(is_p2p) = entry.is_p2p {
        write!(text, " p2p {is_p2p}").expect("text");
    }
    if entry.retired {
        text.push_str(" retired");
    }
    text
}

#[track_caller]
fn check(file: &str, bytes: &[u8], expected: &str) {
    let found = describe(&read(file, bytes));
    let expected: String = expected.lines().map(|line| format!("{}\n", line.trim())).collect();
    assert_eq!(found, expected.trim_start_matches('\n'), "{}", String::from_utf8_lossy(&bytes[..bytes.len().min(500)]));
}

#[track_caller]
fn check_json(json: &str, expected: &str) {
    check("trace_4", json.as_bytes(), expected);
}

#[test]
fn the_oldest_form_is_a_list_of_entries() {
    check_json(
        r#"[{"pg_id":0,"seq_id":5,"profiling_name":"nccl:all_reduce","state":"scheduled","input_sizes":[[3]],
            "output_sizes":[[3]],"time_created_us":17}]"#,
        r#"rank 4 version ""
           #- nccl:all_reduce scheduled c5 p- o- ""/"" [][[3]] [][[3]] created 17000"#,
    );
    check_json("[]", "rank 4 version \"\"");
}

#[test]
fn a_group_may_be_a_name_alone() {
    check_json(
        r#"{"version":"1.5","entries":[{"record_id":1,"process_group":"dp"},{"record_id":2,"process_group":["dp"]},
            {"record_id":3,"process_group":["dp","data"]},{"record_id":4,"process_group":null},
            {"record_id":5,"process_group":["dp","data","more"]},{"record_id":6,"process_group":[]}]}"#,
        r#"rank 4 version "1.5"
           #1  unknown c- p- o- "dp"/"" [][] [][]
           #2  unknown c- p- o- "dp"/"" [][] [][]
           #3  unknown c- p- o- "dp"/"data" [][] [][]
           #4  unknown c- p- o- ""/"" [][] [][]
           #5  unknown c- p- o- "dp"/"data" [][] [][]
           #6  unknown c- p- o- ""/"" [][] [][]"#,
    );
}

#[test]
fn dtypes_may_be_codes_or_a_bare_text() {
    check_json(
        r#"{"entries":[{"record_id":1,"input_dtypes":[6,15],"output_dtypes":"Half"},
            {"record_id":2,"input_dtypes":6,"output_dtypes":["Float","Half","Long"]},{"record_id":3,"input_dtypes":[999]}]}"#,
        r#"rank 4 version ""
           #1  unknown c- p- o- ""/"" ["Float", "BFloat16"][] ["Half"][]
           #2  unknown c- p- o- ""/"" ["Float"][] ["Float", "Half", "Long"][]
           #3  unknown c- p- o- ""/"" ["scalar type 999"][] [][]"#,
    );
}

#[test]
fn sizes_of_no_tensor_and_of_no_dimension_differ() {
    check_json(
        r#"{"entries":[{"record_id":1,"input_sizes":[],"output_sizes":[[]]},{"record_id":2,"input_sizes":[[0]],"output_sizes":[[],[4]]},
            {"record_id":3,"input_sizes":[[4],[]],"output_sizes":[2,3]}]}"#,
        r#"rank 4 version ""
           #1  unknown c- p- o- ""/"" [][] [][[]]
           #2  unknown c- p- o- ""/"" [][[0]] [][[], [4]]
           #3  unknown c- p- o- ""/"" [][[4], []] [][[2, 3]]"#,
    );
}

#[test]
fn numbers_may_be_text_and_truth_may_be_numbers() {
    check_json(
        r#"{"entries":[{"record_id":"7","collective_seq_id":" 8 ","p2p_seq_id":9.0,"op_id":true,"is_p2p":0,"retired":1,
            "time_created_ns":"1795976860193146819"},{"record_id":8,"collective_seq_id":null,"is_p2p":"True","state":"paused"}]}"#,
        r#"rank 4 version ""
           #7  unknown c8 p9 o1 ""/"" [][] [][] created 1795976860193146819 p2p false retired
           #8  unknown c- p- o- ""/"" [][] [][] p2p true"#,
    );
}

#[test]
fn numbers_that_no_column_holds_are_absent_and_said_once() {
    check_json(
        r#"{"entries":[{"record_id":0,"collective_seq_id":-1},{"record_id":1,"collective_seq_id":4294967295},
            {"record_id":2,"collective_seq_id":18446744073709551615},{"record_id":3,"collective_seq_id":[1]},
            {"record_id":4,"op_id":"x"}]}"#,
        r#"rank 4 version ""
           #0  unknown c- p- o- ""/"" [][] [][]
           #1  unknown c- p- o- ""/"" [][] [][]
           #2  unknown c- p- o- ""/"" [][] [][]
           #3  unknown c- p- o- ""/"" [][] [][]
           #4  unknown c- p- o- ""/"" [][] [][]
           UnexpectedValue: `collective_seq_id` should be a number from 0 to 4294967294, found -1; it counts as absent, here and wherever else it is so
           UnexpectedValue: `op_id` should be an integer, found the text "x"; it counts as absent, here and wherever else it is so"#,
    );
}

#[test]
fn groups_and_statuses_in_all_their_forms() {
    check_json(
        r#"{"version":"2.10","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0,1]"},"7":{"desc":"tp","ranks":[3, 2, 3]}},
            "pg_status":{"0":{"last_enqueued_collective":"42","last_started_collective":"-1","last_completed_collective":"41"},
            "3":{"last_enqueued_collective":2}},"nccl_comm_state":{"0x1":{"rank":"0","state":"x","version":"1"}},"bccl_comm_state":{}}"#,
        r#"rank 4 version "2.10" no list
           group "0" "default_pg" [0, 1]
           group "7" "tp" [2, 3]
           status 0: 42 -1 41
           status 3: 2 -1 -1"#,
    );
}

#[test]
fn a_dump_without_entries_is_a_dump() {
    check_json(
        r#"{"version":"2.10","comm_lib_version":"","pg_config":{},"pg_status":{}}"#,
        r#"rank 4 version "2.10" no list"#,
    );
    check_json(r#"{"version":"2.10","entries":[],"pg_config":{}}"#, r#"rank 4 version "2.10""#);
}

#[test]
fn the_rank_is_from_the_bundle_then_the_dump_then_the_name() {
    let dump = r#"{"version":"2.4","entries":[]"#;
    check_json(&format!(r#"{dump},"rank":9,"host_name":"a"}}"#), r#"rank 9 version "2.4""#);
    check_json(&format!(r#"{dump},"rank":"12"}}"#), r#"rank 12 version "2.4""#);
    check_json(
        &format!(r#"{{"3":{dump}}},"rank_11":{dump},"rank":2}},"Rank 5":{dump}}},"other":{dump}}}}}"#),
        "rank 3 version \"2.4\"\nrank 11 version \"2.4\"\nrank 5 version \"2.4\"\nrank ? version \"2.4\"",
    );
    // A dump in some wrapping is still the dump of the file's rank.
    check_json(&format!(r#"{{"result":{{"trace":{dump}}}}}}}"#), r#"rank 4 version "2.4""#);
}

#[test]
fn documents_may_follow_one_another() {
    check_json(
        "Rank 0:\n{\"version\":\"2.4\",\"entries\":[]}\nRank 1:\n{\"version\":\"2.5\",\"entries\":[]}\n",
        "rank 0 version \"2.4\"\nrank 1 version \"2.5\"",
    );
    check_json(
        "{\"version\":\"2.4\",\"rank\":3,\"entries\":[]}\n{\"version\":\"2.5\",\"entries\":[]}",
        "rank 3 version \"2.4\"\nrank ? version \"2.5\"",
    );
    check_json(
        "\u{feff}{\"version\":\"2.4\",\"entries\":[]} trailing",
        "rank 4 version \"2.4\"\nMalformed: 8 bytes follow the end of the JSON and are left out",
    );
}

#[test]
fn unknown_keys_are_kept_and_shown() {
    check_json(
        r#"{"version":"3.0","zeta":{"a":[1,{}]},"entries":[{"record_id":1,"colour":"red"},{"record_id":2,"colour":1,"area":null}]}"#,
        r#"rank 4 version "3.0"
           #1  unknown c- p- o- ""/"" [][] [][]
           #2  unknown c- p- o- ""/"" [][] [][]
           unknown ["area", "colour", "zeta"]"#,
    );
}

#[test]
fn entries_are_sorted_by_record_id() {
    check_json(
        r#"{"entries":[{"record_id":3},{"record_id":1},{"record_id":2}]}"#,
        r#"rank 4 version ""
           #1  unknown c- p- o- ""/"" [][] [][]
           #2  unknown c- p- o- ""/"" [][] [][]
           #3  unknown c- p- o- ""/"" [][] [][]"#,
    );
}

#[test]
fn items_that_are_no_entries_are_left_out() {
    check_json(
        r#"{"entries":[7,{"record_id":1},null]}"#,
        r#"rank 4 version ""
           #1  unknown c- p- o- ""/"" [][] [][]
           UnexpectedValue: the list of entries has 2 items that are no entries; they are left out"#,
    );
}

#[test]
fn json_that_breaks_off_keeps_what_came_before() {
    check_json(
        r#"{"version":"2.10","pg_config":{"0":{"name":"0","desc":"d","ranks":"[0, 1]"}},"entries":[{"record_id":1},{"record_id":2,"st"#,
        r#"rank 4 version "2.10" truncated
           group "0" "d" [0, 1]
           #1  unknown c- p- o- ""/"" [][] [][]
           Truncated: the file ends in the middle of the JSON; the entries before this place are kept"#,
    );
    check_json(
        r#"{"2":{"version":"2.10","entries":[{"record_id":1}]},"3":{"version":"2.9","entries":[{"record_id":5},{"#,
        r#"rank 2 version "2.10"
           #1  unknown c- p- o- ""/"" [][] [][]
           rank 3 version "2.9" truncated
           #5  unknown c- p- o- ""/"" [][] [][]
           Truncated: the file ends in the middle of the JSON; the entries before this place are kept"#,
    );
    let reading = read("rank_1", br#"{"entries":[{"record_id":1},{"record_id":x}]}"#);
    assert_eq!((reading.faults[0].kind, reading.faults[0].offset), (FaultKind::Malformed, Some(41)));
    assert!(reading.dumps[0].truncated && reading.dumps[0].entries.len() == 1);
}

#[test]
fn other_files_are_no_dumps_and_are_named() {
    for (bytes, kind, part) in [
        (&b""[..], FaultKind::Empty, "the file is empty"),
        (b" \n\t", FaultKind::Empty, "blanks only"),
        (b"\x89PNG\r\n\x1a\n", FaultKind::NotADump, "a PNG image"),
        (b"<html><body>", FaultKind::NotADump, "an HTML or XML page"),
        (b"\x7fELF\x02\x01", FaultKind::NotADump, "a Linux program"),
        (b"PK\x03\x04aaaa", FaultKind::NotADump, "a zip archive"),
        (b"# Notes\nnothing here", FaultKind::NotADump, "plain text"),
        (b"\0\0\0\0\0\0\0\0", FaultKind::NotADump, "zero bytes"),
        (b"[rank0]: Traceback", FaultKind::NotADump, "begins like JSON"),
        (br#"{"name":"left-pad","version":"1.0.0"}"#, FaultKind::NotADump, "no Flight Recorder dump"),
        (br#"{"entries":[{"url":"x","state":"open"}]}"#, FaultKind::NotADump, "no Flight Recorder dump"),
        (br#"{"log":{"version":"1.2","entries":[{"time":3}]}}"#, FaultKind::NotADump, "no Flight Recorder dump"),
        (b"{}", FaultKind::NotADump, "it holds an empty dict"),
        (b"\x80\x02K\x05.", FaultKind::NotADump, "it holds an integer"),
    ] {
        let reading = read("rank_0", bytes);
        assert!(reading.dumps.is_empty(), "{bytes:?}");
        assert_eq!(reading.faults.len(), 1, "{bytes:?}: {:?}", reading.faults);
        assert_eq!(reading.faults[0].kind, kind, "{bytes:?}: {:?}", reading.faults);
        assert!(reading.faults[0].message.contains(part), "{bytes:?}: {:?}", reading.faults);
    }
}

/// A dump as the recorder writes it, with two groups and three entries.
fn recorded() -> Tree {
    let frame = |line: i64| {
        Tree::Shared(dict([("name", "f".into()), ("filename", "/a.py".into()), ("line", line.into())]).into())
    };
    let (outer, inner) = (frame(1), frame(2));
    let entry = |id: i64, frames: Vec<Tree>| {
        dict([
            ("frames", Tree::List(frames)),
            ("record_id", id.into()),
            ("process_group", Tree::Tuple(vec!["0".into(), "default_pg".into()])),
            ("collective_seq_id", (300 * id).into()),
            ("profiling_name", "nccl:broadcast".into()),
            ("duration_ms", Tree::Float(1.5)),
            ("input_sizes", Tree::List(vec![Tree::List(vec![2.into(), 70_000.into()])])),
            ("input_dtypes", Tree::List(vec!["Float".into()])),
            ("state", "started".into()),
            ("time_discovered_started_ns", if id == 1 { Tree::None } else { Tree::Int(1_795_976_860_191_356_753) }),
            ("is_p2p", false.into()),
        ])
    };
    dict([
        ("version", "2.10".into()),
        (
            "pg_config",
            dict([("0", dict([("name", "0".into()), ("desc", "default_pg".into()), ("ranks", "[0, 1]".into())]))]),
        ),
        (
            "pg_status",
            dict([("0", dict([("last_enqueued_collective", 3.into()), ("last_started_collective", (-1).into())]))]),
        ),
        (
            "entries",
            Tree::List(vec![
                entry(1, vec![inner.clone(), outer.clone()]),
                entry(2, vec![outer.clone()]),
                entry(3, vec![inner, outer]),
            ]),
        ),
    ])
}

const RECORDED: &str = r#"rank 4 version "2.10"
    group "0" "default_pg" [0, 1]
    status 0: 3 -1 -1
    #1 nccl:broadcast started c300 p- o- "0"/"default_pg" ["Float"][[2, 70000]] [][] p2p false
    #2 nccl:broadcast started c600 p- o- "0"/"default_pg" ["Float"][[2, 70000]] [][] started 1795976860191356753 p2p false
    #3 nccl:broadcast started c900 p- o- "0"/"default_pg" ["Float"][[2, 70000]] [][] started 1795976860191356753 p2p false"#;

#[test]
fn a_pickle_of_the_recorder() {
    let bytes = pickle(&recorded());
    check("rank_4", &bytes, RECORDED);
    let reading = read("rank_4", &bytes);
    let dump = &reading.dumps[0];
    assert_eq!(dump.encoding, Encoding::Pickle);
    let stacks: Vec<_> = dump.entries.iter().map(|(_, entry)| entry.stack).collect();
    assert_eq!(stacks[0], stacks[2]);
    assert_eq!(dump.symbols.stacks.frames(stacks[0]).count(), 2);
    assert_eq!(dump.symbols.frames.len(), 2);
}

#[test]
fn what_follows_a_pickle() {
    let mut bytes = pickle(&recorded());
    bytes.extend([0; 16]);
    check("rank_4", &bytes, RECORDED);
    bytes.extend(b"junk");
    check("rank_4", &bytes, &format!("{RECORDED}\nMalformed: 20 bytes follow the end of the pickle and are left out"));
    let twice = [pickle(&recorded()), pickle(&recorded())].concat();
    let reading = read("rank_4", &twice);
    assert_eq!((reading.dumps.len(), reading.dumps[0].rank, reading.faults.len()), (2, None, 0));
}

#[test]
fn typed_lists_are_lists() {
    // {"entries": [{"record_id": 1, "input_sizes": [build_intlist(([4, 5],))], "input_split_sizes": build_intlist(([],))}]}
    let bytes = b"\x80\x02}(X\x07\0\0\0entries](}(X\x09\0\0\0record_idK\x01X\x0b\0\0\0input_sizes](ctorch.jit._pickle\nbuild_intlist\n\
        ](K\x04K\x05e\x85ReX\x11\0\0\0input_split_sizesctorch.jit._pickle\nbuild_intlist\n](e\x85Rueu.";
    check("rank_4", bytes, "rank 4 version \"\"\n#1  unknown c- p- o- \"\"/\"\" [][[4, 5]] [][]");
}

#[test]
fn a_pickle_that_names_code_is_not_trusted() {
    let whole = pickle(&recorded());
    // Just before the last two opcodes that close the list and the dict.
    let mut bytes = whole[..whole.len() - 5].to_vec();
    bytes.extend(b"cposix\nsystem\n(X\x02\0\0\0ls\x85R.");
    let reading = read("rank_4", &bytes);
    assert_eq!(reading.dumps[0].entries.len(), 3);
    assert!(reading.dumps[0].truncated);
    assert_eq!(reading.faults.len(), 1);
    assert_eq!(reading.faults[0].kind, FaultKind::Malformed);
    assert!(reading.faults[0].message.contains("posix.system"), "{:?}", reading.faults);
}
