//! Groups that are alike.

use alloc::vec::Vec;

use super::{Group, GroupIdx};
use crate::tree_map::TreeMap;

/// Groups of one description and size, and groups of one name to people.
#[derive(Clone, Debug, Default)]
pub struct Families {
    /// Those of one description and size, ascending.
    families: Vec<Vec<GroupIdx>>,
    /// The family of each group; `None` for one without a description.
    family_of: Vec<Option<u32>>,
    /// The number of each group's description, or of its name where that is empty, and size.
    kind_of: Vec<u32>,
}

impl Families {
    /// Sorts the groups of a job, once: rules ask for every place.
    pub fn of(groups: &[Group]) -> Families {
        let mut found = Families::default();
        let (mut families, mut kinds) = (TreeMap::new(), TreeMap::new());
        for (at, group) in (0..).map(GroupIdx).zip(groups) {
            let (size, next) = (group.members.len(), kinds.len() as u32);
            let text = if group.desc.is_empty() { &group.name } else { &group.desc };
            found.kind_of.push(*kinds.entry((text.as_str(), size)).or_insert(next));
            let family = (!group.desc.is_empty()).then(|| {
                *families.entry((group.desc.as_str(), size)).or_insert_with(|| {
                    found.families.push(Vec::new());
                    found.families.len() as u32 - 1
                })
            });
            if let Some(list) = family.and_then(|family| found.families.get_mut(family as usize)) {
                list.push(at);
            }
            found.family_of.push(family);
        }
        found
    }

    /// The groups of the same description and size, the group itself among them; none for a group without a description.
    pub fn family(&self, group: GroupIdx) -> &[GroupIdx] {
        self.number(group).and_then(|family| self.families.get(family as usize)).map_or(&[], Vec::as_slice)
    }

    /// The number of a group's family.
    pub fn number(&self, group: GroupIdx) -> Option<u32> {
        self.family_of.get(group.0 as usize).copied().flatten()
    }

    /// The number of what a group is called and how large it is: equal for groups that have the same part in their ranks' programs.
    pub fn kind(&self, group: GroupIdx) -> u32 {
        self.kind_of.get(group.0 as usize).copied().unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_are_alike() {
        let group = |name: &str, desc: &str, members: &[u32]| Group {
            name: name.into(),
            desc: desc.into(),
            members: members.to_vec(),
            assumed: false,
        };
        let groups = [
            group("1", "tp", &[0, 1]),
            group("2", "tp", &[2, 3]),
            group("3", "tp", &[0, 1, 2]),
            group("4", "", &[0, 1]),
            group("4", "", &[2, 3]),
        ];
        let families = Families::of(&groups);
        assert_eq!(families.family(GroupIdx(1)), [GroupIdx(0), GroupIdx(1)]);
        assert_eq!(families.family(GroupIdx(2)), [GroupIdx(2)]);
        assert_eq!(families.family(GroupIdx(3)), []);
        let kinds: Vec<u32> = (0..5).map(|at| families.kind(GroupIdx(at))).collect();
        assert!(kinds[0] == kinds[1] && kinds[3] == kinds[4]);
        assert!(kinds[0] != kinds[2] && kinds[0] != kinds[3]);
    }
}
