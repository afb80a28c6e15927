//! All symbol tables of a dump or of a job, and how those of one dump become part of the job's.

use alloc::vec::Vec;

use super::args_table::{DtypesId, ShapeId, ShapesId};
use super::{Args, ArgsId, ArgsTable, Frame, FrameTable, SliceTable, StackId, StackTable, StrId, StringTable};

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

/// Where the symbols of a dump went in a job's tables, by their old handles.
#[derive(Clone, Debug, Default)]
pub struct Remap {
    strings: Vec<StrId>,
    stacks: Vec<StackId>,
    args: Vec<ArgsId>,
}

impl Remap {
    /// New handle of a text.
    pub fn string(&self, old: StrId) -> StrId {
        self.strings.get(old.0 as usize).copied().unwrap_or_default()
    }

    /// New handle of a stack; [`StackId::NOT_RECORDED`] stays what it is.
    pub fn stack(&self, old: StackId) -> StackId {
        self.stacks.get(old.0 as usize).copied().unwrap_or_default()
    }

    /// New handle of arguments.
    pub fn args(&self, old: ArgsId) -> ArgsId {
        self.args.get(old.0 as usize).copied().unwrap_or_default()
    }
}

impl Symbols {
    /// Adds all symbols of `other` and says which handle each has now.
    pub fn absorb(&mut self, other: &Symbols) -> Remap {
        let strings: Vec<StrId> = other.strings.iter().map(|text| self.strings.intern(text)).collect();
        let string = |id: StrId| strings.get(id.0 as usize).copied().unwrap_or_default();
        let frames: Vec<_> = other
            .frames
            .iter()
            .map(|frame| {
                self.frames.intern(Frame {
                    function: string(frame.function),
                    file: string(frame.file),
                    line: frame.line,
                })
            })
            .collect();
        let mut stacks = alloc::vec![StackId::EMPTY];
        for (parent, frame) in other.stacks.nodes() {
            // Parents come first, so theirs are known.
            let caller = stacks.get(parent.0 as usize).copied().unwrap_or(StackId::EMPTY);
            let frame = frames.get(frame.0 as usize).copied().unwrap_or_default();
            stacks.push(self.stacks.push(caller, frame));
        }
        let shapes: Vec<ShapeId> = other.shapes.iter().map(|shape| self.shapes.intern(shape)).collect();
        let shape = |id: ShapeId| shapes.get(id.index as usize).copied().unwrap_or_default();
        let mut scratch = Vec::new();
        let shape_lists: Vec<ShapesId> = other
            .shape_lists
            .iter()
            .map(|list| {
                scratch.clear();
                scratch.extend(list.iter().map(|&id| shape(id)));
                self.shape_lists.intern(&scratch)
            })
            .collect();
        let mut scratch = Vec::new();
        let dtype_lists: Vec<DtypesId> = other
            .dtype_lists
            .iter()
            .map(|list| {
                scratch.clear();
                scratch.extend(list.iter().map(|&id| string(id)));
                self.dtype_lists.intern(&scratch)
            })
            .collect();
        let list = |id: ShapesId| shape_lists.get(id.index as usize).copied().unwrap_or_default();
        let dtypes = |id: DtypesId| dtype_lists.get(id.index as usize).copied().unwrap_or_default();
        let args = other
            .args
            .iter()
            .map(|args| {
                self.args.intern(Args {
                    input_sizes: list(args.input_sizes),
                    output_sizes: list(args.output_sizes),
                    input_dtypes: dtypes(args.input_dtypes),
                    output_dtypes: dtypes(args.output_dtypes),
                    input_splits: args.input_splits.map(shape),
                    output_splits: args.output_splits.map(shape),
                })
            })
            .collect();
        Remap { strings, stacks, args }
    }

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
