//! A dump against the tree of values that the file holds.

use hangscope_analyzer_core::dump::Dump;
use hangscope_analyzer_core::symbols::{DtypesId, ShapesId, StrId};
use serde_json::{Value, json};

/// Compares every field that the JSON form has. `twin` says that the tree is of another dump of the same moment.
pub fn compare_with_tree(dump: &Dump, tree: &Value, twin: bool, file: &str) {
    assert_eq!(dump.version, tree["version"], "{file}");
    assert_eq!(dump.comm_lib_version, text(&tree["comm_lib_version"]), "{file}");
    // JSON has no key when there are no entries.
    assert!(dump.has_entries_key == tree.get("entries").is_some() || twin && dump.entries.is_empty(), "{file}");
    let none = Vec::new();
    let entries = tree["entries"].as_array().unwrap_or(&none);
    assert_eq!(dump.entries.len(), entries.len(), "{file}");
    for ((index, entry), expected) in dump.entries.iter().zip(entries) {
        let string = |id: StrId| dump.symbols.strings.get(id).to_owned();
        let sizes = |id: ShapesId| -> Vec<Vec<i64>> {
            dump.symbols.shape_lists.get(id).iter().map(|&shape| dump.symbols.shapes.get(shape).to_vec()).collect()
        };
        let dtypes =
            |id: DtypesId| -> Vec<String> { dump.symbols.dtype_lists.get(id).iter().map(|&id| string(id)).collect() };
        let args = dump.symbols.args.get(entry.args);
        let group = dump.group_refs[entry.group_ref as usize];
        let found = json!({
            "collective_seq_id": entry.collective_seq,
            "input_dtypes": dtypes(args.input_dtypes),
            "input_sizes": sizes(args.input_sizes),
            "is_p2p": entry.is_p2p,
            "op_id": entry.op_id,
            "output_dtypes": dtypes(args.output_dtypes),
            "output_sizes": sizes(args.output_sizes),
            "p2p_seq_id": entry.p2p_seq,
            "pg_id": group.pg_id,
            "process_group": [string(group.name), string(group.desc)],
            "profiling_name": string(entry.op),
            "record_id": entry.record_id,
            "retired": entry.retired,
            "state": entry.state.name(),
            "thread_name": string(entry.thread),
            "time_created_ns": entry.created_ns,
            "time_discovered_completed_ns": entry.completed_ns,
            "time_discovered_started_ns": entry.started_ns,
            "timeout_ms": entry.timeout_ms,
        });
        let mut expected = expected.clone();
        let fields = expected.as_object_mut().expect("an entry is an object");
        fields.remove("thread_id");
        if let Some(duration) = fields.remove("duration_ms") {
            assert_eq!(entry.duration_ms, duration.as_f64().map(|ms| ms as f32), "{file} {index:?}");
        } else {
            assert_eq!(entry.duration_ms, None, "{file} {index:?}");
        }
        // The recorder's JSON says 0 where its pickle says none.
        for key in ["time_discovered_completed_ns", "time_discovered_started_ns"] {
            if expected[key].is_null() {
                expected[key] = json!(0);
            }
        }
        if twin && expected["state"] != "completed" {
            // The recorder looks for events when it dumps, and it dumped the two forms one after the other.
            expected["time_discovered_started_ns"] = json!(entry.started_ns);
        }
        assert_eq!(found, expected, "{file} {index:?}");
    }
    let mut groups = serde_json::Map::new();
    for group in &dump.group_configs {
        let ranks = group.ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        groups.insert(
            group.name.clone(),
            json!({ "name": group.name, "desc": group.desc, "ranks": format!("[{ranks}]") }),
        );
    }
    let mut expected = tree["pg_config"].clone();
    for (_, group) in expected.as_object_mut().expect("pg_config") {
        group["ranks"] = json!(text(&group["ranks"]).replace(' ', ""));
    }
    assert_eq!(Value::Object(groups), expected, "{file}");
    let mut statuses = serde_json::Map::new();
    for status in &dump.group_statuses {
        statuses.insert(
            status.pg_id.to_string(),
            json!({
                "last_enqueued_collective": status.last_enqueued.to_string(),
                "last_started_collective": status.last_started.to_string(),
                "last_completed_collective": status.last_completed.to_string(),
            }),
        );
    }
    assert_eq!(Value::Object(statuses), tree["pg_status"], "{file}");
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}
