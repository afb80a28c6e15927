//! A made-up job on a dp × tp mesh that hangs because of one rank, with the proportions of a real one.

use crate::pickler::{Tree, dict, pickle};

/// What to make.
#[derive(Clone, Copy, Debug)]
pub struct Mesh {
    pub ranks: usize,
    pub entries: usize,
    pub fault: Fault,
}

/// What the culprit, the rank in the middle, does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Nothing: the job is healthy.
    None,
    /// It stops.
    Stop,
    /// It leaves out one operation of its tensor-parallel group and goes on.
    Skip,
    /// It leaves out many operations, and waits in one of the world while all others wait before they get there.
    Early,
    /// It leaves no dump.
    Lost,
}

/// Size of a tensor-parallel group.
const TP: usize = 8;
/// Operations of a training step.
const STEP: usize = 20;
/// Operations that are unfinished at the end.
const OPEN: usize = 30;

impl Mesh {
    pub fn culprit(&self) -> usize {
        self.ranks / 2 + 1
    }

    /// The pickle of a rank; `None` for the rank that leaves none.
    pub fn dump(&self, rank: usize, stacks: &[Tree]) -> Option<Vec<u8>> {
        let is_culprit = rank == self.culprit();
        if is_culprit && self.fault == Fault::Lost {
            return None;
        }
        let tp: Vec<usize> = (rank / TP * TP..rank / TP * TP + TP).collect();
        let dp: Vec<usize> = (rank % TP..self.ranks).step_by(TP).collect();
        let groups = [
            ("0".to_owned(), "default_pg", (0..self.ranks).collect::<Vec<_>>()),
            ((1 + rank / TP).to_string(), "mesh_tp", tp),
            ((1 + self.ranks / TP + rank % TP).to_string(), "mesh_dp", dp),
        ];
        let config = groups.iter().map(|(name, desc, ranks)| {
            let ranks = format!("{ranks:?}");
            let item =
                dict([("name", name.as_str().into()), ("desc", (*desc).into()), ("ranks", ranks.as_str().into())]);
            (Tree::from(name.as_str()), item)
        });
        let config = Tree::Dict(config.collect());

        let first_open = self.entries - OPEN;
        let in_his_group = rank / TP == self.culprit() / TP;
        let mut sequence = [0i64; 3];
        let mut blocked = false;
        let mut entries = Vec::with_capacity(self.entries);
        for at in 0..self.entries {
            if is_culprit && at >= first_open {
                match self.fault {
                    Fault::Stop => break,
                    // The operation at `first_open` is one of its tensor-parallel group.
                    Fault::Skip if at == first_open => continue,
                    Fault::Early if group_of(at, first_open) != 0 => continue,
                    _ => {}
                }
            }
            let group = group_of(at, first_open);
            sequence[group] += 1;
            blocked |= at >= first_open && self.fault != Fault::None && (in_his_group || group != 1);
            let place = (group, groups[group].0.as_str(), groups[group].1);
            entries.push(entry((rank, at), sequence[group], place, blocked, stacks));
            if blocked && self.fault == Fault::Early {
                break;
            }
        }
        Some(pickle(&dict([
            ("version", "2.10".into()),
            ("pg_config", config),
            ("pg_status", Tree::Dict(Vec::new())),
            ("entries", Tree::List(entries)),
        ])))
    }
}

/// Which group an operation of the program is on: tensor-parallel ones mostly, and one of the world at the end of each step.
fn group_of(at: usize, first_open: usize) -> usize {
    match at % STEP {
        _ if at == first_open => 1,
        place if place == STEP - 1 => 0,
        place if place % 4 == 3 => 2,
        _ => 1,
    }
}

/// A number that looks random and is the same in every run.
fn noise((rank, at): (usize, usize)) -> u64 {
    let mixed = ((rank as u64) << 32 | at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

fn entry(
    (rank, at): (usize, usize),
    seq: i64,
    (id, name, desc): (usize, &str, &str),
    blocked: bool,
    stacks: &[Tree],
) -> Tree {
    let (op, sizes_in, sizes_out): (&str, &[i64], &[i64]) = match at % 4 {
        0 => ("nccl:_all_gather_base", &[4096, 1024], &[32768, 1024]),
        1 | 2 => ("nccl:all_reduce", &[2, 2048, 4096], &[2, 2048, 4096]),
        _ => ("nccl:_reduce_scatter_base", &[32768, 1024], &[4096, 1024]),
    };
    let sizes = |sizes: &[i64]| Tree::List(vec![Tree::List(sizes.iter().map(|&extent| Tree::Int(extent)).collect())]);
    let dtypes = || Tree::List(vec!["BFloat16".into()]);
    let noise = noise((rank, at));
    let created = 1_795_977_000_000_000_000 + at as i64 * 2_000_123 + (noise % 200_000) as i64;
    let done = |ns: i64| if blocked { Tree::None } else { Tree::Int(created + ns) };
    dict([
        ("frames", stacks[at % STEP * 7 % stacks.len()].clone()),
        ("record_id", Tree::Int(at as i64)),
        ("pg_id", Tree::Int(id as i64)),
        ("process_group", Tree::Tuple(vec![name.into(), desc.into()])),
        ("collective_seq_id", Tree::Int(seq)),
        ("p2p_seq_id", Tree::Int(0)),
        ("op_id", Tree::Int(seq)),
        ("profiling_name", op.into()),
        ("time_created_ns", Tree::Int(created)),
        ("duration_ms", Tree::Float(0.05 + (noise % 977) as f64 * 0.003)),
        ("input_sizes", sizes(sizes_in)),
        ("input_dtypes", dtypes()),
        ("output_sizes", sizes(sizes_out)),
        ("output_dtypes", dtypes()),
        ("state", if blocked { "scheduled" } else { "completed" }.into()),
        ("time_discovered_started_ns", done(100_000)),
        ("time_discovered_completed_ns", done(900_000)),
        ("retired", Tree::Bool(!blocked)),
        ("timeout_ms", Tree::Int(600_000)),
        ("is_p2p", Tree::Bool(false)),
    ])
}
