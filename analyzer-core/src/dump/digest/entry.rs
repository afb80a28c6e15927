//! An entry: one operation, from the pairs of its dict to a row of the columns.

use alloc::format;

use super::super::float_text::text_of_float;
use super::super::value::Value;
use super::super::{Entry, EntryIdx, GroupRef, State, keys};
use super::sink::Sink;
use crate::symbols::{Args, DtypesId, ShapeId, ShapesId, StackId, StrId};

/// Names of PyTorch's scalar type codes, for dumps of the builds that wrote codes instead of names.
#[rustfmt::skip]
const SCALAR_TYPES: [&str; 46] = [
    "Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "ComplexHalf", "ComplexFloat", "ComplexDouble",
    "Bool", "QInt8", "QUInt8", "QInt32", "BFloat16", "QUInt4x2", "QUInt2x4", "Bits1x8", "Bits2x4", "Bits4x2", "Bits8",
    "Bits16", "Float8_e5m2", "Float8_e4m3fn", "Float8_e5m2fnuz", "Float8_e4m3fnuz", "UInt16", "UInt32", "UInt64",
    "UInt1", "UInt2", "UInt3", "UInt4", "UInt5", "UInt6", "UInt7", "Int1", "Int2", "Int3", "Int4", "Int5", "Int6",
    "Int7", "Float8_e8m0fnu", "Float4_e2m1fn_x2",
];

impl Sink {
    /// Stores the entry that these pairs describe and answers with its row.
    pub(super) fn entry(&mut self, pairs: &[[Value; 2]]) -> Value {
        let row = self.entries.len();
        if row >= self.max_rows {
            self.stop(format!(
                "there are more than {row} entries in a file of this size, which no recorder writes; reading stopped here"
            ));
            return Value::Opaque;
        }
        let mut entry = Entry::default();
        let mut args = Args::default();
        let mut group = GroupRef { pg_id: None, name: StrId::EMPTY, desc: StrId::EMPTY };
        for &[key, value] in pairs {
            let Value::Str(key_id) = key else { continue };
            let key = key_id.0;
            match key {
                keys::FRAMES => entry.stack = self.stack_of(value),
                keys::RECORD_ID => entry.record_id = self.small_int(key, value),
                keys::PG_ID => group.pg_id = self.int(key, value),
                keys::PROCESS_GROUP => (group.name, group.desc) = self.name_and_desc(value),
                keys::THREAD_NAME => entry.thread = self.text(key, value),
                keys::THREAD_ID => {}
                keys::COLLECTIVE_SEQ_ID | keys::SEQ_ID => entry.collective_seq = self.small_int(key, value),
                keys::P2P_SEQ_ID => entry.p2p_seq = self.small_int(key, value),
                keys::OP_ID => entry.op_id = self.small_int(key, value),
                keys::PROFILING_NAME => entry.op = self.text(key, value),
                keys::TIME_CREATED_NS => entry.created_ns = self.int(key, value).unwrap_or(0),
                keys::TIME_CREATED_US => entry.created_ns = self.int(key, value).unwrap_or(0).saturating_mul(1000),
                keys::DURATION_MS => entry.duration_ms = self.float(key, value).map(|ms| ms as f32),
                keys::INPUT_SIZES => args.input_sizes = self.shapes_of(key, value),
                keys::INPUT_DTYPES => args.input_dtypes = self.dtypes_of(key, value),
                keys::OUTPUT_SIZES => args.output_sizes = self.shapes_of(key, value),
                keys::OUTPUT_DTYPES => args.output_dtypes = self.dtypes_of(key, value),
                keys::STATE => entry.state = self.state_of(value),
                keys::TIME_DISCOVERED_STARTED_NS => entry.started_ns = self.int(key, value).unwrap_or(0),
                keys::TIME_DISCOVERED_COMPLETED_NS => entry.completed_ns = self.int(key, value).unwrap_or(0),
                keys::RETIRED => entry.retired = self.truth(key, value).unwrap_or(false),
                keys::TIMEOUT_MS => entry.timeout_ms = self.small_int(key, value).unwrap_or(0),
                keys::IS_P2P => entry.is_p2p = self.truth(key, value),
                keys::INPUT_SPLIT_SIZES => args.input_splits = self.splits_of(key, value),
                keys::OUTPUT_SPLIT_SIZES => args.output_splits = self.splits_of(key, value),
                _ => self.note_unknown_key(key_id),
            }
        }
        entry.args = self.symbols.args.intern(args);
        entry.group_ref = self.group_ref(group);
        self.entries.push(&entry);
        Value::Entry(row as u32)
    }

    /// Stores an entry whose texts, stack and arguments are of this file, and answers as [`Sink::entry`] does; `None` when that has to
    /// say why there cannot be another.
    pub(in super::super) fn add_entry(&mut self, entry: &Entry) -> Option<Value> {
        let row = self.entries.len();
        if row >= self.max_rows {
            return None;
        }
        self.entries.push(entry);
        Some(Value::Entry(row as u32))
    }

    /// The entry of a row.
    pub(in super::super) fn entry_at(&self, row: u32) -> Entry {
        self.entries.get(EntryIdx(row))
    }

    /// The handle of a text.
    pub(super) fn text(&mut self, key: u32, value: Value) -> StrId {
        match value {
            Value::Str(id) => id,
            Value::None => StrId::EMPTY,
            Value::Int(number) => self.symbols.strings.intern(&format!("{number}")),
            Value::Float(number) => self.symbols.strings.intern(&text_of_float(number)),
            other => {
                self.unexpected(key, "a text", other);
                StrId::EMPTY
            }
        }
    }

    fn state_of(&mut self, value: Value) -> State {
        match value {
            Value::Str(StrId(keys::COMPLETED)) => State::Completed,
            Value::Str(StrId(keys::STARTED)) => State::Started,
            Value::Str(StrId(keys::SCHEDULED)) => State::Scheduled,
            Value::Str(_) | Value::None => State::Unknown,
            other => {
                self.unexpected(keys::STATE, "a text", other);
                State::Unknown
            }
        }
    }

    fn stack_of(&mut self, value: Value) -> StackId {
        match value {
            Value::Stack { id, .. } => id,
            Value::List { .. } => StackId::EMPTY,
            Value::None => StackId::NOT_RECORDED,
            other => {
                self.unexpected(keys::FRAMES, "a list of frames", other);
                StackId::NOT_RECORDED
            }
        }
    }

    /// `process_group`: a pair; in old dumps the name alone.
    fn name_and_desc(&mut self, value: Value) -> (StrId, StrId) {
        match value {
            Value::Pair { first, second, .. } => (first, second),
            Value::Strs { id, .. } => {
                let texts = self.symbols.dtype_lists.get(id);
                let at = |index: usize| texts.get(index).copied().unwrap_or_default();
                (at(0), at(1))
            }
            Value::List { .. } => (StrId::EMPTY, StrId::EMPTY),
            name => (self.text(keys::PROCESS_GROUP, name), StrId::EMPTY),
        }
    }

    fn shapes_of(&mut self, key: u32, value: Value) -> ShapesId {
        match value {
            Value::Shapes { id, .. } => id,
            Value::List { .. } | Value::None => ShapesId::EMPTY,
            // One tensor without the list around it.
            Value::Shape { id, .. } => self.symbols.shape_lists.intern(&[id]),
            other => {
                self.unexpected(key, "a list of lists of integers", other);
                ShapesId::EMPTY
            }
        }
    }

    fn splits_of(&mut self, key: u32, value: Value) -> Option<ShapeId> {
        match value {
            Value::Shape { id, .. } => Some(id),
            // An operation without splits; an even split is never assumed.
            Value::List { .. } | Value::None => None,
            other => {
                self.unexpected(key, "a list of integers", other);
                None
            }
        }
    }

    fn dtypes_of(&mut self, key: u32, value: Value) -> DtypesId {
        match value {
            Value::Strs { id, .. } => id,
            Value::Pair { first, second, .. } => self.symbols.dtype_lists.intern(&[first, second]),
            Value::List { .. } | Value::None => DtypesId::EMPTY,
            Value::Str(dtype) => self.symbols.dtype_lists.intern(&[dtype]),
            Value::Int(code) => {
                let dtype = self.dtype_of_code(code);
                self.symbols.dtype_lists.intern(&[dtype])
            }
            Value::Shape { id, .. } => self.dtypes_of_codes(id),
            other => {
                self.unexpected(key, "a list of texts", other);
                DtypesId::EMPTY
            }
        }
    }

    fn dtypes_of_codes(&mut self, codes: ShapeId) -> DtypesId {
        if let Some(&known) = self.dtypes_of_codes.get(&codes.index) {
            return DtypesId::new(known);
        }
        let mut dtypes = core::mem::take(&mut self.scratch.strs);
        dtypes.clear();
        for at in 0..self.symbols.shapes.get(codes).len() {
            let code = self.symbols.shapes.get(codes).get(at).copied().unwrap_or(-1);
            dtypes.push(self.dtype_of_code(code));
        }
        let id = self.symbols.dtype_lists.intern(&dtypes);
        self.scratch.strs = dtypes;
        self.dtypes_of_codes.insert(codes.index, id.index);
        id
    }

    fn dtype_of_code(&mut self, code: i64) -> StrId {
        let name = usize::try_from(code).ok().and_then(|code| SCALAR_TYPES.get(code));
        match name {
            Some(name) => self.symbols.strings.intern(name),
            None => self.symbols.strings.intern(&format!("scalar type {code}")),
        }
    }

    fn group_ref(&mut self, group: GroupRef) -> u32 {
        if let Some((last, index)) = self.last_group_ref
            && last == group
        {
            return index;
        }
        let (refs, next) = (&mut self.group_refs, self.group_ref_index.len() as u32);
        let index = *self.group_ref_index.entry(group).or_insert_with(|| {
            refs.push(group);
            next
        });
        self.last_group_ref = Some((group, index));
        index
    }
}
