//! The part of a bundle's columns and symbols that one of its dumps has.

use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashMap;

use super::super::{Entries, EntryIdx, GroupRef};
use super::sink::Sink;
use crate::symbols::{Args, ArgsId, DtypesId, Frame, FrameId, ShapeId, ShapesId, StackId, StrId, Symbols};

impl Sink {
    /// Copies rows and the symbols that they use. `None` when the file asks for too many copies.
    pub(super) fn share(&mut self, rows: Range<usize>) -> Option<(Entries, Vec<GroupRef>, Symbols)> {
        let mut copy = Copy::new(&self.symbols);
        let mut entries = Entries::default();
        let mut group_refs = Vec::new();
        let mut refs: HashMap<u32, u32> = HashMap::new();
        for row in rows {
            let mut entry = self.entries.get(EntryIdx(row as u32));
            entry.op = copy.string(entry.op);
            entry.thread = copy.string(entry.thread);
            entry.args = copy.args(entry.args);
            entry.stack = copy.stack(entry.stack);
            let next = group_refs.len() as u32;
            entry.group_ref = *refs.entry(entry.group_ref).or_insert_with(|| {
                let group = self.group_refs.get(entry.group_ref as usize).copied();
                let group = group.unwrap_or(GroupRef { pg_id: None, name: StrId::EMPTY, desc: StrId::EMPTY });
                group_refs.push(GroupRef { name: copy.string(group.name), desc: copy.string(group.desc), ..group });
                next
            });
            entries.push(&entry);
        }
        let (to, cost) = (copy.to, copy.cost);
        self.spend(cost).then_some((entries, group_refs, to))
    }
}

/// Symbols on their way from one set of tables to another.
struct Copy<'a> {
    from: &'a Symbols,
    to: Symbols,
    strings: HashMap<StrId, StrId>,
    frames: HashMap<FrameId, FrameId>,
    stacks: HashMap<StackId, StackId>,
    args: HashMap<ArgsId, ArgsId>,
    cost: usize,
}

impl<'a> Copy<'a> {
    fn new(from: &'a Symbols) -> Self {
        Copy {
            from,
            to: Symbols::default(),
            strings: HashMap::new(),
            frames: HashMap::new(),
            stacks: HashMap::new(),
            args: HashMap::new(),
            cost: 0,
        }
    }

    fn string(&mut self, old: StrId) -> StrId {
        let (from, to, cost) = (self.from, &mut self.to, &mut self.cost);
        *self.strings.entry(old).or_insert_with(|| {
            let text = from.strings.get(old);
            *cost += text.len();
            to.strings.intern(text)
        })
    }

    fn frame(&mut self, old: FrameId) -> FrameId {
        if let Some(&known) = self.frames.get(&old) {
            return known;
        }
        let frame = self.from.frames.get(old);
        let copy = Frame { function: self.string(frame.function), file: self.string(frame.file), line: frame.line };
        let new = self.to.frames.intern(copy);
        self.frames.insert(old, new);
        new
    }

    fn stack(&mut self, old: StackId) -> StackId {
        if old == StackId::NOT_RECORDED {
            return old;
        }
        if let Some(&known) = self.stacks.get(&old) {
            return known;
        }
        let frames: Vec<FrameId> = self.from.stacks.frames(old).collect();
        self.cost += frames.len();
        let frames: Vec<FrameId> = frames.into_iter().map(|frame| self.frame(frame)).collect();
        let new = self.to.stacks.intern(&frames);
        self.stacks.insert(old, new);
        new
    }

    fn args(&mut self, old: ArgsId) -> ArgsId {
        if let Some(&known) = self.args.get(&old) {
            return known;
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
        self.args.insert(old, new);
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
