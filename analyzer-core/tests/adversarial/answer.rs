//! What the analyser said, and what may be asked of it.

use hangscope_analyzer_core::{analyze, dump};
use serde_json::Value;

/// A report, as its readers see it.
pub struct Answer {
    report: Value,
}

impl Answer {
    /// Analyses the files, and again in other orders: the report must be the same.
    pub fn to(files: &[(String, Vec<u8>)]) -> Answer {
        let report_of = |order: &mut dyn Iterator<Item = usize>| {
            let readings = order.map(|at| dump::read(&files[at].0, &files[at].1)).collect();
            serde_json::to_value(analyze(readings).report()).unwrap()
        };
        let report = report_of(&mut (0..files.len()));
        assert_eq!(report, report_of(&mut (0..files.len()).rev()), "the order of the files matters");
        Answer { report }
    }

    fn verdict(&self) -> &str {
        self.report["verdict"].as_str().unwrap()
    }

    fn findings(&self) -> &[Value] {
        self.report["findings"].as_array().unwrap()
    }

    /// For messages: what was said.
    fn said(&self) -> String {
        let mut said = format!("{}: {}", self.verdict(), self.report["headline"].as_str().unwrap());
        for finding in self.findings() {
            said += &format!(
                "\n  {} cause {} ({}) suspects {} tie {} group {} seq {} p2p {} op {} victims {} blocked {}\n    evidence {}",
                finding["kind"],
                finding["cause"],
                finding["confidence"],
                finding["suspects"],
                finding["tie"],
                finding["group"]["name"],
                finding["seq"],
                finding["p2p"],
                finding["op"],
                finding["victims"],
                finding["blocked"],
                finding["evidence"],
            );
        }
        said
    }

    /// Nothing is wrong, and nothing is said to be.
    #[track_caller]
    pub fn healthy(&self) {
        assert_eq!(self.verdict(), "no_fault", "{}", self.said());
        assert!(self.findings().is_empty(), "{}", self.said());
    }

    /// Nobody is blamed, whatever else is said.
    #[track_caller]
    pub fn blames_nobody(&self) -> &Answer {
        let everybody = self.report["ranks"].as_array().unwrap().iter().map(|rank| rank["rank"].as_u64().unwrap());
        self.never_blames(&everybody.map(|rank| u32::try_from(rank).unwrap()).collect::<Vec<_>>())
    }

    /// These ranks are in no finding's suspects, and no rank's status says otherwise.
    #[track_caller]
    pub fn never_blames(&self, innocent: &[u32]) -> &Answer {
        for rank in innocent {
            for finding in self.findings() {
                let suspects = ranks(finding["suspects"].as_str().unwrap());
                assert!(!suspects.contains(rank), "rank {rank} is innocent\n{}", self.said());
            }
            let own = self.report["ranks"].as_array().unwrap().iter().find(|own| own["rank"] == *rank);
            assert!(own.is_none_or(|own| own["status"] != "suspect"), "rank {rank} is innocent\n{}", self.said());
        }
        self
    }

    /// The verdict is one of these.
    #[track_caller]
    pub fn verdict_in(&self, verdicts: &[&str]) -> &Answer {
        assert!(verdicts.contains(&self.verdict()), "not one of {verdicts:?}\n{}", self.said());
        self
    }

    /// A fault was seen.
    #[track_caller]
    pub fn hung(&self) -> &Answer {
        assert!(!self.findings().is_empty(), "a fault was overlooked\n{}", self.said());
        self
    }

    /// One finding, which blames one of these sets of ranks.
    #[track_caller]
    pub fn blames(&self, suspects: &[&str]) -> &Answer {
        assert_eq!(self.findings().len(), 1, "one fault\n{}", self.said());
        let blamed = self.findings()[0]["suspects"].as_str().unwrap();
        assert!(suspects.contains(&blamed), "{blamed:?} is not one of {suspects:?}\n{}", self.said());
        self
    }

    /// The first finding is in this row.
    #[track_caller]
    pub fn in_row(&self, group: &str, seq: u32) -> &Answer {
        let first = &self.findings()[0];
        assert_eq!((&first["group"]["name"], &first["seq"]), (&group.into(), &seq.into()), "{}", self.said());
        self
    }

    /// What each finding observed and whom it blames, sorted.
    pub fn faults(&self) -> Vec<(&str, &str)> {
        let mut faults: Vec<_> = self
            .findings()
            .iter()
            .map(|finding| (finding["kind"].as_str().unwrap(), finding["suspects"].as_str().unwrap()))
            .collect();
        faults.sort_unstable();
        faults
    }

    /// The report notes this about the input.
    #[track_caller]
    pub fn notes(&self, quality: &str) -> &Answer {
        let notes = self.report["data_quality"].as_array().unwrap();
        assert!(notes.iter().any(|note| note["kind"] == quality), "no {quality} in {notes:?}");
        self
    }
}

/// The ranks of a text such as `0-2,5`.
fn ranks(ranges: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse::<u32>().unwrap()..=last.parse::<u32>().unwrap()
    };
    ranges.split(',').filter(|part| !part.is_empty()).flat_map(range).collect()
}
