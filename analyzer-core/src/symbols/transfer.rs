//! Symbols from one set of tables to another.

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::{Args, ArgsId, DtypesId, Frame, FrameId, ShapeId, ShapesId, StackId, StrId, Symbols};

/// Symbols on their way from one set of tables to another. What is not asked for stays behind.
#[derive(Debug)]
pub(crate) struct Transfer<'a> {
    from: &'a Symbols,
    to: &'a mut Symbols,
    // Bare numbers of handles: one map's code for all four.
    strings: HashMap<u32, u32>,
    frames: HashMap<u32, u32>,
    stacks: HashMap<u32, u32>,
    args: HashMap<u32, u32>,
    cost: usize,
}

impl<'a> Transfer<'a> {
    /// From these tables to those.
    pub(crate) fn new(from: &'a Symbols, to: &'a mut Symbols) -> Self {
        Transfer {
            from,
            to,
            strings: HashMap::new(),
            frames: HashMap::new(),
            stacks: HashMap::new(),
            args: HashMap::new(),
            cost: 0,
        }
    }

    /// How much was copied, in bytes of text and items of lists.
    pub(crate) fn cost(&self) -> usize {
        self.cost
    }

    /// New handle of a text.
    pub(crate) fn string(&mut self, old: StrId) -> StrId {
        if let Some(&known) = self.strings.get(&old.0) {
            return StrId(known);
        }
        let text = self.from.strings.get(old);
        self.cost += text.len();
        let new = self.to.strings.intern(text);
        self.strings.insert(old.0, new.0);
        new
    }

    fn frame(&mut self, old: FrameId) -> FrameId {
        if let Some(&known) = self.frames.get(&old.0) {
            return FrameId(known);
        }
        let frame = self.from.frames.get(old);
        let copy = Frame { function: self.string(frame.function), file: self.string(frame.file), line: frame.line };
        let new = self.to.frames.intern(copy);
        self.frames.insert(old.0, new.0);
        new
    }

    /// New handle of a stack; [`StackId::NOT_RECORDED`] stays what it is.
    pub(crate) fn stack(&mut self, old: StackId) -> StackId {
        if old == StackId::NOT_RECORDED {
            return old;
        }
        // Up to the first caller whose new handle is known, and back down.
        let mut down: Vec<(StackId, FrameId)> = Vec::new();
        let (mut at, mut new) = (old, StackId::EMPTY);
        while let Some((caller, frame)) = self.from.stacks.innermost(at) {
            if let Some(&known) = self.stacks.get(&at.0) {
                new = StackId(known);
                break;
            }
            down.push((at, frame));
            at = caller;
        }
        self.cost += down.len();
        for (stack, frame) in down.into_iter().rev() {
            let frame = self.frame(frame);
            new = self.to.stacks.push(new, frame);
            self.stacks.insert(stack.0, new.0);
        }
        new
    }

    /// New handle of arguments.
    pub(crate) fn args(&mut self, old: ArgsId) -> ArgsId {
        if let Some(&known) = self.args.get(&old.0) {
            return ArgsId(known);
        }
        let args = self.from.args.get(old);
        let copy = Args {
            input_sizes: self.shapes(args.input_sizes),
            output_sizes: self.shapes(args.output_sizes),
            input_dtypes: self.dtypes(args.input_dtypes),
            output_dtypes: self.dtypes(args.output_dtypes),
            input_splits: args.input_splits.map(|splits| self.shape(splits)),
            output_splits: args.output_splits.map(|splits| self.shape(splits)),
        };
        let new = self.to.args.intern(copy);
        self.args.insert(old.0, new.0);
        new
    }

    fn shape(&mut self, old: ShapeId) -> ShapeId {
        let shape = self.from.shapes.get(old);
        self.cost += shape.len();
        self.to.shapes.intern(shape)
    }

    fn shapes(&mut self, old: ShapesId) -> ShapesId {
        let list: Vec<ShapeId> = self.from.shape_lists.get(old).iter().map(|&id| self.shape(id)).collect();
        self.cost += list.len();
        self.to.shape_lists.intern(&list)
    }

    fn dtypes(&mut self, old: DtypesId) -> DtypesId {
        let list: Vec<StrId> = self.from.dtype_lists.get(old).iter().map(|&id| self.string(id)).collect();
        self.cost += list.len();
        self.to.dtype_lists.intern(&list)
    }
}
