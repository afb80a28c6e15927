//! Readings put together.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Config, ConfigId, ConfigTable, ShardDump};
use crate::dump::{Dump, Fault, Reading, rank_of_broken_file};
use crate::small_sort::SmallSort as _;
use crate::symbols::{Symbols, Transfer};

/// What is to be said about a file: what was wrong with it, or that it holds no dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNote {
    /// The file as the user knows it.
    pub file: String,
    /// Whose it is, if it is one rank's.
    pub rank: Option<u32>,
    /// Whether a dump was found in it.
    pub has_dump: bool,
    /// What could not be read.
    pub faults: Vec<Fault>,
}

/// The dumps of many files with one set of symbols.
#[derive(Clone, Debug, Default)]
pub struct Shard {
    pub(crate) symbols: Symbols,
    pub(crate) configs: ConfigTable,
    pub(crate) dumps: Vec<ShardDump>,
    pub(crate) notes: Vec<FileNote>,
}

impl Shard {
    /// Puts a reading to the others.
    pub fn add(&mut self, reading: Reading) {
        let rank = match reading.dumps.as_slice() {
            [dump] => dump.rank,
            [] => rank_of_broken_file(&reading.file),
            _ => None,
        };
        let has_dump = !reading.dumps.is_empty();
        if !has_dump || !reading.faults.is_empty() {
            self.notes.push(FileNote { file: reading.file, rank, has_dump, faults: reading.faults });
        }
        for dump in reading.dumps {
            self.add_dump(dump);
        }
    }

    fn add_dump(&mut self, dump: Dump) {
        let mut configs = Vec::with_capacity(dump.group_configs.len());
        for item in &dump.group_configs {
            let config = Config {
                name: self.symbols.strings.intern(&item.name),
                desc: self.symbols.strings.intern(&item.desc),
                members: self.configs.members_id(&item.ranks),
            };
            configs.push(self.configs.intern(config));
        }
        let version = self.symbols.strings.intern(&dump.version);
        let comm_lib_version = self.symbols.strings.intern(&dump.comm_lib_version);
        let mut symbols = Transfer::new(&dump.symbols, &mut self.symbols);
        let mut entries = dump.entries;
        entries.transfer(&mut symbols);
        let mut group_refs = dump.group_refs;
        for item in &mut group_refs {
            item.name = symbols.string(item.name);
            item.desc = symbols.string(item.desc);
        }
        self.dumps.push(ShardDump {
            file: dump.file,
            rank: dump.rank,
            version,
            comm_lib_version,
            has_entries_key: dump.has_entries_key,
            truncated: dump.truncated,
            entries,
            group_refs,
            configs,
            statuses: dump.group_statuses,
        });
    }

    /// Puts another shard to this one.
    pub fn merge(&mut self, other: Shard) {
        if self.dumps.is_empty() && self.notes.is_empty() {
            *self = other;
            return;
        }
        let Shard { symbols, configs, dumps, notes } = other;
        let mut transfer = Transfer::new(&symbols, &mut self.symbols);
        self.dumps.extend(moved(dumps, &configs, &mut transfer, &mut self.configs));
        self.notes.extend(notes);
    }

    /// Puts all in an order that does not depend on how the files came, and keeps only the symbols that are in use: the same files give
    /// the same shard, handle for handle.
    pub(crate) fn in_order(self) -> Shard {
        let Shard { symbols, configs, mut dumps, mut notes } = self;
        dumps.sort_small_by(|a, b| {
            // Doubles are told apart by what is in them.
            let content = |dump: &ShardDump| (dump.entries.newest_ns(), dump.entries.len());
            (a.rank, &a.file).cmp(&(b.rank, &b.file)).then_with(|| content(a).cmp(&content(b)))
        });
        notes.sort_small_by(|a, b| (&a.file, a.has_dump, a.rank).cmp(&(&b.file, b.has_dump, b.rank)));
        let mut ordered = Shard { notes, ..Shard::default() };
        let mut transfer = Transfer::new(&symbols, &mut ordered.symbols);
        ordered.dumps = moved(dumps, &configs, &mut transfer, &mut ordered.configs);
        ordered.symbols.shrink_to_fit();
        ordered
    }

    /// How many dumps there are.
    pub fn len(&self) -> usize {
        self.dumps.len()
    }

    /// Whether no dump was found so far.
    pub fn is_empty(&self) -> bool {
        self.dumps.is_empty()
    }

    /// Entries of all dumps.
    pub fn entries(&self) -> u64 {
        self.dumps.iter().map(|dump| dump.entries.len() as u64).sum()
    }

    /// The files about which something is to be said.
    pub fn notes(&self) -> &[FileNote] {
        &self.notes
    }
}

impl FromIterator<Reading> for Shard {
    fn from_iter<I: IntoIterator<Item = Reading>>(readings: I) -> Shard {
        let mut shard = Shard::default();
        readings.into_iter().for_each(|reading| shard.add(reading));
        shard
    }
}

/// Dumps with their symbols and items of `pg_config` in other tables, each item moved when it is met first.
fn moved(
    dumps: Vec<ShardDump>,
    from: &ConfigTable,
    symbols: &mut Transfer<'_>,
    to: &mut ConfigTable,
) -> Vec<ShardDump> {
    let mut known: Vec<Option<ConfigId>> = alloc::vec![None; from.iter().count()];
    let mut dumps = dumps;
    for dump in &mut dumps {
        for &old in &dump.configs {
            let (Some(slot @ None), Some(config)) = (known.get_mut(old.0 as usize), from.get(old)) else { continue };
            let members = to.members_id(from.members(config.members));
            let (name, desc) = (symbols.string(config.name), symbols.string(config.desc));
            *slot = Some(to.intern(Config { name, desc, members }));
        }
        dump.transfer(symbols, |old| known.get(old.0 as usize).copied().flatten().unwrap_or(old));
    }
    dumps
}
