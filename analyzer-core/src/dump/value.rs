//! What stands on the value stack while a file is read.

use crate::symbols::{DtypesId, FrameId, ShapeId, ShapesId, StackId, StrId};

/// "In no memo slot", and "no such thing" for other indices.
pub(super) const NOWHERE: u32 = u32::MAX;

/// A decoded value: a scalar, or the digest of a container.
///
/// Containers are digested when they are filled: a dict of `name`, `filename` and `line` *is* a frame's handle, a list of such is a
/// stack's handle, and an entry is a row of the columns. So a value is 16 bytes whatever the file says, and there is no tree.
///
/// `slot` is the memo slot of a container that Python memoised before it was filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    // First and in this order: the memo counts on it for speed, though not for being right.
    Str(StrId),
    Frame(FrameId),
    None,
    Bool(bool),
    Int(i64),
    /// An integer that 64 bits do not hold.
    Huge,
    Float(f64),
    /// A dict without items, so far.
    Dict {
        slot: u32,
    },
    /// A list, tuple or set without items, so far.
    List {
        slot: u32,
    },
    /// A container that gets its items one at a time; they lie elsewhere until something uses it.
    Partial {
        slot: u32,
        index: u32,
    },
    Stack {
        slot: u32,
        id: StackId,
    },
    /// A list of integers.
    Shape {
        slot: u32,
        id: ShapeId,
    },
    /// A list of lists of integers.
    Shapes {
        slot: u32,
        id: ShapesId,
    },
    /// A list of two texts.
    Pair {
        slot: u32,
        first: StrId,
        second: StrId,
    },
    /// A list of texts.
    Strs {
        slot: u32,
        id: DtypesId,
    },
    /// A row of the columns.
    Entry(u32),
    /// Rows of the columns.
    Entries {
        slot: u32,
        start: u32,
        end: u32,
    },
    /// An item of `pg_config`.
    Group(u32),
    Groups {
        slot: u32,
        start: u32,
        end: u32,
    },
    /// An item of `pg_status`.
    Status(u32),
    Statuses {
        slot: u32,
        start: u32,
        end: u32,
    },
    /// A whole dump.
    Dump(u32),
    /// A bundle of dumps.
    Dumps {
        slot: u32,
        start: u32,
        end: u32,
    },
    /// One of the four functions that a dump may name.
    Global,
    /// Something that a dump may hold and that is not kept.
    Opaque,
}

impl Value {
    pub(super) const EMPTY_DICT: Value = Value::Dict { slot: NOWHERE };
    pub(super) const EMPTY_LIST: Value = Value::List { slot: NOWHERE };

    /// What the value is, for a person.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Value::None => "none",
            Value::Bool(_) => "a truth value",
            Value::Int(_) => "an integer",
            Value::Huge => "an integer of more than 64 bits",
            Value::Float(_) => "a number",
            Value::Str(_) => "a text",
            Value::Dict { .. } => "an empty dict",
            Value::List { .. } => "an empty list",
            Value::Frame(_) => "a stack frame",
            Value::Stack { .. } => "a list of stack frames",
            Value::Shape { .. } => "a list of integers",
            Value::Shapes { .. } => "a list of lists of integers",
            Value::Pair { .. } | Value::Strs { .. } => "a list of texts",
            Value::Entry(_) => "an entry",
            Value::Entries { .. } => "a list of entries",
            Value::Group(_) => "a description of a process group",
            Value::Groups { .. } => "a dict of process groups",
            Value::Status(_) => "the status of a process group",
            Value::Statuses { .. } => "a dict of statuses",
            Value::Dump(_) => "a dump",
            Value::Dumps { .. } => "several dumps",
            Value::Global => "a function",
            Value::Partial { .. } | Value::Opaque => "something else",
        }
    }

    /// The same value, remembered in another memo slot.
    pub(super) fn with_slot(mut self, new: u32) -> Value {
        match &mut self {
            Value::Dict { slot }
            | Value::List { slot }
            | Value::Partial { slot, .. }
            | Value::Stack { slot, .. }
            | Value::Shape { slot, .. }
            | Value::Shapes { slot, .. }
            | Value::Pair { slot, .. }
            | Value::Strs { slot, .. }
            | Value::Entries { slot, .. }
            | Value::Groups { slot, .. }
            | Value::Statuses { slot, .. }
            | Value::Dumps { slot, .. } => *slot = new,
            _ => {}
        }
        self
    }

    /// The memo slot of a container.
    pub(super) fn slot(self) -> u32 {
        match self {
            Value::Dict { slot }
            | Value::List { slot }
            | Value::Partial { slot, .. }
            | Value::Stack { slot, .. }
            | Value::Shape { slot, .. }
            | Value::Shapes { slot, .. }
            | Value::Pair { slot, .. }
            | Value::Strs { slot, .. }
            | Value::Entries { slot, .. }
            | Value::Groups { slot, .. }
            | Value::Statuses { slot, .. }
            | Value::Dumps { slot, .. } => slot,
            _ => NOWHERE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_small() {
        assert_eq!(size_of::<Value>(), 16);
    }
}
