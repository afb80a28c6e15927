//! What a pack's sections and the messages between the page's workers hold, as values that can be written.
//!
//! Apart from the types of the analysis, which may change; these change with the version of packs.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::{Config, ConfigId, ConfigTable, FileNote, ShardDump};
use crate::dump::{Column, Entries, EntryHead, Fault, FaultKind, GroupRef, GroupStatus};
use crate::symbols::{Args, ArgsId, Frame, FrameId, SliceId, StackId, StrId, Symbols};

/// What all dumps of a pack share.
#[derive(Serialize, Deserialize)]
pub(super) struct WireTables {
    symbols: WireSymbols,
    /// Lists of members, each as the least one and the distances.
    members: Vec<Vec<u32>>,
    /// Name, description, members.
    configs: Vec<(u32, u32, u32)>,
    notes: Vec<WireNote>,
}

#[derive(Serialize, Deserialize)]
struct WireNote {
    file: String,
    rank: Option<u32>,
    has_dump: bool,
    faults: Vec<(u8, Option<u64>, String)>,
}

#[derive(Serialize, Deserialize)]
struct WireSymbols {
    strings: Vec<String>,
    frames: Vec<(u32, u32, u32)>,
    stacks: Vec<(u32, u32)>,
    shapes: Vec<Vec<i64>>,
    shape_lists: Vec<Vec<u32>>,
    dtype_lists: Vec<Vec<u32>>,
    args: Vec<([u32; 4], [Option<u32>; 2])>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct WireDump {
    file: String,
    rank: Option<u32>,
    version: u32,
    comm_lib_version: u32,
    has_entries_key: bool,
    truncated: bool,
    group_refs: Vec<(Option<i64>, u32, u32)>,
    configs: Vec<u32>,
    statuses: Vec<(i64, i64, i64, i64)>,
    entries: u32,
    /// Group, operation, arguments, stack, thread, time limit.
    heads: Vec<[u32; 6]>,
    /// Base, step, width, bytes by weight.
    columns: [(i64, i64, u8, ByteBuf); 10],
}

impl WireTables {
    pub(super) fn of(symbols: &Symbols, configs: &ConfigTable, notes: &[FileNote]) -> WireTables {
        WireTables {
            symbols: WireSymbols::of(symbols),
            members: configs.member_lists().map(distances).collect(),
            configs: configs.iter().map(|config| (config.name.0, config.desc.0, config.members.index)).collect(),
            notes: notes
                .iter()
                .map(|note| WireNote {
                    file: note.file.clone(),
                    rank: note.rank,
                    has_dump: note.has_dump,
                    faults: note
                        .faults
                        .iter()
                        .map(|fault| (fault_code(fault.kind), fault.offset, fault.message.clone()))
                        .collect(),
                })
                .collect(),
        }
    }

    pub(super) fn tables(self) -> (Symbols, ConfigTable, Vec<FileNote>) {
        let mut configs = ConfigTable::default();
        for list in &self.members {
            configs.members_id(&sums(list));
        }
        for (name, desc, members) in self.configs {
            configs.intern(Config { name: StrId(name), desc: StrId(desc), members: SliceId::new(members) });
        }
        let notes = self
            .notes
            .into_iter()
            .map(|note| FileNote {
                file: note.file,
                rank: note.rank,
                has_dump: note.has_dump,
                faults: note
                    .faults
                    .into_iter()
                    .map(|(kind, offset, message)| Fault { kind: fault_kind(kind), offset, message })
                    .collect(),
            })
            .collect();
        (self.symbols.symbols(), configs, notes)
    }
}

/// Ascending numbers as the first one and what each is above the one before.
fn distances(list: &[u32]) -> Vec<u32> {
    let before = core::iter::once(0).chain(list.iter().copied());
    list.iter().zip(before).map(|(&one, before)| one.wrapping_sub(before)).collect()
}

fn sums(distances: &[u32]) -> Vec<u32> {
    let mut sum = 0u32;
    distances
        .iter()
        .map(|&more| {
            sum = sum.wrapping_add(more);
            sum
        })
        .collect()
}

impl WireDump {
    pub(super) fn of(dump: &ShardDump) -> WireDump {
        let len = dump.entries.len();
        WireDump {
            file: dump.file.clone(),
            rank: dump.rank,
            version: dump.version.0,
            comm_lib_version: dump.comm_lib_version.0,
            has_entries_key: dump.has_entries_key,
            truncated: dump.truncated,
            group_refs: dump.group_refs.iter().map(|item| (item.pg_id, item.name.0, item.desc.0)).collect(),
            configs: dump.configs.iter().map(|id| id.0).collect(),
            statuses: dump
                .statuses
                .iter()
                .map(|item| (item.pg_id, item.last_enqueued, item.last_started, item.last_completed))
                .collect(),
            entries: len as u32,
            heads: dump
                .entries
                .heads()
                .iter()
                .map(|head| [head.group_ref, head.op.0, head.args.0, head.stack.0, head.thread.0, head.timeout_ms])
                .collect(),
            columns: dump.entries.columns().map(|column| {
                let (base, step, width, planes) = column.planes(len);
                (base, step, width, ByteBuf::from(planes))
            }),
        }
    }

    /// The dump; `None` if its columns do not fit together.
    #[inline(never)]
    pub(super) fn dump(self) -> Option<ShardDump> {
        let len = self.entries as usize;
        let mut columns: [Column; 10] = Default::default();
        for (place, (base, step, width, planes)) in columns.iter_mut().zip(self.columns) {
            *place = Column::from_planes(base, step, width, &planes, len)?;
        }
        let heads = self
            .heads
            .into_iter()
            .map(|[group_ref, op, args, stack, thread, timeout_ms]| EntryHead {
                group_ref,
                op: StrId(op),
                args: ArgsId(args),
                stack: StackId(stack),
                thread: StrId(thread),
                timeout_ms,
            })
            .collect();
        Some(ShardDump {
            file: self.file,
            rank: self.rank,
            version: StrId(self.version),
            comm_lib_version: StrId(self.comm_lib_version),
            has_entries_key: self.has_entries_key,
            truncated: self.truncated,
            entries: Entries::from_columns(self.entries, columns, heads),
            group_refs: self
                .group_refs
                .into_iter()
                .map(|(pg_id, name, desc)| GroupRef { pg_id, name: StrId(name), desc: StrId(desc) })
                .collect(),
            configs: self.configs.into_iter().map(ConfigId).collect(),
            statuses: self
                .statuses
                .into_iter()
                .map(|(pg_id, last_enqueued, last_started, last_completed)| GroupStatus {
                    pg_id,
                    last_enqueued,
                    last_started,
                    last_completed,
                })
                .collect(),
        })
    }
}

impl WireSymbols {
    fn of(symbols: &Symbols) -> WireSymbols {
        WireSymbols {
            strings: symbols.strings.iter().map(ToString::to_string).collect(),
            frames: symbols.frames.iter().map(|frame| (frame.function.0, frame.file.0, frame.line)).collect(),
            stacks: symbols.stacks.nodes().map(|(parent, frame)| (parent.0, frame.0)).collect(),
            shapes: symbols.shapes.iter().map(<[i64]>::to_vec).collect(),
            shape_lists: symbols.shape_lists.iter().map(|list| list.iter().map(|id| id.index).collect()).collect(),
            dtype_lists: symbols.dtype_lists.iter().map(|list| list.iter().map(|id| id.0).collect()).collect(),
            args: symbols
                .args
                .iter()
                .map(|args| {
                    let lists = [
                        args.input_sizes.index,
                        args.output_sizes.index,
                        args.input_dtypes.index,
                        args.output_dtypes.index,
                    ];
                    (lists, [args.input_splits.map(|id| id.index), args.output_splits.map(|id| id.index)])
                })
                .collect(),
        }
    }

    /// Interned in the order in which they were written, equal things get equal handles again.
    fn symbols(self) -> Symbols {
        let mut symbols = Symbols::default();
        for text in &self.strings {
            symbols.strings.intern(text);
        }
        for &(function, file, line) in &self.frames {
            symbols.frames.intern(Frame { function: StrId(function), file: StrId(file), line });
        }
        for &(parent, frame) in &self.stacks {
            symbols.stacks.push(StackId(parent), FrameId(frame));
        }
        for shape in &self.shapes {
            symbols.shapes.intern(shape);
        }
        for list in &self.shape_lists {
            let list: Vec<_> = list.iter().map(|&id| SliceId::new(id)).collect();
            symbols.shape_lists.intern(&list);
        }
        for list in &self.dtype_lists {
            let list: Vec<_> = list.iter().map(|&id| StrId(id)).collect();
            symbols.dtype_lists.intern(&list);
        }
        for (lists, splits) in &self.args {
            let [input_sizes, output_sizes, input_dtypes, output_dtypes] = *lists;
            symbols.args.intern(Args {
                input_sizes: SliceId::new(input_sizes),
                output_sizes: SliceId::new(output_sizes),
                input_dtypes: SliceId::new(input_dtypes),
                output_dtypes: SliceId::new(output_dtypes),
                input_splits: splits[0].map(SliceId::new),
                output_splits: splits[1].map(SliceId::new),
            });
        }
        symbols.shrink_to_fit();
        symbols
    }
}

fn fault_code(kind: FaultKind) -> u8 {
    match kind {
        FaultKind::Empty => 0,
        FaultKind::NotADump => 1,
        FaultKind::Truncated => 2,
        FaultKind::Malformed => 3,
        FaultKind::UnexpectedValue => 4,
    }
}

fn fault_kind(code: u8) -> FaultKind {
    match code {
        0 => FaultKind::Empty,
        1 => FaultKind::NotADump,
        2 => FaultKind::Truncated,
        4 => FaultKind::UnexpectedValue,
        _ => FaultKind::Malformed,
    }
}
