//! Made-up jobs as readings, without files: what comes after reading is to be measured.

use hangscope_analyzer_core::dump::{Dump, Encoding, Entry, EntryRows, GroupConfig, GroupRef, Reading, State};
use hangscope_analyzer_core::symbols::{Args, Frame, Symbols};

/// What the culprit, a rank in the middle, does at three quarters of its program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Nothing: the job is healthy.
    None,
    /// It leaves out one operation and goes on.
    Skip,
    /// It stops.
    Stop,
    /// It leaves no dump.
    Lost,
}

/// What the groups are, and who calls what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A group for each pair of ranks, used one after the other so that each round pairs all ranks, and the world after each round of
    /// rounds.
    Pairs,
    /// Tensor-parallel groups of eight, data parallel across, the world at the end of each step.
    Mesh,
    /// Groups of eight stages that send messages to and fro, one by one, and data parallel across.
    Stages,
    /// Every rank sends to every other one and receives from it, all in one block of the world, and then the world reduces.
    Exchange,
}

/// A job to make.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub shape: Shape,
    pub ranks: usize,
    /// Entries of each rank, at least.
    pub entries: usize,
    pub fault: Fault,
    /// Whether descriptions of groups say nothing.
    pub nameless: bool,
}

const WIDTH: usize = 8;

/// A call: the place of its group among those of the rank, and what.
struct Call {
    group: usize,
    op: Op,
}

#[derive(Clone, Copy)]
enum Op {
    AllReduce(i64),
    AllGather,
    Send(usize, usize),
    Recv(usize, usize),
}

impl Job {
    /// Entries of a round of [`Shape::Exchange`].
    pub fn exchange(ranks: usize) -> usize {
        2 * (ranks - 1) + 1
    }

    pub fn culprit(&self) -> usize {
        self.ranks / 2 + 1
    }

    /// The readings of all ranks.
    pub fn readings(&self) -> Vec<Reading> {
        let lost = |rank: &usize| self.fault == Fault::Lost && *rank == self.culprit();
        let (turn, stuck) = (self.turn(), self.stuck_from());
        (0..self.ranks).filter(|rank| !lost(rank)).map(|rank| self.reading(rank, turn, stuck[rank])).collect()
    }

    /// Name, description and members of the groups of a rank; the first is the world.
    fn groups(&self, rank: usize) -> Vec<(usize, &'static str, Vec<usize>)> {
        let mut groups = vec![(0, "default_pg", (0..self.ranks).collect::<Vec<_>>())];
        match self.shape {
            Shape::Exchange => {}
            Shape::Pairs => groups.extend((0..self.rounds()).map(|round| {
                let (low, high) = (rank.min(self.partner(rank, round)), rank.max(self.partner(rank, round)));
                (1 + low * self.ranks + high, "pair", vec![low, high])
            })),
            Shape::Mesh | Shape::Stages => {
                let inner: Vec<usize> = (rank / WIDTH * WIDTH..(rank / WIDTH + 1) * WIDTH).collect();
                let outer: Vec<usize> = (rank % WIDTH..self.ranks).step_by(WIDTH).collect();
                let inner_name = if matches!(self.shape, Shape::Mesh) { "mesh_tp" } else { "mesh_pp" };
                groups.push((1 + rank / WIDTH, inner_name, inner));
                groups.push((1 + self.ranks / WIDTH + rank % WIDTH, "mesh_dp", outer));
            }
        }
        groups
    }

    fn rounds(&self) -> usize {
        self.ranks - 1
    }

    /// With whom a rank is paired in a round of a tournament of an even number of ranks.
    fn partner(&self, rank: usize, round: usize) -> usize {
        let (last, rounds) = (self.ranks - 1, self.rounds());
        if rank == last {
            return round;
        }
        if rank == round {
            return last;
        }
        (2 * round + rounds - rank) % rounds
    }

    /// The call of a rank at a place of its program; none where it has a pause.
    fn call(&self, rank: usize, at: usize) -> Option<Call> {
        match self.shape {
            Shape::Exchange => {
                let place = at % Job::exchange(self.ranks);
                let (away, ranks) = (1 + place / 2, self.ranks);
                let op = match place % 2 {
                    _ if away == ranks => Op::AllReduce(1),
                    0 => Op::Send(rank, (rank + away) % ranks),
                    _ => Op::Recv((rank + ranks - away) % ranks, rank),
                };
                Some(Call { group: 0, op })
            }
            Shape::Pairs => {
                let rounds = self.rounds() + 1;
                let round = at % rounds;
                let is_world = round == self.rounds();
                Some(Call { group: if is_world { 0 } else { 1 + round }, op: Op::AllReduce(1 + is_world as i64) })
            }
            Shape::Mesh => Some(match at % 20 {
                19 => Call { group: 0, op: Op::AllReduce(1) },
                place if place % 4 == 3 => Call { group: 2, op: Op::AllReduce(4096) },
                place if place % 4 == 0 => Call { group: 1, op: Op::AllGather },
                _ => Call { group: 1, op: Op::AllReduce(2048) },
            }),
            Shape::Stages => {
                let stage = rank % WIDTH;
                let message = |to_next: bool, is_receiver: bool, forward: bool| {
                    let (low, high) = if to_next { (stage, stage + 1) } else { (stage.checked_sub(1)?, stage) };
                    let (src, dst) = if forward { (low, high) } else { (high, low) };
                    let op = if is_receiver { Op::Recv(src, dst) } else { Op::Send(src, dst) };
                    (high < WIDTH).then_some(Call { group: 1, op })
                };
                match at % 10 {
                    0 | 4 => message(false, true, true),
                    1 | 5 => message(true, false, true),
                    2 | 6 => message(true, true, false),
                    3 | 7 => message(false, false, false),
                    8 => Some(Call { group: 2, op: Op::AllReduce(4096) }),
                    _ => Some(Call { group: 0, op: Op::AllReduce(1) }),
                }
            }
        }
    }

    fn reading(&self, rank: usize, turn: usize, stuck: usize) -> Reading {
        let groups = self.groups(rank);
        let desc = |desc: &'static str| if self.nameless && desc != "default_pg" { "undefined" } else { desc };
        let mut symbols = Symbols::default();
        let group_refs = groups.iter().map(|(name, says, _)| GroupRef {
            pg_id: Some(*name as i64),
            name: symbols.strings.intern(&name.to_string()),
            desc: symbols.strings.intern(desc(says)),
        });
        let group_refs: Vec<GroupRef> = group_refs.collect();
        let is_culprit = rank == self.culprit();
        let mut counts = vec![(0u32, 0u32); groups.len()];
        let mut entries = EntryRows::default();
        for at in 0..self.entries {
            let Some(call) = self.call(rank, at) else { continue };
            if is_culprit && at >= turn {
                if self.fault == Fault::Stop {
                    break;
                }
                if self.fault == Fault::Skip && at == turn {
                    continue;
                }
            }
            let Some(count) = counts.get_mut(call.group) else { continue };
            let is_message = matches!(call.op, Op::Send(..) | Op::Recv(..));
            let is_begun = self.shape == Shape::Exchange && !at.is_multiple_of(Job::exchange(self.ranks));
            if is_message {
                count.1 += u32::from(!is_begun);
            } else {
                count.0 += 1;
            }
            entries.push(&self.entry(at, (call.group as u32, *count), call.op, at >= stuck, &mut symbols));
        }
        symbols.shrink_to_fit();
        let config = groups.into_iter().map(|(name, says, ranks)| GroupConfig {
            name: name.to_string(),
            desc: desc(says).to_owned(),
            ranks: ranks.into_iter().map(|rank| rank as u32).collect(),
        });
        let file = format!("rank_{rank}");
        let dump = Dump {
            file: file.clone(),
            rank: Some(rank as u32),
            encoding: Encoding::Pickle,
            version: "2.10".to_owned(),
            comm_lib_version: String::new(),
            has_entries_key: true,
            truncated: false,
            entries: entries.pack(),
            group_refs,
            group_configs: config.collect(),
            group_statuses: Vec::new(),
            unknown_keys: Vec::new(),
            symbols,
        };
        Reading { file, dumps: vec![dump], ..Reading::default() }
    }

    /// Where the culprit does wrong: at an operation that it has with few others.
    fn turn(&self) -> usize {
        let is_narrow = |at: &usize| self.call(self.culprit(), *at).is_some_and(|call| self.is_narrow(&call));
        (self.entries * 3 / 4..).find(is_narrow).unwrap_or(self.entries)
    }

    fn is_narrow(&self, call: &Call) -> bool {
        match self.shape {
            Shape::Pairs => call.group > 0,
            Shape::Exchange => matches!(call.op, Op::Send(..)),
            Shape::Mesh | Shape::Stages => call.group == 1,
        }
    }

    /// The ranks that a call of a rank is for.
    fn parties(&self, rank: usize, call: &Call) -> Vec<usize> {
        let stage = rank / WIDTH * WIDTH;
        match (self.shape, call.group, call.op) {
            (Shape::Exchange, _, Op::Send(src, dst) | Op::Recv(src, dst)) => vec![src, dst],
            (_, 0, _) => (0..self.ranks).collect(),
            (Shape::Pairs, group, _) => vec![rank, self.partner(rank, group - 1)],
            (_, _, Op::Send(src, dst) | Op::Recv(src, dst)) => vec![stage + src, stage + dst],
            (_, 1, _) => (stage..stage + WIDTH).collect(),
            _ => (rank % WIDTH..self.ranks).step_by(WIDTH).collect(),
        }
    }

    /// From which place of the program on each rank finishes nothing: whoever shares an operation with one that is stuck, is stuck.
    fn stuck_from(&self) -> Vec<usize> {
        let mut stuck = vec![usize::MAX; self.ranks];
        if self.fault == Fault::None {
            return stuck;
        }
        let turn = self.turn();
        if self.fault != Fault::Skip {
            stuck[self.culprit()] = turn;
        }
        for at in turn..self.entries {
            if stuck.iter().all(|&from| from <= at) {
                break;
            }
            let free: Vec<usize> = (0..self.ranks).filter(|&rank| stuck[rank] > at).collect();
            for rank in free {
                let Some(call) = self.call(rank, at) else { continue };
                let is_first = at == turn;
                let parties = self.parties(rank, &call);
                let waits = is_first && rank != self.culprit() && parties.contains(&self.culprit());
                if waits || parties.iter().any(|&party| stuck[party] < at) {
                    stuck[rank] = at;
                }
            }
        }
        stuck
    }

    fn entry(&self, at: usize, of: (u32, (u32, u32)), op: Op, hangs: bool, symbols: &mut Symbols) -> Entry {
        let (name, size) = match op {
            Op::AllReduce(size) => ("nccl:all_reduce".to_owned(), size),
            Op::AllGather => ("nccl:_all_gather_base".to_owned(), 64),
            Op::Send(src, dst) => (format!("nccl:send {src}->{dst}"), 512),
            Op::Recv(src, dst) => (format!("nccl:recv {dst}<-{src}"), 512),
        };
        let mut frame = |function: &str, line: u32| {
            let (function, file) = (symbols.strings.intern(function), symbols.strings.intern("/job/train.py"));
            symbols.frames.intern(Frame { function, file, line })
        };
        let frames = [frame("call", 100 + (at % 20) as u32), frame("step", 20), frame("main", 10)];
        let shape = symbols.shapes.intern(&[size, 4]);
        let sizes = symbols.shape_lists.intern(&[shape]);
        let dtype = symbols.strings.intern("BFloat16");
        let dtypes = symbols.dtype_lists.intern(&[dtype]);
        let args = Args {
            input_sizes: sizes,
            output_sizes: sizes,
            input_dtypes: dtypes,
            output_dtypes: dtypes,
            ..Args::default()
        };
        let created = 1_795_977_000_000_000_000 + at as i64 * 2_000_123;
        Entry {
            record_id: Some(at as u32),
            group_ref: of.0,
            collective_seq: Some(of.1.0),
            p2p_seq: Some(of.1.1),
            op_id: Some(at as u32),
            op: symbols.strings.intern(&name),
            args: symbols.args.intern(args),
            stack: symbols.stacks.intern(&frames),
            created_ns: created,
            completed_ns: if hangs { 0 } else { created + 900_000 },
            timeout_ms: 600_000,
            state: if hangs { State::Scheduled } else { State::Completed },
            is_p2p: Some(matches!(op, Op::Send(..) | Op::Recv(..))),
            retired: !hangs,
            ..Entry::default()
        }
    }
}
