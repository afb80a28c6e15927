//! From what was read to the dumps that the reader answers with.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::super::value::Value;
use super::super::{Dump, Encoding, Fault, FaultKind, GroupConfig, GroupStatus, keys};
use super::sink::{DumpParts, Sink};
use crate::small_sort::SmallSort as _;

/// Where a document comes from.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Origin<'a> {
    /// The file as the user knows it.
    pub(in super::super) file: &'a str,
    /// How the document is written.
    pub(in super::super) encoding: Encoding,
}

impl Sink {
    /// The dumps of a document that was read to its end, and every fault on the way.
    pub(in super::super) fn finish(mut self, top: Value, origin: Origin<'_>) -> (Vec<Dump>, Vec<Fault>) {
        let mut found = Vec::new();
        match top {
            Value::Dump(index) => self.take_dumps(index, index + 1, &mut found),
            Value::Dumps { start, end, .. } => self.take_dumps(start, end, &mut found),
            // The oldest form: the list of entries is everything. An empty one has no entries yet.
            Value::Entries { .. } | Value::List { .. } => {
                let mut dump = DumpParts { has_entries_key: true, ..DumpParts::default() };
                if let Value::Entries { start, end, .. } = top {
                    self.claim_rows(&mut dump, start, end);
                }
                dump.unknown_keys = core::mem::take(&mut self.unknown_keys);
                found.push(self.dumps.len() as u32);
                self.dumps.push(dump);
            }
            other => {
                self.offset = None;
                let what = match origin.encoding {
                    Encoding::Pickle => "a pickle",
                    Encoding::Json => "JSON",
                };
                let holds = match other {
                    Value::Opaque => {
                        "a dict or a list without any of the keys of a dump (`entries`, `pg_config`, …)".to_string()
                    }
                    other => other.describe().to_string(),
                };
                self.fault(
                    FaultKind::NotADump,
                    format!("this is {what}, but no Flight Recorder dump: it holds {holds}"),
                );
            }
        }
        self.assemble(&found, origin)
    }

    /// The dumps of a document that broke off with these values on the stack.
    pub(in super::super) fn finish_broken(mut self, stack: &[Value], origin: Origin<'_>) -> (Vec<Dump>, Vec<Fault>) {
        let found = self.salvage(stack);
        self.assemble(&found, origin)
    }

    fn assemble(mut self, found: &[u32], origin: Origin<'_>) -> (Vec<Dump>, Vec<Fault>) {
        self.offset = None;
        // Only for reading; their memory is given back before the columns are put in order.
        self.stack_cache = Default::default();
        self.scratch = Default::default();
        let mut dumps = Vec::with_capacity(found.len());
        let parts: Vec<DumpParts> =
            found.iter().filter_map(|&index| self.dumps.get_mut(index as usize).map(core::mem::take)).collect();
        for parts in &parts {
            let alone = found.len() == 1;
            dumps.push(self.dump_of(parts, origin, alone));
        }
        if let Some(stop) = self.stop.take()
            && !self.faults.contains(&stop)
        {
            self.faults.push(stop);
        }
        (dumps, self.faults)
    }

    fn dump_of(&mut self, parts: &DumpParts, origin: Origin<'_>, alone: bool) -> Dump {
        let (group_configs, mut truncated) = match self.group_configs(parts) {
            Some(configs) => (configs, parts.truncated),
            None => (Vec::new(), true),
        };
        let group_statuses = slice(&self.statuses, parts.statuses)
            .iter()
            .filter_map(|status| {
                Some(GroupStatus {
                    pg_id: status.pg_id?,
                    last_enqueued: status.last_enqueued,
                    last_started: status.last_started,
                    last_completed: status.last_completed,
                })
            })
            .collect();
        let mut unknown_keys: Vec<String> = parts.unknown_keys.iter().map(|&key| self.short_text(key)).collect();
        unknown_keys.sort_small();
        unknown_keys.dedup();
        let version = self.short_text(parts.version);
        let comm_lib_version = self.short_text(parts.comm_lib_version);
        let (start, end) = (parts.entries.0 as usize, parts.entries.1 as usize);
        let (mut entries, group_refs, mut symbols) = if alone {
            let mut entries = core::mem::take(&mut self.entries);
            if (start, end) != (0, entries.len()) {
                entries.keep(start..end);
            }
            (entries, core::mem::take(&mut self.group_refs), core::mem::take(&mut self.symbols))
        } else {
            match self.share(start..end) {
                Some(share) => share,
                None => {
                    truncated = true;
                    Default::default()
                }
            }
        };
        entries.sort_by_record_id();
        symbols.shrink_to_fit();
        Dump {
            file: origin.file.to_string(),
            rank: parts.rank,
            encoding: origin.encoding,
            version,
            comm_lib_version,
            has_entries_key: parts.has_entries_key,
            truncated,
            entries: entries.pack(),
            group_refs,
            group_configs,
            group_statuses,
            unknown_keys,
            symbols,
        }
    }

    /// A text of the top level. Versions and keys are short; what is not is cut, because many dumps of a bundle can name one text.
    fn short_text(&self, id: crate::symbols::StrId) -> String {
        self.symbols.strings.get(id).chars().take(200).collect()
    }

    /// The items of `pg_config`; `None` when the file asks for too many copies of them.
    fn group_configs(&mut self, parts: &DumpParts) -> Option<Vec<GroupConfig>> {
        let mut configs = Vec::new();
        for at in parts.groups.0..parts.groups.1 {
            let Some(&group) = self.groups.get(at as usize) else { break };
            let name_len = self.symbols.strings.get(group.name.unwrap_or_default()).len();
            let desc_len = self.symbols.strings.get(group.desc).len();
            if !self.spend(name_len + desc_len) {
                return None;
            }
            let ranks = self.ranks_of(group.ranks)?;
            configs.push(GroupConfig {
                name: self.symbols.strings.get(group.name.unwrap_or_default()).to_string(),
                desc: self.symbols.strings.get(group.desc).to_string(),
                ranks,
            });
        }
        Some(configs)
    }

    /// The members of a group: text such as `[0, 1, 2]`, spaces or not, or a real list.
    fn ranks_of(&mut self, value: Value) -> Option<Vec<u32>> {
        let (mut ranks, wrong) = match value {
            Value::Str(id) => {
                if !self.spend(self.symbols.strings.get(id).len()) {
                    return None;
                }
                ranks_of_text(self.symbols.strings.get(id))
            }
            Value::Shape { id, .. } => {
                if !self.spend(self.symbols.shapes.get(id).len()) {
                    return None;
                }
                let numbers = self.symbols.shapes.get(id);
                let ranks: Vec<u32> = numbers.iter().filter_map(|&rank| u32::try_from(rank).ok()).collect();
                let wrong = ranks.len() < numbers.len();
                (ranks, wrong)
            }
            Value::None | Value::List { .. } => (Vec::new(), false),
            _ => (Vec::new(), true),
        };
        if wrong {
            self.unexpected(keys::RANKS, "a list of global ranks, such as \"[0, 1]\"", value);
        }
        if !ranks.is_sorted() {
            ranks.sort_small();
        }
        ranks.dedup();
        ranks.shrink_to_fit();
        Some(ranks)
    }
}

fn slice<T>(all: &[T], (start, end): (u32, u32)) -> &[T] {
    all.get(start as usize..end as usize).unwrap_or(&[])
}

/// The numbers in a text, and whether there was anything that is no number.
fn ranks_of_text(text: &str) -> (Vec<u32>, bool) {
    let mut ranks = Vec::new();
    let mut wrong = false;
    for item in text.split(|c: char| matches!(c, '[' | ']' | '(' | ')' | ',') || c.is_whitespace()) {
        if item.is_empty() {
            continue;
        }
        match item.parse() {
            Ok(rank) => ranks.push(rank),
            Err(_) => wrong = true,
        }
    }
    (ranks, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_with_and_without_spaces() {
        for (text, ranks, wrong) in [
            ("[0, 1, 2]", &[0, 1, 2][..], false),
            ("[0,1,2]", &[0, 1, 2], false),
            ("[ 7 ]", &[7], false),
            ("[]", &[], false),
            ("", &[], false),
            ("[0, -1, x, 3]", &[0, 3], true),
            ("[99999999999]", &[], true),
        ] {
            assert_eq!(ranks_of_text(text), (ranks.to_vec(), wrong), "{text}");
        }
    }
}
