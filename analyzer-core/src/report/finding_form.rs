//! How a finding is written.

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::Finding;

/// Documents for people and programs leave out lists that most findings do not have. A form without names of fields, as it goes between the
/// page's threads, cannot leave out anything.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Finding {
            id,
            kind,
            cause,
            confidence,
            group,
            seq,
            p2p,
            op,
            suspects,
            tie,
            victims,
            blocked,
            sides,
            cycle,
            also,
            evidence,
            alternatives,
            next_steps,
        } = self;
        let leaves_out = serializer.is_human_readable();
        let is_left_out = |is_empty: bool| leaves_out && is_empty;
        let count = 18 - usize::from(is_left_out(cycle.is_empty())) - usize::from(is_left_out(also.is_empty()));
        let mut form = serializer.serialize_struct("Finding", count)?;
        form.serialize_field("id", id)?;
        form.serialize_field("kind", kind)?;
        form.serialize_field("cause", cause)?;
        form.serialize_field("confidence", confidence)?;
        form.serialize_field("group", group)?;
        form.serialize_field("seq", seq)?;
        form.serialize_field("p2p", p2p)?;
        form.serialize_field("op", op)?;
        form.serialize_field("suspects", suspects)?;
        form.serialize_field("tie", tie)?;
        form.serialize_field("victims", victims)?;
        form.serialize_field("blocked", blocked)?;
        form.serialize_field("sides", sides)?;
        if is_left_out(cycle.is_empty()) {
            form.skip_field("cycle")?;
        } else {
            form.serialize_field("cycle", cycle)?;
        }
        if is_left_out(also.is_empty()) {
            form.skip_field("also")?;
        } else {
            form.serialize_field("also", also)?;
        }
        form.serialize_field("evidence", evidence)?;
        form.serialize_field("alternatives", alternatives)?;
        form.serialize_field("next_steps", next_steps)?;
        form.end()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;
    use alloc::vec;

    use crate::analyze;
    use crate::dump;
    use crate::report::{Report, render_json};

    #[test]
    fn both_forms_give_the_finding_back() {
        let dump = |rank: u32, state: &str| {
            let text = alloc::format!(
                r#"{{"version": "2.10", "pg_config": {{"0": {{"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}}}, "entries": [{{
                    "record_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 1, "input_sizes": [[{rank}]],
                    "output_sizes": [[{rank}]], "profiling_name": "nccl:all_reduce", "state": "{state}"}}]}}"#
            );
            dump::read(&["rank_".to_string(), rank.to_string()].concat(), text.as_bytes())
        };
        let analysis = analyze(vec![dump(0, "started"), dump(1, "started")]);
        let report = analysis.report();
        assert_eq!(report.findings.len(), 1, "{}", report.headline);
        let json = render_json(report);
        assert!(!json.contains("\"cycle\"") && !json.contains("\"also\""), "{json}");
        assert_eq!(&serde_json::from_str::<Report>(&json).unwrap(), report);
        let bytes = postcard::to_allocvec(report).unwrap();
        assert_eq!(&postcard::from_bytes::<Report>(&bytes).unwrap(), report);
    }
}
