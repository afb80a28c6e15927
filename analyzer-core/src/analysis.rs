//! The whole way from readings to a report and a table.

use alloc::vec::Vec;

use crate::align::{ProgramOrder, Table};
use crate::diagnose::{Case, Clocks, Draft, diagnose};
use crate::dump::Reading;
use crate::job::Job;
use crate::report::{self, CellDetail, ColourBy, Layer, ProgramOrderView, Report, TableIndex};
use crate::shard::Shard;

/// An analysed job.
#[derive(Debug)]
pub struct Analysis {
    job: Job,
    table: Table,
    drafts: Vec<Draft>,
    report: Report,
    view: report::TableView,
}

/// Analyses the readings of all files of a job. Their order does not matter.
pub fn analyze(readings: Vec<Reading>) -> Analysis {
    analyze_shard(readings.into_iter().collect())
}

/// Analyses all that was gathered.
pub fn analyze_shard(shard: Shard) -> Analysis {
    let job = Job::of(shard);
    let table = Table::align(&job);
    let (drafts, report) = {
        let case = Case::new(&job, &table);
        let drafts = diagnose(&case);
        let report = report::build(&case, &drafts);
        (drafts, report)
    };
    let view = report::TableView::new(&job, &table, &drafts, &report);
    Analysis { job, table, drafts, report, view }
}

impl Analysis {
    /// What is to be said.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Heads of the table's bands, rows and columns.
    pub fn table_index(&self) -> &TableIndex {
        &self.view.index
    }

    /// The table's cells: one [`report::CellCode`] each, laid out as [`report::Band`] says.
    pub fn cells(&self) -> &[u8] {
        &self.view.cells
    }

    /// One cell in full: a row of the [`TableIndex`] and a global rank. `None` where the rank has no part in the row.
    pub fn cell_detail(&self, row: u32, rank: u32) -> Option<CellDetail> {
        report::cell_detail(&self.job, &self.table, &self.view, row, rank)
    }

    /// The rows of all groups in one order, worked out anew at each call.
    pub fn program_order(&self) -> ProgramOrderView {
        let clocks = Clocks::of(&self.job, &self.table);
        let time = |rank, entry| match self.job.rank(rank).entries.created_at(entry) {
            ns if ns > 0 => clocks.common(rank, ns).1,
            _ => 0,
        };
        ProgramOrder::of(&self.job, &self.table, &self.view.list, &time).into()
    }

    /// A code for each cell by something else than its state, worked out anew at each call.
    pub fn layer(&self, by: ColourBy) -> Layer {
        Layer::of(&self.job, &self.table, &self.view, by)
    }

    /// Rows of the [`TableIndex`] of which some entry has a frame whose function or file contains a text, small or capital letters alike;
    /// ascending.
    pub fn rows_with_frame(&self, text: &str) -> Vec<u32> {
        report::rows_with_frame(&self.job, &self.table, &self.view, text)
    }

    /// The job.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// What the rules found, before it was put into a report.
    pub fn drafts(&self) -> &[Draft] {
        &self.drafts
    }
}
