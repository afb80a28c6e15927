//! Items of `pg_config`, each distinct one once.

use alloc::vec::Vec;
use core::hash::BuildHasher as _;

use hashbrown::DefaultHashBuilder;

use crate::symbols::{SliceId, SliceTable, StrId, TableIndex};

/// Names a list of members in a [`ConfigTable`].
pub type MembersId = SliceId<u32>;

/// Names an item in a [`ConfigTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigId(pub(crate) u32);

/// An item of `pg_config`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Name of the group; gloo writes an empty one.
    pub name: StrId,
    /// Its description.
    pub desc: StrId,
    /// Its members, as global ranks, sorted and without repetition.
    pub members: MembersId,
}

/// Interned items. Each of ten thousand ranks names the ten thousand members of the world; here they stand once.
#[derive(Clone, Debug, Default)]
pub struct ConfigTable {
    members: SliceTable<u32>,
    configs: Vec<Config>,
    index: TableIndex,
    hasher: DefaultHashBuilder,
}

impl ConfigTable {
    /// The handle of a list of members, which is stored if it is new.
    pub fn members_id(&mut self, members: &[u32]) -> MembersId {
        self.members.intern(members)
    }

    /// The members of a handle; none for a handle of another table.
    pub fn members(&self, id: MembersId) -> &[u32] {
        self.members.get(id)
    }

    /// All lists of members in the order of their handles.
    pub(crate) fn member_lists(&self) -> impl Iterator<Item = &[u32]> {
        self.members.iter()
    }

    /// The handle of an item, which is stored if it is new.
    pub fn intern(&mut self, config: Config) -> ConfigId {
        let hash = self.hasher.hash_one(config);
        let configs = &mut self.configs;
        if let Some(known) = self.index.find(hash, |id| configs.get(id as usize) == Some(&config)) {
            return ConfigId(known);
        }
        let new = configs.len() as u32;
        configs.push(config);
        let hasher = &self.hasher;
        self.index.insert(hash, new, &|id| hasher.hash_one(configs[id as usize]));
        ConfigId(new)
    }

    /// The item of a handle; `None` for a handle of another table.
    pub fn get(&self, id: ConfigId) -> Option<Config> {
        self.configs.get(id.0 as usize).copied()
    }

    /// All items in the order of their handles.
    pub fn iter(&self) -> impl Iterator<Item = Config> + '_ {
        self.configs.iter().copied()
    }
}
