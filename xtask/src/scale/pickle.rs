//! The dump of a rank as the watchdog's file holds it.

use super::pickler::{FrameKeys, Pickler};
use super::program::{Dimension, Op, Program};
use super::rank::{Counters, Entry, RankDump, State};
use super::stacks::Stacks;
use super::symbols::{FrameId, Symbols, TextId};

/// What the recorder calls itself, and its communication library.
pub(super) const VERSION: &str = "2.10";
pub(super) const LIBRARY: &str = "2.27.3";
pub(super) const THREAD: &str = "python";
pub(super) const TIMEOUT_MS: i64 = 600_000;

/// The keys of an entry in the order in which they are written.
const ENTRY_KEYS: [&str; 22] = [
    "frames",
    "record_id",
    "pg_id",
    "process_group",
    "thread_name",
    "thread_id",
    "collective_seq_id",
    "p2p_seq_id",
    "op_id",
    "profiling_name",
    "time_created_ns",
    "duration_ms",
    "input_sizes",
    "input_dtypes",
    "output_sizes",
    "output_dtypes",
    "state",
    "time_discovered_started_ns",
    "time_discovered_completed_ns",
    "retired",
    "timeout_ms",
    "is_p2p",
];

/// What is the same in the dumps of all ranks: made once, and copied for each.
#[derive(Clone, Debug)]
pub(super) struct PickleWriter {
    symbols: Symbols,
    stacks: Stacks,
    frame_keys: FrameKeys,
    entry_keys: [TextId; 22],
    ops: [TextId; 3],
    states: [TextId; 3],
}

impl PickleWriter {
    pub(super) fn new(layers: u32) -> Self {
        let mut symbols = Symbols::default();
        let stacks = Stacks::new(&mut symbols, layers);
        let mut text = |text: &str| symbols.text(text);
        Self {
            stacks,
            frame_keys: FrameKeys { name: text("name"), filename: text("filename"), line: text("line") },
            entry_keys: ENTRY_KEYS.map(&mut text),
            ops: Op::ALL.map(|op| text(op.name())),
            states: State::ALL.map(|state| text(state.name())),
            symbols,
        }
    }

    /// The pickle of one rank, in `buffer`.
    pub(super) fn write(&self, program: &Program, dump: &RankDump, buffer: Vec<u8>) -> Vec<u8> {
        let mut symbols = self.symbols.clone();
        let rank = Rank::new(program, dump.rank, &mut symbols);
        let mut uses = vec![0; symbols.frame_count()];
        for frame in dump.entries.iter().flat_map(|entry| self.stack(entry)) {
            uses[frame.0 as usize] += 1;
        }
        let mut pickler = Pickler::new(&symbols, self.frame_keys, uses, buffer);
        pickler.dict(|pickler| {
            pickler.text(rank.version.0);
            pickler.text(rank.version.1);
            pickler.text(rank.config_key);
            pickler.dict(|pickler| rank.groups.iter().for_each(|group| group.write(pickler)));
            pickler.text(rank.library.0);
            pickler.text(rank.library.1);
            pickler.text(rank.status_key);
            pickler.dict(|pickler| {
                for (counters, id) in dump.counters.iter().zip(rank.status_ids) {
                    pickler.text(id);
                    rank.status(*counters, pickler);
                }
            });
            pickler.text(rank.entries_key);
            pickler.list(|pickler| dump.entries.iter().for_each(|entry| self.entry(entry, &rank, pickler)));
        });
        pickler.finish()
    }

    fn stack(&self, entry: &Entry) -> &[FrameId] {
        self.stacks.of(entry.call.op, entry.call.layer)
    }

    fn entry(&self, entry: &Entry, rank: &Rank, pickler: &mut Pickler<'_>) {
        let [
            frames,
            record,
            group_id,
            group,
            thread_name,
            thread_id,
            collective,
            p2p,
            op_id,
            name,
            created,
            duration,
            in_sizes,
            in_dtypes,
            out_sizes,
            out_dtypes,
            state,
            started,
            completed,
            retired,
            timeout,
            is_p2p,
        ] = self.entry_keys;
        let at = entry.call.dimension.index();
        let int = |pickler: &mut Pickler<'_>, key, value: i64| {
            pickler.text(key);
            pickler.int(value);
        };
        let text = |pickler: &mut Pickler<'_>, key, value| {
            pickler.text(key);
            pickler.text(value);
        };
        let time = |pickler: &mut Pickler<'_>, key, value: Option<i64>| {
            pickler.text(key);
            match value {
                Some(value) => pickler.int(value),
                None => pickler.none(),
            }
        };
        let tensor = |pickler: &mut Pickler<'_>, [sizes, dtypes]: [TextId; 2], elements: u32| {
            pickler.text(sizes);
            pickler.list(|pickler| pickler.list(|pickler| pickler.int(elements.into())));
            pickler.text(dtypes);
            pickler.list(|pickler| pickler.text(if entry.dtype == "Float" { rank.float } else { rank.bfloat }));
        };
        pickler.dict(|pickler| {
            pickler.text(frames);
            pickler.list(|pickler| self.stack(entry).iter().for_each(|&frame| pickler.frame(frame)));
            int(pickler, record, entry.record as i64);
            int(pickler, group_id, at as i64);
            pickler.text(group);
            pickler.pair(rank.groups[at].name, rank.groups[at].description);
            text(pickler, thread_name, rank.thread_name);
            text(pickler, thread_id, rank.thread_id);
            int(pickler, collective, entry.sequence as i64);
            int(pickler, p2p, 0);
            int(pickler, op_id, entry.sequence as i64);
            text(pickler, name, self.ops[entry.call.op as usize]);
            int(pickler, created, entry.created_ns);
            if let Some(milliseconds) = entry.duration_ms {
                pickler.text(duration);
                pickler.float(milliseconds);
            }
            tensor(pickler, [in_sizes, in_dtypes], entry.call.elements[0]);
            tensor(pickler, [out_sizes, out_dtypes], entry.call.elements[1]);
            text(pickler, state, self.states[entry.state as usize]);
            time(pickler, started, entry.started_ns());
            time(pickler, completed, entry.completed_ns());
            pickler.text(retired);
            pickler.bool(entry.is_completed());
            int(pickler, timeout, TIMEOUT_MS);
            pickler.text(is_p2p);
            pickler.bool(false);
        });
    }
}

/// The texts of one rank.
#[derive(Debug)]
struct Rank {
    version: (TextId, TextId),
    library: (TextId, TextId),
    config_key: TextId,
    status_key: TextId,
    entries_key: TextId,
    status_ids: [TextId; 3],
    counter_keys: [TextId; 3],
    groups: [Group; 3],
    thread_name: TextId,
    thread_id: TextId,
    bfloat: TextId,
    float: TextId,
}

impl Rank {
    fn new(program: &Program, rank: u32, symbols: &mut Symbols) -> Self {
        Self {
            version: (symbols.text("version"), symbols.text(VERSION)),
            library: (symbols.text("comm_lib_version"), symbols.text(LIBRARY)),
            config_key: symbols.text("pg_config"),
            status_key: symbols.text("pg_status"),
            entries_key: symbols.text("entries"),
            status_ids: Dimension::ALL.map(|dimension| symbols.text(&dimension.index().to_string())),
            counter_keys: ["last_enqueued_collective", "last_started_collective", "last_completed_collective"]
                .map(|key| symbols.text(key)),
            groups: Dimension::ALL.map(|dimension| Group::new(program, dimension, rank, symbols)),
            thread_name: symbols.text(THREAD),
            thread_id: symbols.text(&thread_id(rank)),
            bfloat: symbols.text("BFloat16"),
            float: symbols.text("Float"),
        }
    }

    fn status(&self, counters: Counters, pickler: &mut Pickler<'_>) {
        let values = [counters.enqueued, counters.started, counters.completed];
        pickler.dict(|pickler| {
            for (key, value) in self.counter_keys.into_iter().zip(values) {
                pickler.text(key);
                pickler.int(value as i64);
            }
        });
    }
}

/// A group's texts: keys and values of its configuration.
#[derive(Debug)]
struct Group {
    keys: [TextId; 3],
    name: TextId,
    description: TextId,
    members: TextId,
}

impl Group {
    fn new(program: &Program, dimension: Dimension, rank: u32, symbols: &mut Symbols) -> Self {
        Self {
            keys: ["name", "desc", "ranks"].map(|key| symbols.text(key)),
            name: symbols.text(&program.group_name(dimension, rank)),
            description: symbols.text(dimension.description()),
            members: symbols.text(&member_list(&program.members(dimension, rank))),
        }
    }

    fn write(&self, pickler: &mut Pickler<'_>) {
        pickler.text(self.name);
        pickler.dict(|pickler| {
            for (key, value) in self.keys.into_iter().zip([self.name, self.description, self.members]) {
                pickler.text(key);
                pickler.text(value);
            }
        });
    }
}

/// Members as the recorder writes them: a text.
pub(super) fn member_list(members: &[u32]) -> String {
    let members: Vec<String> = members.iter().map(u32::to_string).collect();
    format!("[{}]", members.join(", "))
}

/// The thread of a rank that calls collectives.
pub(super) fn thread_id(rank: u32) -> String {
    (140_000_000_000_000 + u64::from(rank)).to_string()
}
