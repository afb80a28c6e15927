//! A small job for unit tests: eight ranks, `tp[4-7]` with ten rows of which the last has rank 5 missing, and `world`
//! with three rows of which the last waits.

use hangscope_analyzer_core::report::{
    Band, Cause, CellCode, Confidence, Finding, FindingGroup, FindingPlace, JobFacts, Kind, RankColumn, RankStatus,
    Report, RowHead, RowNumber, SCHEMA, Side, SideState, TableIndex, Tool,
};

use crate::dataset::{CellPlace, Dataset};

/// Rank 5 never issued the last row of the first band.
pub(crate) const ORIGIN: CellPlace = CellPlace { row: 9, column: 5 };

pub(crate) fn dataset() -> Dataset {
    let mut cells = vec![CellCode::COMPLETED.0; 9 * 4];
    let missing = CellCode::MISSING.with(CellCode::ORIGIN);
    cells.extend([CellCode::STARTED.0, missing.0, CellCode::STARTED.0, CellCode::STARTED.0]);
    let world_at = cells.len() as u64;
    cells.extend([CellCode::COMPLETED.0; 2 * 8]);
    cells.extend([CellCode::SCHEDULED.0; 4]);
    cells.extend([CellCode::MISSING.0; 4]);

    let band = |label: &str, columns: Vec<u32>, first_row, row_count, cells_at| Band {
        label: label.to_owned(),
        name: "7".to_owned(),
        desc: "mesh".to_owned(),
        ranks: String::new(),
        p2p: false,
        columns,
        first_row,
        row_count,
        cells_at,
    };
    let row = |number: u32, agrees| RowHead { number: RowNumber::Collective(number), op: "all_reduce [4096]", agrees };
    let mut rows: Vec<_> = (9..18).map(|number| row(number, true)).collect();
    rows.push(row(18, false));
    rows.extend([row(1, true), row(2, true), row(3, false)]);

    let index = TableIndex {
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
        bands: vec![band("tp[4-7]", vec![4, 5, 6, 7], 0, 10, 0), band("world", (0..8).collect(), 10, 3, world_at)],
        rows: rows.into_iter().collect(),
        findings: vec![FindingPlace { id: "F1".to_owned(), row: Some(ORIGIN.row), columns: vec![ORIGIN.column] }],
    };
    Dataset::new("example".to_owned(), report(), index, cells, String::new(), String::new())
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

fn report() -> Report {
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
