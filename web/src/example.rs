//! A small job for unit tests: eight ranks, `tp[4-7]` with ten rows of which the last has rank 5 missing, and `world`
//! with three rows of which the last waits.

use hangscope_analyzer_core::report::{
    Band, Cause, CellCode, Confidence, Finding, FindingGroup, FindingPlace, JobFacts, Kind, RankColumn, RankStatus,
    Report, RowHead, RowNumber, SCHEMA, Side, SideState, TableIndex, Tool, ranges,
};

use crate::dataset::{CellPlace, Dataset};
use crate::overview::TableData;

/// Rank 5 never issued the last row of the first band.
pub(crate) const ORIGIN: CellPlace = CellPlace { row: 9, column: 5 };

pub(crate) fn dataset() -> Dataset {
    from_parts(report(), &index(), cells())
}

/// A dataset of a table that the test made.
pub(crate) fn from_parts(report: Report, index: &TableIndex, cells: Vec<u8>) -> Dataset {
    let table = TableData::new(&report, index.clone(), cells);
    Dataset::new("example".to_owned(), report, table, String::new())
}

pub(crate) fn cells() -> Vec<u8> {
    let mut cells = vec![CellCode::COMPLETED.0; 9 * 4];
    let missing = CellCode::MISSING.with(CellCode::ORIGIN);
    cells.extend([CellCode::STARTED.0, missing.0, CellCode::STARTED.0, CellCode::STARTED.0]);
    cells.extend([CellCode::COMPLETED.0; 2 * 8]);
    cells.extend([CellCode::SCHEDULED.0; 4]);
    cells.extend([CellCode::MISSING.0; 4]);
    cells
}

pub(crate) fn band(label: &str, columns: Vec<u32>, first_row: u32, row_count: u32, cells_at: u64) -> Band {
    Band {
        label: label.to_owned(),
        name: "7".to_owned(),
        desc: "mesh".to_owned(),
        ranks: String::new(),
        p2p: false,
        columns,
        first_row,
        row_count,
        cells_at,
    }
}

pub(crate) fn index() -> TableIndex {
    let row = |number: u32, agrees| RowHead { number: RowNumber::Collective(number), op: "all_reduce [4096]", agrees };
    let mut rows: Vec<_> = (9..18).map(|number| row(number, true)).collect();
    rows.push(row(18, false));
    rows.extend([row(1, true), row(2, true), row(3, false)]);
    TableIndex {
        ranks: (0..8)
            .map(|rank| RankColumn {
                rank,
                status: match rank {
                    5 => RankStatus::Suspect,
                    4..8 => RankStatus::Victim,
                    _ => RankStatus::Blocked,
                },
            })
            .collect(),
        bands: vec![band("tp[4-7]", vec![4, 5, 6, 7], 0, 10, 0), band("world", (0..8).collect(), 10, 3, 40)],
        rows: rows.into_iter().collect(),
        findings: vec![FindingPlace { id: "F1".to_owned(), row: Some(ORIGIN.row), columns: vec![ORIGIN.column] }],
    }
}

/// Heads and cells of a larger job.
pub(crate) struct Mesh {
    pub(crate) report: Report,
    pub(crate) index: TableIndex,
    pub(crate) cells: Vec<u8>,
}

/// `world` ranks in tp groups of `tp` neighbours and in dp groups across these. In each group 20 rows agree. In the last row of its tp
/// group `bad` is missing; the others wait for it there, its dp group waits for it, and so does everybody in the end.
pub(crate) fn mesh(world: u32, tp: u32, bad: u32) -> Mesh {
    const AGREEING: u32 = 20;
    let mut index = TableIndex {
        ranks: (0..world)
            .map(|rank| {
                let status = if rank == bad { RankStatus::Suspect } else { RankStatus::Blocked };
                RankColumn { rank, status }
            })
            .collect(),
        ..TableIndex::default()
    };
    let (mut cells, mut rows) = (Vec::new(), Vec::new());
    let tp_groups = (0..world / tp).map(|group| (format!("tp{group}"), "tp", (group * tp..(group + 1) * tp).collect()));
    let dp_groups = (0..tp).map(|group| (format!("dp{group}"), "dp", (group..world).step_by(tp as usize).collect()));
    let all = std::iter::once(("world".to_owned(), "world", (0..world).collect::<Vec<u32>>()));
    for (label, desc, columns) in tp_groups.chain(dp_groups).chain(all) {
        let (first_row, cells_at, width) = (rows.len() as u32, cells.len() as u64, columns.len());
        let holds_bad = columns.contains(&bad);
        for row in 0..=AGREEING {
            let agrees = row < AGREEING;
            let op = ["all_reduce [1]", "all_reduce [2]", "all_reduce [3]"][row as usize % 3];
            rows.push(RowHead { number: RowNumber::Collective(row + 1), op, agrees });
            if agrees {
                cells.extend(std::iter::repeat_n(CellCode::COMPLETED.0, width));
                continue;
            }
            for column in &columns {
                let code = match (desc, *column == bad) {
                    ("tp", true) => CellCode::MISSING.with(CellCode::ORIGIN),
                    ("tp", false) if holds_bad => CellCode::STARTED,
                    ("dp", false) if holds_bad => CellCode::SCHEDULED,
                    (_, true) => CellCode::MISSING,
                    ("world", false) => CellCode::SCHEDULED,
                    _ => CellCode::COMPLETED,
                };
                cells.push(code.0);
            }
        }
        if desc == "tp" && holds_bad {
            let row = first_row + AGREEING;
            index.findings.push(FindingPlace { id: "F1".to_owned(), row: Some(row), columns: vec![bad] });
        }
        let band = band(&label, columns, first_row, AGREEING + 1, cells_at);
        index.bands.push(Band { desc: desc.to_owned(), ..band });
    }
    index.rows = rows.into_iter().collect();
    let victims = (bad / tp * tp..(bad / tp + 1) * tp).filter(|rank| *rank != bad);
    let suspects = bad.to_string();
    let finding = Finding { suspects, victims: ranges(victims), blocked: String::new(), ..finding() };
    Mesh { report: Report { findings: vec![finding], ..report() }, index, cells }
}

/// A message of [`messages`] whose receiver is missing: its row and that rank.
pub(crate) const BAD_END: (u32, u32) = (501, 30);

/// Every rank sends one message to every other one, and the last one waits for another from it does not know whom. One receiver is missing.
pub(crate) fn messages(world: u32) -> Mesh {
    let ranks = (0..world).map(|rank| RankColumn { rank, status: RankStatus::Ok });
    let mut index = TableIndex { ranks: ranks.collect(), ..TableIndex::default() };
    let pairs = (0..world).flat_map(|src| (0..world).filter(move |dst| *dst != src).map(move |dst| (src, dst)));
    let number = |src, dst| RowNumber::Message { src, dst, nth: 1 };
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    for (row, (src, dst)) in (0..).zip(pairs) {
        let is_bad = (row, dst) == BAD_END;
        rows.push(RowHead { number: number(Some(src), Some(dst)), op: "send/recv [8]", agrees: !is_bad });
        let missing = CellCode::MISSING.with(CellCode::ORIGIN);
        cells.extend([CellCode::COMPLETED.0, if is_bad { missing } else { CellCode::COMPLETED }.0]);
    }
    rows.push(RowHead { number: number(None, Some(world - 1)), op: "send/recv [8]", agrees: false });
    cells.extend([CellCode::NONE.0, CellCode::SCHEDULED.0]);
    let band = band("world", (0..world).collect(), 0, rows.len() as u32, 0);
    index.bands.push(Band { p2p: true, ..band });
    index.rows = rows.into_iter().collect();
    Mesh { report: report(), index, cells }
}

impl Mesh {
    pub(crate) fn dataset(self) -> Dataset {
        from_parts(self.report, &self.index, self.cells)
    }
}

pub(crate) fn finding() -> Finding {
    Finding {
        id: "F1".to_owned(),
        kind: Kind::MissingRank,
        cause: Cause::CpuStuck,
        confidence: Confidence::High,
        group: Some(FindingGroup {
            name: "7".to_owned(),
            desc: "mesh_tp".to_owned(),
            label: "tp[4-7]".to_owned(),
            ranks: "4-7".to_owned(),
        }),
        seq: Some(18),
        p2p: None,
        op: "all_reduce".to_owned(),
        suspects: "5".to_owned(),
        tie: false,
        victims: "4,6-7".to_owned(),
        blocked: "0-3".to_owned(),
        sides: Vec::new(),
        cycle: Vec::new(),
        also: Vec::new(),
        evidence: Vec::new(),
        alternatives: Vec::new(),
        next_steps: Vec::new(),
    }
}

/// Ranks that scheduled an operation from 64 to 512 elements.
pub(crate) fn side(ranks: &str) -> Side {
    Side {
        ranks: ranks.to_owned(),
        op: Some("all_reduce".to_owned()),
        state: SideState::Scheduled,
        input_sizes: vec![vec![64]],
        output_sizes: vec![vec![512]],
        input_dtypes: Vec::new(),
        output_dtypes: Vec::new(),
        call_site: None,
        frames: Vec::new(),
        last_op: None,
    }
}

pub(crate) fn report() -> Report {
    Report {
        schema: SCHEMA,
        tool: Tool { name: "hangscope".to_owned(), version: "0".to_owned() },
        verdict: "missing_rank".to_owned(),
        headline: "Rank 5 never issued all_reduce".to_owned(),
        job: JobFacts::default(),
        findings: vec![finding()],
        ranks: Vec::new(),
        data_quality: Vec::new(),
    }
}
