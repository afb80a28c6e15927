//! All symbol tables of a dump or of a job, and how those of one dump become part of the job's.

use super::args_table::ShapeId;
use super::{ArgsTable, FrameTable, SliceTable, StackTable, StrId, StringTable};

/// The symbol tables of a dump, or of a whole job.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// Texts.
    pub strings: StringTable,
    /// Frames of call stacks.
    pub frames: FrameTable,
    /// Call stacks.
    pub stacks: StackTable,
    /// Extents of tensors.
    pub shapes: SliceTable<i64>,
    /// Shapes of all tensors of one side of an entry.
    pub shape_lists: SliceTable<ShapeId>,
    /// Dtypes of all tensors of one side of an entry.
    pub dtype_lists: SliceTable<StrId>,
    /// Sizes and dtypes of an entry.
    pub args: ArgsTable,
}

impl Symbols {
    /// Gives back memory that was reserved for growth.
    pub fn shrink_to_fit(&mut self) {
        self.strings.shrink_to_fit();
        self.frames.shrink_to_fit();
        self.stacks.shrink_to_fit();
        self.shapes.shrink_to_fit();
        self.shape_lists.shrink_to_fit();
        self.dtype_lists.shrink_to_fit();
        self.args.shrink_to_fit();
    }
}
