//! Lists, tuples and sets: by their items they are a stack, a shape, dtypes, entries, ….

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::FaultKind;
use super::super::value::{NOWHERE, Value};
use super::sink::Sink;
use crate::symbols::{FrameId, StackId};

impl Sink {
    /// What a list of these items is.
    pub(in super::super) fn list(&mut self, items: &[Value]) -> Value {
        let slot = NOWHERE;
        match *items {
            [] => Value::EMPTY_LIST,
            [Value::Str(first), Value::Str(second)] => Value::Pair { slot, first, second },
            [Value::Int(_), ..] => self.shape(items),
            [Value::Frame(_), ..] => self.stack(items),
            [Value::Str(_), ..] => self.strs(items),
            // `[[]]` and `[[], [4]]`: tensors of no dimension.
            [Value::Shape { .. } | Value::List { .. }, ..] => self.shapes(items),
            [Value::Entry(first), ..] => self.add_entries(slot, (first, first), items),
            [Value::Dump(first), ..] => self.add_dumps(slot, (first, first), items),
            _ => self.odd_list(items),
        }
    }

    /// Appends items to a list that has some already.
    pub(in super::super) fn extend_list(&mut self, list: Value, items: &[Value]) -> Value {
        match list {
            Value::Entries { slot, start, end } => self.add_entries(slot, (start, end), items),
            Value::Dumps { slot, start, end } => self.add_dumps(slot, (start, end), items),
            _ => Value::Opaque,
        }
    }

    /// The items of a list that was digested, for one that grows after that. `None` when there is nothing to unfold.
    pub(in super::super) fn unfold(&mut self, list: Value) -> Option<Vec<Value>> {
        let slot = NOWHERE;
        let items: Vec<Value> = match list {
            Value::Pair { first, second, .. } => alloc::vec![Value::Str(first), Value::Str(second)],
            Value::Strs { id, .. } => self.symbols.dtype_lists.get(id).iter().map(|&id| Value::Str(id)).collect(),
            Value::Shape { id, .. } => self.symbols.shapes.get(id).iter().map(|&number| Value::Int(number)).collect(),
            Value::Shapes { id, .. } => {
                self.symbols.shape_lists.get(id).iter().map(|&id| Value::Shape { slot, id }).collect()
            }
            Value::Stack { id, .. } => self.symbols.stacks.frames(id).map(Value::Frame).collect(),
            _ => return None,
        };
        // Paid for afterwards: the list is no longer than the file, and the next one is refused.
        self.spend(items.len().saturating_mul(size_of::<Value>())).then_some(items)
    }

    /// A list whose first item does not tell what it is.
    #[cold]
    fn odd_list(&mut self, items: &[Value]) -> Value {
        let telling = items.iter().find(|item| matches!(item, Value::Entry(_) | Value::Frame(_) | Value::Dump(_)));
        match telling {
            Some(&Value::Entry(first)) => self.add_entries(NOWHERE, (first, first), items),
            Some(&Value::Dump(first)) => self.add_dumps(NOWHERE, (first, first), items),
            Some(Value::Frame(_)) => self.stack(items),
            _ => Value::Opaque,
        }
    }

    fn shape(&mut self, items: &[Value]) -> Value {
        let ints = &mut self.scratch.ints;
        ints.clear();
        for item in items {
            match item {
                Value::Int(number) => ints.push(*number),
                Value::Bool(truth) => ints.push(i64::from(*truth)),
                _ => return self.odd_list(items),
            }
        }
        Value::Shape { slot: NOWHERE, id: self.symbols.shapes.intern(ints) }
    }

    fn shapes(&mut self, items: &[Value]) -> Value {
        let shapes = &mut self.scratch.shapes;
        shapes.clear();
        for item in items {
            match item {
                Value::Shape { id, .. } => shapes.push(*id),
                Value::List { .. } => shapes.push(crate::symbols::ShapeId::EMPTY),
                _ => return self.odd_list(items),
            }
        }
        Value::Shapes { slot: NOWHERE, id: self.symbols.shape_lists.intern(shapes) }
    }

    fn strs(&mut self, items: &[Value]) -> Value {
        let strs = &mut self.scratch.strs;
        strs.clear();
        for item in items {
            match item {
                Value::Str(id) => strs.push(*id),
                _ => return self.odd_list(items),
            }
        }
        Value::Strs { slot: NOWHERE, id: self.symbols.dtype_lists.intern(strs) }
    }

    fn stack(&mut self, items: &[Value]) -> Value {
        let mut frames = core::mem::take(&mut self.scratch.frames);
        frames.clear();
        frames.resize(items.len(), 0);
        let mut others = 0;
        for (place, item) in frames.iter_mut().zip(items) {
            match item {
                Value::Frame(id) => *place = id.0,
                _ => others += 1,
            }
        }
        if others > 0 {
            frames.clear();
            frames.extend(items.iter().filter_map(|item| match item {
                Value::Frame(id) => Some(id.0),
                _ => None,
            }));
            self.fault(
                FaultKind::UnexpectedValue,
                format!("a call stack has {others} items that are no frames; they are left out"),
            );
        }
        let id = self.intern_stack(&frames);
        self.scratch.frames = frames;
        Value::Stack { slot: NOWHERE, id }
    }

    /// One look-up for a stack that was seen before, however deep it is.
    fn intern_stack(&mut self, frames: &[u32]) -> StackId {
        let cache = &mut self.stack_cache;
        // The cache's own empty list takes the first place.
        if cache.stacks.is_empty() {
            cache.stacks.push(StackId::EMPTY);
        }
        let list = cache.lists.intern(frames);
        if let Some(&known) = cache.stacks.get(list.index as usize) {
            return known;
        }
        let id =
            frames.iter().rev().fold(StackId::EMPTY, |caller, &frame| self.symbols.stacks.push(caller, FrameId(frame)));
        cache.stacks.push(id);
        id
    }

    /// Entries are rows one after another, and so a list of them is a range of rows.
    fn add_entries(&mut self, slot: u32, (start, mut end): (u32, u32), items: &[Value]) -> Value {
        let (mut others, mut repeated) = (0usize, 0usize);
        for item in items {
            match item {
                Value::Entry(row) if *row == end => end += 1,
                Value::Entry(_) => repeated += 1,
                _ => others += 1,
            }
        }
        if others > 0 {
            self.fault(
                FaultKind::UnexpectedValue,
                format!("the list of entries has {others} items that are no entries; they are left out"),
            );
        }
        if repeated > 0 {
            self.fault(
                FaultKind::UnexpectedValue,
                format!("the list of entries names {repeated} entries that stand elsewhere already; they are left out"),
            );
        }
        Value::Entries { slot, start, end }
    }

    /// The same for dumps.
    pub(super) fn add_dumps(&mut self, slot: u32, (start, mut end): (u32, u32), items: &[Value]) -> Value {
        let mut repeated = false;
        for item in items {
            match item {
                Value::Dump(index) if *index == end => end += 1,
                Value::Dump(_) => repeated = true,
                _ => {}
            }
        }
        if repeated {
            self.fault(
                FaultKind::UnexpectedValue,
                String::from("the same dump stands in two places of the file; it is read once"),
            );
        }
        Value::Dumps { slot, start, end }
    }
}
