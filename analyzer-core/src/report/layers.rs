//! What the cells can be coloured by besides their state.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::{TableView, sizes_text};
use crate::align::Table;
use crate::dump::{EntryHead, EntryIdx};
use crate::job::{Job, RankIdx};
use crate::symbols::{Args, ArgsId, DtypesId, FrameId, StrId};
use crate::tree_set::TreeSet;

/// So many of the most frequent have a code of their own.
const OWN: u8 = 11;
/// Code of all the rest.
const OTHER: u8 = OWN + 1;

/// What tells cells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ColourBy {
    /// Operation, sizes and dtypes.
    Signature,
    /// The innermost frame of the user's program.
    CallSite,
}

/// A code for each cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// The codes, laid out as the cells are: see [`super::Band`]. 0 for a cell without an entry.
    pub codes: Vec<u8>,
    /// What the codes mean: the most frequent first, what they leave over last.
    pub legend: Vec<LegendItem>,
}

/// What a code means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegendItem {
    /// The code, from 1.
    pub code: u8,
    /// `all_reduce [4096] Float`, `clip_grad_norm (train.py:92)`, `no call stack`, `other`.
    pub label: String,
    /// How many cells have it.
    pub cells: u64,
}

/// What an entry is told apart by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// Operation without library, and arguments without splits.
    Signature(StrId, Args),
    Site(Option<FrameId>),
}

/// The kinds of entries, numbered as they come.
struct Kinds<'a> {
    job: &'a Job,
    /// Of each kind, its key and the arguments of its first entry.
    kinds: Vec<(Key, ArgsId)>,
    /// The kind of each head of each rank: entries of one head are of one kind.
    of_heads: Vec<Vec<u32>>,
}

impl Layer {
    /// The layer of a table.
    pub(crate) fn of(job: &Job, table: &Table, view: &TableView, by: ColourBy) -> Layer {
        let kinds = Kinds::of(job, by);
        let mut counts: Vec<u64> = alloc::vec![0; kinds.kinds.len()];
        view.for_each_entry(job, table, |_, rank, entry| {
            if let Some(count) = kinds.kind(rank, entry).and_then(|kind| counts.get_mut(kind)) {
                *count += 1;
            }
        });
        let (code_of, legend) = kinds.legend(&counts);
        let mut codes = alloc::vec![0; view.cells.len()];
        view.for_each_entry(job, table, |cell, rank, entry| {
            let code = kinds.kind(rank, entry).and_then(|kind| code_of.get(kind));
            if let (Some(slot), Some(&code)) = (codes.get_mut(cell.at), code) {
                *slot = code;
            }
        });
        Layer { codes, legend }
    }
}

impl<'a> Kinds<'a> {
    fn of(job: &'a Job, by: ColourBy) -> Kinds<'a> {
        let mut found = Kinds { job, kinds: Vec::new(), of_heads: Vec::with_capacity(job.ranks.len()) };
        let (mut index, mut sites) = (HashMap::new(), HashMap::new());
        for dump in &job.ranks {
            let of_head = |head: &EntryHead| {
                let key = match by {
                    ColourBy::Signature => {
                        let args = job.symbols.args.get(head.args);
                        Key::Signature(job.op_name(head.op), Args { input_splits: None, output_splits: None, ..args })
                    }
                    ColourBy::CallSite => {
                        Key::Site(*sites.entry(head.stack).or_insert_with(|| job.user_frame(head.stack)))
                    }
                };
                *index.entry(key).or_insert_with(|| {
                    found.kinds.push((key, head.args));
                    found.kinds.len() as u32 - 1
                })
            };
            let kinds = dump.entries.heads().iter().map(of_head).collect();
            found.of_heads.push(kinds);
        }
        found
    }

    fn kind(&self, rank: RankIdx, entry: EntryIdx) -> Option<usize> {
        let head = self.job.rank(rank).entries.head_index(entry)?;
        self.of_heads.get(rank.0 as usize)?.get(head).map(|&kind| kind as usize)
    }

    /// The code of each kind, and what the codes mean.
    fn legend(&self, counts: &[u64]) -> (Vec<u8>, Vec<LegendItem>) {
        // The most frequent; of equally frequent ones the first by their text.
        let mut most: TreeSet<(Reverse<u64>, String, usize)> = TreeSet::new();
        for (kind, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let is_full = most.len() >= usize::from(OWN);
            if is_full && most.last().is_some_and(|least| least.0.0 > count) {
                continue;
            }
            most.insert((Reverse(count), self.text(kind), kind));
            if is_full && let Some(least) = most.last().cloned() {
                most.remove(&least);
            }
        }
        let mut code_of = alloc::vec![OTHER; counts.len()];
        let mut legend: Vec<LegendItem> = Vec::new();
        for (code, (Reverse(cells), text, kind)) in (1..).zip(most.iter()) {
            if let Some(slot) = code_of.get_mut(*kind) {
                *slot = code;
            }
            let is_shared = most.iter().filter(|other| other.1 == *text).count() > 1;
            let label = if is_shared { self.full_text(*kind, code) } else { text.clone() };
            legend.push(LegendItem { code, label, cells: *cells });
        }
        let named: u64 = legend.iter().map(|item| item.cells).sum();
        let rest = counts.iter().sum::<u64>().saturating_sub(named);
        if rest > 0 {
            legend.push(LegendItem { code: OTHER, label: "other".to_string(), cells: rest });
        }
        (code_of, legend)
    }

    /// A kind in words.
    fn text(&self, kind: usize) -> String {
        let symbols = &self.job.symbols;
        match self.kinds.get(kind) {
            Some(&(Key::Site(Some(frame)), _)) => self.job.site(frame).short(),
            Some(&(Key::Signature(op, args), id)) => {
                let (input, output) = (self.dtypes(args.input_dtypes), self.dtypes(args.output_dtypes));
                let dtypes = match (input.is_empty(), output.is_empty()) {
                    (false, false) if input != output => format!("{input} → {output}"),
                    (true, _) => output,
                    _ => input,
                };
                let words = [symbols.strings.get(op), &sizes_text(symbols, id), &dtypes];
                let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
                words.join(" ")
            }
            Some((Key::Site(None), _)) | None => "no call stack".to_string(),
        }
    }

    /// A kind in words that no other one has.
    fn full_text(&self, kind: usize, code: u8) -> String {
        match self.kinds.get(kind) {
            Some(&(Key::Site(Some(frame)), _)) => {
                let site = self.job.site(frame);
                format!("{} ({}:{})", site.function, site.file, site.line)
            }
            _ => format!("{} ({code})", self.text(kind)),
        }
    }

    fn dtypes(&self, list: DtypesId) -> String {
        let symbols = &self.job.symbols;
        let mut words: Vec<&str> = symbols.dtype_lists.get(list).iter().map(|&id| symbols.strings.get(id)).collect();
        words.dedup();
        words.join(", ")
    }
}
