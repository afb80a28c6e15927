//! What an operation was called with, once for each distinct combination.

use alloc::vec::Vec;
use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::TableIndex;
use super::{SliceId, StrId};

/// A shape: the extents of one tensor.
pub type ShapeId = SliceId<i64>;
/// A list of shapes: one per tensor.
pub type ShapesId = SliceId<ShapeId>;
/// A list of dtypes: one per tensor.
pub type DtypesId = SliceId<StrId>;

/// Names an [`Args`] in an [`ArgsTable`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArgsId(pub(crate) u32);

impl ArgsId {
    /// No tensors, present in every table.
    pub const EMPTY: ArgsId = ArgsId(0);
}

/// Sizes and dtypes of one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Args {
    /// `input_sizes`.
    pub input_sizes: ShapesId,
    /// `output_sizes`.
    pub output_sizes: ShapesId,
    /// `input_dtypes`.
    pub input_dtypes: DtypesId,
    /// `output_dtypes`.
    pub output_dtypes: DtypesId,
    /// `input_split_sizes` of an all_to_all, in elements (dump version 2.11); absent is not the same as an even split.
    pub input_splits: Option<ShapeId>,
    /// `output_split_sizes` of an all_to_all, in elements.
    pub output_splits: Option<ShapeId>,
}

/// Interned [`Args`].
#[derive(Clone, Debug)]
pub struct ArgsTable {
    args: Vec<Args>,
    index: TableIndex,
    hasher: DefaultHashBuilder,
}

impl Default for ArgsTable {
    fn default() -> Self {
        let mut table =
            ArgsTable { args: Vec::new(), index: TableIndex::default(), hasher: DefaultHashBuilder::default() };
        table.intern(Args::default());
        table
    }
}

impl ArgsTable {
    /// The handle of `args`, which is stored if it is new.
    pub fn intern(&mut self, args: Args) -> ArgsId {
        let hash = self.hasher.hash_one(args);
        let all = &self.args;
        if let Some(found) = self.index.find(hash, |id| all.get(id as usize) == Some(&args)) {
            return ArgsId(found);
        }
        let id = self.args.len() as u32;
        self.args.push(args);
        let (all, hasher) = (&self.args, &self.hasher);
        self.index.insert(hash, id, &|id| hasher.hash_one(all[id as usize]));
        ArgsId(id)
    }

    /// The arguments of a handle; none for a handle of another table.
    pub fn get(&self, id: ArgsId) -> Args {
        self.args.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// All arguments in the order of their handles.
    pub fn iter(&self) -> impl Iterator<Item = Args> {
        self.args.iter().copied()
    }

    /// How many distinct combinations there are, "no tensors" included.
    pub fn len(&self) -> usize {
        self.args.len()
    }

    /// Never true: "no tensors" is always there.
    pub fn is_empty(&self) -> bool {
        self.args.is_empty()
    }

    /// Gives back memory that was reserved for growth.
    pub fn shrink_to_fit(&mut self) {
        self.args.shrink_to_fit();
        let (all, hasher) = (&self.args, &self.hasher);
        self.index.shrink_to_fit(&|id| hasher.hash_one(all[id as usize]));
    }
}
