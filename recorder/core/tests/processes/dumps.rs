//! What is in a dump: the keys and types of PyTorch's own, and what was recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::job::Job;
use hangscope_analyzer_core::dump::read;

/// A real dump of PyTorch's.
fn real(form: &str) -> PathBuf {
    let dumps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/dumps");
    dumps.join(if form == "json" {
        "b_skip_clip_8r_hook/json/nccl_trace_rank_0.json"
    } else {
        "i_sendrecv_skip_recv_4r_hook/pickle/nccl_trace_rank_0"
    })
}

fn recorded(variables: &[(&str, &str)]) -> (Job, Vec<u8>) {
    let mut job = Job::start(2, &[&[("HANGSCOPE_TIMEOUT", "3s")], variables].concat());
    job.warm_up();
    job.all("op 16");
    job.all("start");
    job.all("done");
    job.ranks[0].tell("send 1 64");
    job.ranks[0].tell("done");
    job.ranks[0].tell("recv 1 64");
    job.ranks[1].tell("recv 0 64");
    job.ranks[1].tell("done");
    job.wait_for_dumps(0..2);
    let bytes = fs::read(job.dump_path(0)).unwrap();
    (job, bytes)
}

/// The types under each key of each part of two pickles, as Python reads them.
fn types_in_python(paths: [&Path; 2]) -> [BTreeMap<String, BTreeMap<String, Vec<String>>>; 2] {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/processes/types.py");
    let output = Command::new("python3").arg(script).args(paths).output().expect("python3 reads pickles here");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_pickle_has_the_keys_and_types_of_pytorchs() {
    let (job, bytes) = recorded(&[]);
    assert_eq!(&bytes[..2], b"\x80\x02", "protocol 2");
    let [ours, theirs] = types_in_python([&job.dump_path(0), &real("pickle")]);
    for part in ["keys", "pg_config", "pg_status"] {
        assert_eq!(ours[part], theirs[part], "{part}");
    }
    let (ours, theirs) = (&ours["entries"], &theirs["entries"]);
    for (key, types) in ours {
        let known = theirs.get(key).unwrap_or_else(|| panic!("PyTorch has no {key}"));
        for of_type in types {
            assert!(known.contains(of_type), "{key} is a {of_type}, in PyTorch {known:?}");
        }
    }
    let absent: Vec<_> = theirs.keys().filter(|key| !ours.contains_key(*key)).collect();
    // There are no frames of a program without Python and without a wish for native ones.
    assert_eq!(absent, ["frames"]);
}

fn json_type(value: &serde_json::Value) -> &'static str {
    match value {
        serde_json::Value::Null => "null",
        serde_json::Value::Bool(_) => "bool",
        serde_json::Value::Number(_) => "number",
        serde_json::Value::String(_) => "text",
        serde_json::Value::Array(_) => "list",
        serde_json::Value::Object(_) => "object",
    }
}

#[test]
fn json_has_the_keys_and_types_of_pytorchs() {
    let (_job, bytes) = recorded(&[("HANGSCOPE_FORMAT", "json")]);
    let [ours, theirs]: [serde_json::Value; 2] =
        [bytes, fs::read(real("json")).unwrap()].map(|bytes| serde_json::from_slice(&bytes).unwrap());
    let types = |value: &serde_json::Value| -> BTreeMap<String, &'static str> {
        value.as_object().unwrap().iter().map(|(key, value)| (key.clone(), json_type(value))).collect()
    };
    assert_eq!(types(&ours), types(&theirs));
    let first = |value: &serde_json::Value, key: &str| types(value[key].as_object().unwrap().values().next().unwrap());
    for key in ["pg_config", "pg_status"] {
        assert_eq!(first(&ours, key), first(&theirs, key), "{key}");
    }
    let theirs = types(&theirs["entries"][0]);
    for entry in ours["entries"].as_array().unwrap() {
        for (key, of_type) in types(entry) {
            assert!(key == "duration_ms" || theirs.get(&key) == Some(&of_type), "{key}: {of_type}");
        }
    }
}

#[test]
fn the_reader_finds_what_was_recorded() {
    for form in ["pickle", "json"] {
        let (job, bytes) = recorded(&[("HANGSCOPE_FORMAT", form)]);
        let reading = read("comm_lib_trace_rank_0", &bytes);
        assert_eq!(reading.faults.len(), 0, "{form}");
        assert_eq!(reading.dumps[0].entries.len(), 4, "{form}");
        let analysis = job.analyse();
        let report = analysis.report();
        let finding = &report.findings[0];
        let p2p = finding.p2p.as_ref().unwrap();
        // Rank 1 sends nothing.
        assert_eq!((p2p.src, p2p.dst, finding.suspects.as_str()), (1, 0, "1"), "{form}: {}", report.headline);
        assert_eq!(report.job.backends, ["test"], "{form}");
    }
}

/// A receive that was posted early and that nobody waits for holds nobody up.
#[test]
fn a_call_that_nobody_waits_for_comes_last() {
    let mut job = Job::start(2, &[("HANGSCOPE_TIMEOUT", "3s")]);
    job.warm_up();
    job.ranks[0].tell("recv 1 64");
    job.ranks[0].tell("pending");
    job.ranks[0].tell("op 16");
    job.wait_for_dumps(0..2);
    let analysis = job.analyse();
    let report = analysis.report();
    assert_eq!(report.findings[0].suspects, "1");
    assert_eq!(report.findings[0].seq, Some(2), "{}", report.headline);
}
