//! A made-up rank of a large job, with the proportions of a real one.

use crate::pickler::{Tree, dict, pickle};
use crate::stacks::stacks;

/// What to make.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Entries in the ring buffer.
    pub entries: usize,
    /// Frames of a call stack.
    pub frames: usize,
    /// Distinct places in the program that call a collective.
    pub call_sites: usize,
}

/// The size that the limits in the README are stated for.
pub const LARGE: Shape = Shape { entries: 2000, frames: 30, call_sites: 150 };

/// The pickle of one rank.
pub fn dump(shape: Shape) -> Vec<u8> {
    let stacks = stacks(shape.frames, shape.call_sites);
    let entries = (0..shape.entries).map(|at| entry(at, &stacks)).collect();
    let groups = [("0", "default_pg"), ("3", "mesh_tp"), ("17", "mesh_dp"), ("29", "mesh_pp")];
    let ranks = ["[0, 1, 2, 3, 4, 5, 6, 7]", "[0, 1]", "[0, 2, 4, 6]", "[0, 4]"];
    let config = groups.iter().zip(ranks).map(|(&(name, desc), ranks)| {
        (name.into(), dict([("name", name.into()), ("desc", desc.into()), ("ranks", ranks.into())]))
    });
    let status = (0..groups.len()).map(|id| {
        let last = ["last_enqueued_collective", "last_started_collective", "last_completed_collective"];
        (Tree::from(id.to_string().as_str()), dict(last.map(|key| (key, Tree::Int(48_000 + id as i64)))))
    });
    pickle(&dict([
        ("version", "2.10".into()),
        ("pg_config", Tree::Dict(config.collect())),
        ("comm_lib_version", "2.27.3".into()),
        ("pg_status", Tree::Dict(status.collect())),
        ("entries", Tree::List(entries)),
    ]))
}

fn entry(at: usize, stacks: &[Tree]) -> Tree {
    let (group, op, sizes_in, sizes_out): (usize, &str, &[i64], &[i64]) = match at % 4 {
        0 => (2, "nccl:_all_gather_base", &[4096, 1024], &[16384, 1024]),
        1 => (1, "nccl:all_reduce", &[2, 2048, 4096], &[2, 2048, 4096]),
        2 => (1, "nccl:all_reduce", &[1024], &[1024]),
        _ => (2, "nccl:_reduce_scatter_base", &[16384, 1024], &[4096, 1024]),
    };
    let (name, desc) = [("0", "default_pg"), ("3", "mesh_tp"), ("17", "mesh_dp")][group];
    let sizes = |sizes: &[i64]| Tree::List(vec![Tree::List(sizes.iter().map(|&extent| Tree::Int(extent)).collect())]);
    let dtypes = || Tree::List(vec!["BFloat16".into()]);
    let created = 1_795_977_000_000_000_000 + at as i64 * 2_000_123;
    let seq = (48_000 + at / 2) as i64;
    dict([
        ("frames", stacks[(at * 7) % stacks.len()].clone()),
        ("record_id", Tree::Int(192_000 + at as i64)),
        ("pg_id", Tree::Int(group as i64)),
        ("process_group", Tree::Tuple(vec![name.into(), desc.into()])),
        ("thread_name", if at.is_multiple_of(2) { "pt_main_thread" } else { "pt_autograd_0" }.into()),
        ("thread_id", if at.is_multiple_of(2) { "139930642675392" } else { "139930642679999" }.into()),
        ("collective_seq_id", Tree::Int(seq)),
        ("p2p_seq_id", Tree::Int(0)),
        ("op_id", Tree::Int(seq)),
        ("profiling_name", op.into()),
        ("time_created_ns", Tree::Int(created)),
        ("duration_ms", Tree::Float(0.05 + (at % 977) as f64 * 0.003)),
        ("input_sizes", sizes(sizes_in)),
        ("input_dtypes", dtypes()),
        ("output_sizes", sizes(sizes_out)),
        ("output_dtypes", dtypes()),
        ("state", "completed".into()),
        ("time_discovered_started_ns", Tree::Int(created + 100_000)),
        ("time_discovered_completed_ns", Tree::Int(created + 900_000)),
        ("retired", Tree::Bool(true)),
        ("timeout_ms", Tree::Int(600_000)),
        ("is_p2p", Tree::Bool(false)),
    ])
}
