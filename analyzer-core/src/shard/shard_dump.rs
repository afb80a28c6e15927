//! One dump in the symbols of its shard.

use alloc::string::String;
use alloc::vec::Vec;

use super::{ConfigId, ConfigTable};
use crate::dump::{Entries, GroupRef, GroupStatus};
use crate::symbols::{StrId, Transfer};

/// What one rank left behind. The fields are those of [`crate::dump::Dump`], with handles of the shard's tables.
#[derive(Clone, Debug)]
pub struct ShardDump {
    /// The file it came from, as the user knows it.
    pub file: String,
    /// Global rank; `None` when neither the dump nor its name says.
    pub rank: Option<u32>,
    /// `version`.
    pub version: StrId,
    /// `comm_lib_version`.
    pub comm_lib_version: StrId,
    /// Whether the file had a list of entries at all.
    pub has_entries_key: bool,
    /// Whether the file broke off.
    pub truncated: bool,
    /// The entries, oldest first.
    pub entries: Entries,
    /// Groups as the entries name them.
    pub group_refs: Vec<GroupRef>,
    /// `pg_config`.
    pub configs: Vec<ConfigId>,
    /// `pg_status`.
    pub statuses: Vec<GroupStatus>,
}

impl ShardDump {
    /// Moves the dump's symbols to other tables; `config` has the new handle of each item of `pg_config`.
    pub(super) fn transfer(&mut self, symbols: &mut Transfer<'_>, config: impl Fn(ConfigId) -> ConfigId) {
        self.version = symbols.string(self.version);
        self.comm_lib_version = symbols.string(self.comm_lib_version);
        for item in &mut self.group_refs {
            item.name = symbols.string(item.name);
            item.desc = symbols.string(item.desc);
        }
        self.entries.transfer(symbols);
        self.configs.iter_mut().for_each(|id| *id = config(*id));
    }

    /// The first item of `pg_config` that has a description, as a text of these tables.
    pub(crate) fn config_of_desc(&self, configs: &ConfigTable, desc: StrId) -> Option<super::Config> {
        self.configs.iter().filter_map(|&id| configs.get(id)).find(|config| config.desc == desc)
    }
}
