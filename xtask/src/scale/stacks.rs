//! The stacks of the program: those of a sharded model's step, deepened as a real model's nested modules deepen them.

use super::program::Op;
use super::symbols::{FrameId, Symbols};

/// Frames of each stack.
const DEPTH: usize = 30;
/// Where the libraries are.
const PACKAGES: &str = "/opt/venv/lib/python3.11/site-packages/torch/";
/// Where the user's program is.
const USER: &str = "/opt/train/";

const MODULE: &str = "nn/modules/module.py";
const FSDP_COLLECTIVES: &str = "distributed/fsdp/_fully_shard/_fsdp_collectives.py";
const FSDP_COMMON: &str = "distributed/fsdp/_fully_shard/_fsdp_common.py";
const FSDP_GROUP: &str = "distributed/fsdp/_fully_shard/_fsdp_param_group.py";

type Line = (&'static str, &'static str, u32);

/// The innermost frames of an operation.
fn inner(op: Op) -> &'static [Line] {
    match op {
        Op::AllGather => &[
            ("all_gather_single", "distributed/distributed_c10d.py", 5421),
            ("wrapper", "distributed/c10d_logger.py", 83),
            ("__call__", FSDP_COLLECTIVES, 115),
            ("foreach_all_gather", FSDP_COLLECTIVES, 390),
            ("no_grad", "utils/_contextlib.py", 158),
            ("unshard", FSDP_GROUP, 495),
            ("wrapper", FSDP_COMMON, 43),
            ("pre_forward", FSDP_GROUP, 649),
            ("_pre_forward", "distributed/fsdp/_fully_shard/_fsdp_state.py", 343),
            ("_fn", "_dynamo/eval_frame.py", 1552),
            ("wrapper", FSDP_COMMON, 30),
            ("inner", MODULE, 1820),
            ("_call_impl", MODULE, 1893),
            ("_wrapped_call_impl", MODULE, 1787),
        ],
        Op::ReduceScatter => &[
            ("reduce_scatter_single", "distributed/distributed_c10d.py", 6164),
            ("wrapper", "distributed/c10d_logger.py", 83),
            ("__call__", FSDP_COLLECTIVES, 180),
            ("foreach_reduce", FSDP_COLLECTIVES, 681),
            ("no_grad", "utils/_contextlib.py", 158),
            ("post_backward", FSDP_GROUP, 808),
            ("_fn", "_dynamo/eval_frame.py", 1552),
            ("wrapper", FSDP_COMMON, 30),
            ("backward", FSDP_GROUP, 1397),
            ("apply", "autograd/function.py", 452),
            ("_engine_run_backward", "autograd/graph.py", 1113),
            ("backward", "autograd/__init__.py", 395),
            ("backward", "_tensor.py", 623),
        ],
        Op::AllReduce => &[
            ("all_reduce", "distributed/distributed_c10d.py", 4174),
            ("wrapper", "distributed/c10d_logger.py", 83),
            ("foreach_reduce", FSDP_COLLECTIVES, 720),
            ("no_grad", "utils/_contextlib.py", 158),
            ("post_backward", FSDP_GROUP, 808),
            ("_fn", "_dynamo/eval_frame.py", 1552),
            ("wrapper", FSDP_COMMON, 30),
            ("backward", FSDP_GROUP, 1397),
            ("apply", "autograd/function.py", 452),
            ("_engine_run_backward", "autograd/graph.py", 1113),
            ("backward", "autograd/__init__.py", 395),
            ("backward", "_tensor.py", 623),
        ],
    }
}

/// The calls of nested modules, as often as it takes.
const NESTED: [Line; 5] = [
    ("_call_impl", MODULE, 1790),
    ("_wrapped_call_impl", MODULE, 1779),
    ("forward", "/model.py", 212),
    ("_call_impl", MODULE, 1841),
    ("forward", "/blocks.py", 97),
];

/// The stack of each operation in each layer, innermost frame first.
#[derive(Clone, Debug)]
pub(super) struct Stacks {
    stacks: Vec<Vec<FrameId>>,
    layers: usize,
}

impl Stacks {
    pub(super) fn new(symbols: &mut Symbols, layers: u32) -> Self {
        let stacks = Op::ALL.iter().flat_map(|&op| (0..layers).map(move |layer| (op, layer)));
        let stacks = stacks.map(|(op, layer)| stack(op, layer, symbols)).collect();
        Self { stacks, layers: layers as usize }
    }

    pub(super) fn of(&self, op: Op, layer: u32) -> &[FrameId] {
        &self.stacks[op as usize * self.layers + layer as usize]
    }
}

fn stack(op: Op, layer: u32, symbols: &mut Symbols) -> Vec<FrameId> {
    let training_line = if op == Op::AllGather { 57 } else { 58 };
    let outer = [
        ("train_step", "/train_fsdp.py", training_line),
        ("main", "/train_fsdp.py", 75),
        ("<module>", "/train_fsdp.py", 83),
    ];
    let nested = (0_u32..).flat_map(|round| NESTED.map(|(function, file, line)| (function, file, line + round)));
    let body = inner(op).iter().copied().chain(nested).take(DEPTH - outer.len());
    body.enumerate()
        // The loop over the layers: its line tells them apart.
        .map(|(at, (function, file, line))| (function, file, if at == DEPTH - 4 { line + layer } else { line }))
        .chain(outer)
        .map(|(function, file, line)| {
            let file = file.strip_prefix('/').map_or_else(|| format!("{PACKAGES}{file}"), |own| format!("{USER}{own}"));
            symbols.frame(function, &file, line)
        })
        .collect()
}
