//! Which rows a text of a frame finds.

use alloc::vec::Vec;

use super::TableView;
use crate::align::Table;
use crate::job::Job;

/// Rows of the view of which some entry has a frame whose function or file contains a text, small or capital letters alike; ascending.
pub(crate) fn rows_with_frame(job: &Job, table: &Table, view: &TableView, text: &str) -> Vec<u32> {
    let (symbols, wanted) = (&job.symbols, text.to_ascii_lowercase());
    let texts: Vec<bool> = symbols.strings.iter().map(|text| text.to_ascii_lowercase().contains(&wanted)).collect();
    let is_text = |id: crate::symbols::StrId| texts.get(id.index()).copied().unwrap_or(false);
    let frames: Vec<bool> = symbols.frames.iter().map(|frame| is_text(frame.function) || is_text(frame.file)).collect();
    // Callers come before what they called, so that each stack is its innermost frame and a stack that is known.
    let mut stacks = alloc::vec![false];
    for (caller, frame) in symbols.stacks.nodes() {
        let is_caller = stacks.get(caller.0 as usize).copied().unwrap_or(false);
        stacks.push(is_caller || frames.get(frame.0 as usize).copied().unwrap_or(false));
    }
    if !stacks.contains(&true) {
        return Vec::new();
    }
    let mut rows: Vec<u32> = Vec::new();
    view.for_each_entry(job, table, |cell, rank, entry| {
        if rows.last() != Some(&cell.row) && stacks.get(job.stack(rank, entry).0 as usize) == Some(&true) {
            rows.push(cell.row);
        }
    });
    rows
}
