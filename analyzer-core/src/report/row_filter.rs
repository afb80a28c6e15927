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
    let mut found = alloc::vec![false; view.list.len() as usize];
    view.for_each_entry(job, table, |cell, rank, entry| {
        if let Some(found) = found.get_mut(cell.row as usize).filter(|found| !**found) {
            *found = stacks.get(job.stack(rank, entry).0 as usize) == Some(&true);
        }
    });
    (0..).zip(found).filter(|item| item.1).map(|item| item.0).collect()
}
