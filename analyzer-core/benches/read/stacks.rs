//! Call stacks of a made-up program, with the sharing of real ones.

use std::rc::Rc;

use crate::pickler::{Tree, dict};

const LAYERS: usize = 36;
const PACKAGES: &str = "/opt/venv/lib/python3.11/site-packages/";

/// The call stacks: each call site has frames of its own inside, shares those of its layer and those of the training loop.
pub fn stacks(frames: usize, call_sites: usize) -> Vec<Tree> {
    let frame = |name: &str, file: &str, line: usize| {
        let file = if file.starts_with('/') { file.to_owned() } else { format!("{PACKAGES}{file}") };
        Tree::Shared(Rc::new(dict([
            ("name", name.into()),
            ("filename", file.as_str().into()),
            ("line", Tree::Int(line as i64)),
        ])))
    };
    let inner = [
        frame("all_reduce", "torch/distributed/distributed_c10d.py", 2810),
        frame("wrapper", "torch/distributed/c10d_logger.py", 81),
    ];
    let outer: Vec<Tree> =
        (0..frames / 3).map(|depth| frame("train_step", "/opt/train/loop.py", 100 + depth)).collect();
    let layers: Vec<Vec<Tree>> = (0..LAYERS)
        .map(|layer| {
            let depth = frames / 3;
            (0..depth)
                .map(|at| match at % 3 {
                    0 => frame("_call_impl", "torch/nn/modules/module.py", 1790),
                    1 => frame("_wrapped_call_impl", "torch/nn/modules/module.py", 1779),
                    _ => frame(&format!("forward_{at}"), "/opt/train/blocks.py", 97 + 40 * layer + at),
                })
                .collect()
        })
        .collect();
    (0..call_sites)
        .map(|site| {
            let layer = &layers[site % LAYERS];
            let own = frames - inner.len() - outer.len() - layer.len();
            let own = (0..own).map(|at| frame(&format!("op_{}", site % 23), "/opt/train/parallel.py", 12 * site + at));
            Tree::List(
                inner.iter().cloned().chain(own).chain(layer.iter().cloned()).chain(outer.iter().cloned()).collect(),
            )
        })
        .collect()
}
