//! Call stacks as nodes of a prefix tree.

use alloc::vec::Vec;
use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::FrameId;
use super::TableIndex;

/// Names a call stack in a [`StackTable`]: its innermost node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub(crate) u32);

impl StackId {
    /// A stack without frames, present in every table.
    pub const EMPTY: StackId = StackId(0);
    /// The recorder wrote no stack for this entry; not the same as an empty one.
    pub const NOT_RECORDED: StackId = StackId(u32::MAX);
}

impl Default for StackId {
    fn default() -> Self {
        StackId::NOT_RECORDED
    }
}

/// Interned call stacks. A stack is one node; a node has a frame and a parent, which is its caller.
///
/// Invariant: a parent's handle is smaller than that of its children, because only [`StackTable::push`] makes nodes and it needs the
/// parent's handle. Walking up from any node therefore ends. Shared outer frames (`main`, the training loop) are stored once.
#[derive(Clone, Debug)]
pub struct StackTable {
    /// Parent and frame of each node; node 0 is the root and has no frame.
    nodes: Vec<(u32, FrameId)>,
    index: TableIndex,
    hasher: DefaultHashBuilder,
}

impl Default for StackTable {
    fn default() -> Self {
        StackTable {
            nodes: alloc::vec![(0, FrameId(u32::MAX))],
            index: TableIndex::default(),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl StackTable {
    /// The stack that `frame`, called from the innermost frame of `caller`, makes.
    pub fn push(&mut self, caller: StackId, frame: FrameId) -> StackId {
        let parent = if (caller.0 as usize) < self.nodes.len() { caller.0 } else { 0 };
        let node = (parent, frame);
        let hash = hash_of(&self.hasher, node);
        let nodes = &self.nodes;
        if let Some(found) = self.index.find(hash, |id| nodes.get(id as usize) == Some(&node)) {
            return StackId(found);
        }
        let id = self.nodes.len() as u32;
        self.nodes.push(node);
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        self.index.insert(hash, id, &|id| hash_of(hasher, nodes[id as usize]));
        StackId(id)
    }

    /// The stack of these frames, given innermost first as dumps write them.
    pub fn intern(&mut self, innermost_first: &[FrameId]) -> StackId {
        innermost_first.iter().rev().fold(StackId::EMPTY, |caller, &frame| self.push(caller, frame))
    }

    /// The frames of a stack, innermost first; none for [`StackId::NOT_RECORDED`] and for handles of another table.
    pub fn frames(&self, stack: StackId) -> impl Iterator<Item = FrameId> + '_ {
        let mut at = stack.0 as usize;
        core::iter::from_fn(move || {
            if at == 0 {
                return None;
            }
            let &(parent, frame) = self.nodes.get(at)?;
            at = parent as usize;
            Some(frame)
        })
    }

    /// The caller and the innermost frame of a stack; `None` for one without frames and for handles of another table.
    pub(crate) fn innermost(&self, stack: StackId) -> Option<(StackId, FrameId)> {
        let &(parent, frame) = self.nodes.get(stack.0 as usize).filter(|_| stack != StackId::EMPTY)?;
        Some((StackId(parent), frame))
    }

    /// Parent and frame of each node but the root, parents first.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (StackId, FrameId)> + '_ {
        self.nodes.iter().skip(1).map(|&(parent, frame)| (StackId(parent), frame))
    }

    /// How many nodes there are, the root included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never true: the root is always there.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Gives back memory that was reserved for growth.
    pub fn shrink_to_fit(&mut self) {
        self.nodes.shrink_to_fit();
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        self.index.shrink_to_fit(&|id| hash_of(hasher, nodes[id as usize]));
    }
}

/// One number of 64 bits, which is hashed in one step.
fn hash_of(hasher: &DefaultHashBuilder, (parent, frame): (u32, FrameId)) -> u64 {
    hasher.hash_one(u64::from(parent) << 32 | u64::from(frame.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_share_their_outer_frames() {
        let (main, train, loss) = (FrameId(0), FrameId(1), FrameId(2));
        let mut table = StackTable::default();
        let long = table.intern(&[loss, train, main]);
        let short = table.intern(&[train, main]);
        assert_eq!(table.len(), 4);
        assert_eq!(table.frames(long).collect::<Vec<_>>(), [loss, train, main]);
        assert_eq!(table.frames(short).collect::<Vec<_>>(), [train, main]);
        assert_eq!(table.intern(&[]), StackId::EMPTY);
        assert_eq!(table.frames(StackId::NOT_RECORDED).count(), 0);
    }
}
