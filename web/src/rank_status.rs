//! The parts that ranks have in what happened, in words and counts.

use hangscope_analyzer_core::report::{CellCode, RankState, RankStatus, RowNumber, ranges, readable_ranges};

use crate::dataset::{CellPlace, Dataset};
use crate::text;

/// All statuses, the one to look at first at the front.
const BY_URGENCY: [RankStatus; 6] = [
    RankStatus::Suspect,
    RankStatus::NoDump,
    RankStatus::Unreadable,
    RankStatus::Victim,
    RankStatus::Blocked,
    RankStatus::Ok,
];

/// How many letters of ranges a line of text bears.
const LONGEST: usize = 60;

/// The ranks of one status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatusCount {
    pub(crate) status: RankStatus,
    /// Of the unreadable: whether their dumps could be read, but break off.
    breaks_off: bool,
    /// Their columns, ascending.
    pub(crate) columns: Vec<u32>,
    /// They, as ranges, cut where they are many.
    pub(crate) ranks: String,
}

impl StatusCount {
    /// `1 suspect`, `6 wait here`, `1 dump breaks off`.
    pub(crate) fn label(&self) -> String {
        let count = self.columns.len() as u64;
        let one = count == 1;
        let words = match self.status {
            RankStatus::Suspect if one => "suspect",
            RankStatus::Suspect => "suspects",
            RankStatus::Victim if one => "waits here",
            RankStatus::Victim => "wait here",
            RankStatus::Blocked => "blocked elsewhere",
            RankStatus::Ok if one => "waits for nothing",
            RankStatus::Ok => "wait for nothing",
            RankStatus::NoDump => "without a dump",
            RankStatus::Unreadable if !self.breaks_off => "unreadable",
            RankStatus::Unreadable if one => "dump breaks off",
            RankStatus::Unreadable => "dumps break off",
        };
        format!("{} {words}", text::thousands(count))
    }
}

/// Which status stands for several ranks: the one to look at is the greatest.
pub(crate) fn urgency(status: RankStatus) -> usize {
    let rank = BY_URGENCY.iter().position(|known| *known == status);
    rank.map_or(0, |rank| BY_URGENCY.len() - rank)
}

/// The class of the style sheet.
pub(crate) fn class(status: RankStatus) -> &'static str {
    match status {
        RankStatus::Suspect => "suspect",
        RankStatus::Victim => "victim",
        RankStatus::Blocked => "blocked",
        RankStatus::Ok => "ok",
        RankStatus::NoDump => "nodump",
        RankStatus::Unreadable => "unreadable",
    }
}

/// The ranks of each status, the urgent first; statuses that no rank has are left out.
pub(crate) fn counts(dataset: &Dataset) -> Vec<StatusCount> {
    let mut counts = Vec::new();
    for status in BY_URGENCY {
        for breaks_off in [false, true] {
            let columns = (0..).zip(&dataset.index().ranks).filter(|(_, column)| column.status == status);
            let columns = columns.filter(|(_, column)| dataset.breaks_off(column.rank) == breaks_off);
            let (columns, ranks): (Vec<u32>, Vec<u32>) = columns.map(|(at, column)| (at, column.rank)).unzip();
            if !columns.is_empty() {
                counts.push(StatusCount { status, breaks_off, columns, ranks: short(&ranges(ranks)) });
            }
        }
    }
    counts
}

/// `8 ranks. 1 suspect: rank 5; 3 wait here: ranks 4,6-7; …`
pub(crate) fn summary(dataset: &Dataset) -> String {
    let parts: Vec<String> = counts(dataset)
        .iter()
        .map(|count| {
            let noun = if count.columns.len() == 1 { "rank" } else { "ranks" };
            format!("{}: {noun} {}", count.label(), count.ranks)
        })
        .collect();
    format!("{}. {}", text::counted(dataset.column_count().into(), "rank"), parts.join("; "))
}

/// Ranges, cut after whole ones where they are long.
pub(crate) fn short(ranges: &str) -> String {
    if ranges.len() <= LONGEST {
        return ranges.to_owned();
    }
    let cut = ranges.get(..LONGEST).and_then(|start| start.rfind(',')).unwrap_or(0);
    format!("{},…", ranges.get(..cut).unwrap_or_default())
}

/// As much of ranges as [`short`] looks at. Each of ten thousand ranks waits for a thousand others, which are not for the page's own thread.
pub(crate) fn enough(ranges: &str) -> &str {
    ranges.get(..2 * LONGEST).unwrap_or(ranges)
}

/// A rank in one line: `rank 4: waits in all_reduce, row 18 of tp[4-7], for rank 5`.
pub(crate) fn describe(dataset: &Dataset, column: u32) -> String {
    let (Some(rank), Some(status)) = (dataset.rank(column), dataset.status(column)) else { return String::new() };
    let word = match status {
        RankStatus::Suspect => "suspect",
        RankStatus::Victim => "waits here",
        RankStatus::Blocked => "blocked",
        RankStatus::Ok => "waits for nothing",
        RankStatus::NoDump => "left no dump",
        RankStatus::Unreadable if dataset.breaks_off(rank) => "its dump breaks off, so what it waits for is not known",
        RankStatus::Unreadable => "its dump cannot be read",
    };
    match state(dataset, rank).and_then(waits) {
        Some(waits) if status == RankStatus::Victim => format!("rank {rank}: {waits}"),
        Some(waits) => format!("rank {rank}: {word}, {waits}"),
        None => format!("rank {rank}: {word}"),
    }
}

/// Several neighbours in one line: `ranks 100-114: 1 suspect (rank 105), 14 blocked elsewhere`.
pub(crate) fn describe_all(dataset: &Dataset, columns: std::ops::Range<u32>) -> String {
    if columns.len() == 1 {
        return describe(dataset, columns.start);
    }
    let ranks: Vec<u32> = columns.clone().filter_map(|column| dataset.rank(column)).collect();
    let parts = counts(dataset).into_iter().filter_map(|mut count| {
        count.columns.retain(|column| columns.contains(column));
        let only = match count.columns.as_slice() {
            [] => return None,
            [only] => dataset.rank(*only).map(|rank| format!(" (rank {rank})")).unwrap_or_default(),
            _ => String::new(),
        };
        Some(format!("{}{only}", count.label()))
    });
    format!("ranks {}: {}", readable_ranges(&ranks), parts.collect::<Vec<_>>().join(", "))
}

/// `waits in all_reduce, row 18 of tp[4-7], for rank 5`.
fn waits(state: &RankState) -> Option<String> {
    let place = state.waits_in.as_ref()?;
    let row = place.seq.map(|seq| format!("row {seq} of ")).unwrap_or_default();
    let whom = match state.waits_for.to_string().as_str() {
        "" => String::new(),
        ranges => format!(", for {}", text::ranks(&short(ranges))),
    };
    Some(format!("waits in {}, {row}{}{whom}", place.op, place.group))
}

fn state(dataset: &Dataset, rank: u32) -> Option<&RankState> {
    let at = dataset.report.ranks.binary_search_by_key(&rank, |state| state.rank).ok()?;
    dataset.report.ranks.get(at)
}

/// The cell that tells most of a rank: where a finding points at it, else where it waits, else beside the active cell, else
/// the last that it has.
pub(crate) fn telling_cell(dataset: &Dataset, column: u32, active: Option<CellPlace>) -> Option<CellPlace> {
    let has_cell = |row: &u32| dataset.code(CellPlace { row: *row, column }).state() != CellCode::NONE;
    let of_finding = || {
        let mut findings = dataset.index().findings.iter();
        findings.find(|finding| finding.columns.contains(&column)).and_then(|finding| finding.row).filter(has_cell)
    };
    let in_last_band = || {
        let rows = dataset.index().bands.iter().filter(|band| band.columns.binary_search(&column).is_ok());
        rows.flat_map(|band| (band.first_row..band.first_row.saturating_add(band.row_count)).rev()).find(has_cell)
    };
    let row = of_finding()
        .or_else(|| waiting_row(dataset, column))
        .or_else(|| active.map(|active| active.row).filter(has_cell))
        .or_else(in_last_band)?;
    Some(CellPlace { row, column })
}

/// The row in which a rank waits.
fn waiting_row(dataset: &Dataset, column: u32) -> Option<u32> {
    let place = state(dataset, dataset.rank(column)?)?.waits_in.as_ref()?;
    let number = place.seq.map(RowNumber::Collective);
    let bands = dataset.index().bands.iter().filter(|band| {
        band.label == place.group && band.p2p == number.is_none() && band.columns.binary_search(&column).is_ok()
    });
    let is_wanted = |row: &u32| match number {
        Some(number) => dataset.row(*row).is_some_and(|head| head.number == number),
        None => {
            matches!(dataset.code(CellPlace { row: *row, column }).state(), CellCode::SCHEDULED | CellCode::STARTED)
        }
    };
    bands.flat_map(|band| band.first_row..band.first_row.saturating_add(band.row_count)).find(is_wanted)
}

#[cfg(test)]
mod tests {
    use hangscope_analyzer_core::report::Place;

    use super::*;
    use crate::example;

    fn waiting(rank: u32, group: &str, seq: u32, waits_for: &str) -> RankState {
        RankState {
            rank,
            status: RankStatus::Blocked,
            waits_in: Some(Place { group: group.to_owned(), seq: Some(seq), op: "all_reduce".to_owned() }),
            waits_for: waits_for.into(),
        }
    }

    #[test]
    fn in_words() {
        let mut dataset = example::dataset();
        assert_eq!(
            summary(&dataset),
            "8 ranks. 1 suspect: rank 5; 3 wait here: ranks 4,6-7; 4 blocked elsewhere: ranks 0-3"
        );
        assert_eq!(describe(&dataset, 5), "rank 5: suspect");
        dataset.report.ranks = vec![waiting(2, "world", 3, "4-7")];
        assert_eq!(describe(&dataset, 2), "rank 2: blocked, waits in all_reduce, row 3 of world, for ranks 4-7");
        assert_eq!(
            describe_all(&dataset, 3..6),
            "ranks 3-5: 1 suspect (rank 5), 1 waits here (rank 4), 1 blocked elsewhere (rank 3)"
        );
        assert_eq!(describe(&dataset, 99), "");
    }

    #[test]
    fn long_ranges_are_cut_between_two() {
        let long = (0..40).map(|rank| (rank * 2).to_string()).collect::<Vec<_>>().join(",");
        assert!(short(&long).ends_with(",…") && short(&long).len() <= LONGEST + 4, "{}", short(&long));
        assert_eq!(short("0-3"), "0-3");
    }

    #[test]
    fn leads_to_the_cell_that_tells_most() {
        let mut dataset = example::dataset();
        dataset.report.ranks = vec![waiting(2, "world", 3, "4-7"), waiting(5, "world", 3, "")];
        let row = |column, active: Option<u32>| {
            telling_cell(&dataset, column, active.map(|row| CellPlace { row, column: 0 })).map(|place| place.row)
        };
        assert_eq!(row(5, None), Some(example::ORIGIN.row), "where the finding points, though it waits elsewhere");
        assert_eq!(row(2, Some(10)), Some(12), "where it waits");
        assert_eq!(row(6, Some(3)), Some(3), "beside the active cell");
        assert_eq!(row(0, Some(3)), Some(12), "the last row that it is in");
    }

    #[test]
    fn urgency_is_an_order() {
        assert!(urgency(RankStatus::Suspect) > urgency(RankStatus::NoDump));
        assert!(urgency(RankStatus::Victim) > urgency(RankStatus::Blocked));
        assert!(urgency(RankStatus::Blocked) > urgency(RankStatus::Ok));
    }
}
