//! The command on real dumps whose truth is known.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{fixtures, hangscope, report, scenarios};
use serde_json::Value;

fn truth(scenario: &str) -> Value {
    let path = fixtures().join("dumps").join(scenario).join("truth.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn ranks(text: &str) -> BTreeSet<u64> {
    text.split(',')
        .filter(|part| !part.is_empty())
        .flat_map(|part| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            low.parse::<u64>().unwrap()..=high.parse().unwrap()
        })
        .collect()
}

#[test]
fn every_verdict_names_the_true_place_and_ranks() {
    let mut wrong = Vec::new();
    for scenario in scenarios() {
        let (truth, (report, status)) =
            (truth(&scenario), report(&fixtures().join("dumps").join(&scenario), &["pickle"]));
        if let Err(why) = judge(&truth, &report, status) {
            wrong.push(format!("{scenario}: {why}: {}", report["headline"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn judge(truth: &Value, report: &Value, status: i32) -> Result<(), String> {
    let finding = &report["findings"][0];
    if truth["kind"] == "healthy" {
        let quiet = finding.is_null() && status == 0 && report["verdict"] == "no_fault";
        return if quiet { Ok(()) } else { Err("a false alarm".into()) };
    }
    if status != 1 {
        return Err(format!("exit status {status}"));
    }
    let culprits: BTreeSet<u64> =
        truth["culprit_ranks"].as_array().unwrap().iter().map(|rank| rank.as_u64().unwrap()).collect();
    let blamed = ranks(finding["suspects"].as_str().unwrap());
    // A dump records neither the splits of an all_to_all nor the root of a broadcast.
    let undecidable = truth["kind"] == "split_mismatch" || truth["kind"] == "root_mismatch";
    if blamed != culprits && !(undecidable && blamed.is_empty()) {
        return Err(format!("blames {blamed:?} where {culprits:?} did it"));
    }
    let seq = &truth["first_bad_collective_seq"];
    if !seq.is_null() && *seq != finding["seq"] {
        return Err(format!("row {} where it was {seq}", finding["seq"]));
    }
    let group = &truth["culprit_group"]["desc"];
    if truth["recorder"] != "gloo" && !group.is_null() && *group != finding["group"]["desc"] {
        return Err(format!("group {} where it was {group}", finding["group"]["desc"]));
    }
    Ok(())
}

#[test]
fn reports_are_as_reviewed() {
    for scenario in scenarios() {
        let folder = fixtures().join("dumps").join(&scenario);
        let text = hangscope(&folder, &["analyze", "pickle"]);
        let (mut report, _) = report(&folder, &["pickle"]);
        report["tool"]["version"] = "VERSION".into();
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!(format!("{scenario}.txt"), String::from_utf8(text.stdout).unwrap());
            insta::assert_snapshot!(format!("{scenario}.json"), serde_json::to_string_pretty(&report).unwrap());
        });
    }
}

#[test]
fn the_order_of_the_files_changes_nothing() {
    for scenario in scenarios() {
        let folder = fixtures().join("dumps").join(&scenario).join("pickle");
        let mut names: Vec<String> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        let run = |names: &[String]| {
            let mut arguments = vec!["analyze", "--format", "json"];
            arguments.extend(names.iter().map(String::as_str));
            hangscope(&folder, &arguments).stdout
        };
        let expected = run(&names);
        names.reverse();
        assert_eq!(run(&names), expected, "{scenario}");
        let middle = names.len() / 2;
        names.rotate_left(middle);
        assert_eq!(run(&names), expected, "{scenario}");
    }
}

#[test]
fn json_dumps_of_a_job_give_the_same_verdict_as_its_pickles() {
    let mut compared = 0;
    for scenario in scenarios() {
        let folder = fixtures().join("dumps").join(&scenario);
        if !folder.join("json").is_dir() {
            continue;
        }
        compared += 1;
        let ((pickle, _), (json, _)) = (report(&folder, &["pickle"]), report(&folder, &["json"]));
        for field in ["kind", "suspects", "victims", "blocked", "seq", "p2p", "op", "group"] {
            assert_eq!(pickle["findings"][0][field], json["findings"][0][field], "{scenario}: {field}");
        }
    }
    assert!(compared >= 3, "the JSON fixtures are missing");
}

/// Jobs that are, without one dump, as they would be if that rank had died: the members that are left did the same, and wait.
const AS_IF_IT_DIED: [(&str, &[u64]); 3] = [
    // Dumps of this version record no splits, and no dump the root.
    ("f_a2a_splits_4r", &[0, 1, 3]),
    ("q_broadcast_root_4r", &[0, 1, 3]),
    // Only rank 1 knows of the message that rank 2 left out.
    ("i_sendrecv_skip_recv_4r_hook", &[1]),
];

#[test]
fn a_dump_that_is_not_there_makes_nobody_else_a_suspect() {
    let (mut wrong, mut dropped, mut blamed_for_nothing) = (Vec::new(), 0, Vec::new());
    for scenario in scenarios() {
        let truth = truth(&scenario);
        let folder = fixtures().join("dumps").join(&scenario).join("pickle");
        if !folder.is_dir() {
            continue;
        }
        let culprits: BTreeSet<u64> =
            truth["culprit_ranks"].as_array().unwrap().iter().map(|rank| rank.as_u64().unwrap()).collect();
        let names: Vec<String> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        for name in &names {
            let gone: u64 = name.rsplit('_').next().unwrap().parse().unwrap();
            let rest: Vec<&str> = names.iter().filter(|other| *other != name).map(String::as_str).collect();
            let (report, _) = report(&folder, &rest);
            let finding = &report["findings"][0];
            let suspects = ranks(finding["suspects"].as_str().unwrap_or_default());
            dropped += 1;
            if truth["kind"] == "healthy" {
                assert!(suspects.is_empty(), "{scenario} without rank {gone}: {}", report["headline"]);
            } else if suspects == BTreeSet::from([gone]) && !culprits.contains(&gone) {
                assert_eq!(
                    (&finding["kind"], &finding["confidence"]),
                    (&"no_dump".into(), &"medium".into()),
                    "{scenario}"
                );
                blamed_for_nothing.push((scenario.clone(), gone));
            } else if !suspects.is_subset(&culprits) {
                wrong.push(format!("{scenario} without rank {gone}: {}", report["headline"]));
            }
        }
    }
    assert!(wrong.is_empty() && dropped > 100, "{dropped} dumps left out; {}", wrong.join("\n"));
    blamed_for_nothing.sort();
    let mut expected: Vec<(String, u64)> =
        AS_IF_IT_DIED.iter().flat_map(|(name, gone)| gone.iter().map(|&gone| ((*name).to_owned(), gone))).collect();
    expected.sort();
    assert_eq!(blamed_for_nothing, expected);
}
