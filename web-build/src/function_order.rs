//! An order of functions in which gzip finds more to repeat.
//!
//! gzip looks back 32 KiB only, and compilers make many functions that differ in a type's size. So each function is followed by
//! the one that has most in common with what came last.

use std::collections::{HashMap, VecDeque};

/// Bytes that are compared as one.
const RUN: usize = 6;
/// What tells which functions belong together. No setting is the best one for every module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// What gzip looks back over, 32 KiB, with room for the functions that come next.
    window_bytes: usize,
    /// What so many functions have tells nothing about which belong together.
    common: usize,
    /// Keeps tiny functions, which have all they have in common with anything, from coming first.
    small: u32,
    /// One part in so many is chance.
    chance: u32,
}

/// Settings that are tried.
pub(crate) const SETTINGS: [Setting; 6] = [
    Setting { window_bytes: 31_000, common: 200, small: 20, chance: 50 },
    Setting { window_bytes: 28_000, common: 60, small: 60, chance: 50 },
    Setting { window_bytes: 26_000, common: 120, small: 50, chance: 30 },
    Setting { window_bytes: 22_000, common: 120, small: 30, chance: 30 },
    Setting { window_bytes: 22_000, common: 80, small: 80, chance: 30 },
    Setting { window_bytes: 20_000, common: 90, small: 50, chance: 30 },
];

/// Runs of bytes of each function that others have too, as numbers.
struct Runs {
    of_function: Vec<Vec<u32>>,
    functions: Vec<Vec<u32>>,
    /// By function: how many different runs it has in all.
    counts: Vec<u32>,
}

impl Runs {
    fn new(bodies: &[&[u8]], common: usize) -> Self {
        let mut numbers: HashMap<&[u8], u32> = HashMap::new();
        let mut functions: Vec<Vec<u32>> = Vec::new();
        let mut all = Vec::with_capacity(bodies.len());
        for (function, body) in bodies.iter().enumerate() {
            let mut runs: Vec<u32> = body
                .windows(RUN)
                .map(|run| {
                    *numbers.entry(run).or_insert_with(|| {
                        functions.push(Vec::new());
                        functions.len() as u32 - 1
                    })
                })
                .collect();
            runs.sort_unstable();
            runs.dedup();
            for &run in &runs {
                functions[run as usize].push(function as u32);
            }
            all.push(runs);
        }
        let counts = all.iter().map(|runs| runs.len() as u32).collect();
        let telling = |run: &u32| (2..=common).contains(&functions[*run as usize].len());
        let of_function = all.into_iter().map(|runs| runs.into_iter().filter(|run| telling(run)).collect()).collect();
        Self { of_function, functions, counts }
    }
}

/// What the last functions have in common with those that are left.
struct Window<'runs, 'bodies> {
    runs: &'runs Runs,
    bodies: &'bodies [&'bodies [u8]],
    last: VecDeque<usize>,
    bytes: usize,
    most_bytes: usize,
    /// By run: how often it is in the window.
    seen: Vec<u32>,
    /// By function: how many of its runs are in the window.
    shared: Vec<u32>,
}

impl Window<'_, '_> {
    fn push(&mut self, function: usize) {
        self.last.push_back(function);
        self.bytes += self.bodies[function].len();
        for &run in &self.runs.of_function[function] {
            self.seen[run as usize] += 1;
            if self.seen[run as usize] == 1 {
                self.runs.functions[run as usize].iter().for_each(|&other| self.shared[other as usize] += 1);
            }
        }
        while self.bytes > self.most_bytes && self.last.len() > 1 {
            let Some(oldest) = self.last.pop_front() else { break };
            self.bytes -= self.bodies[oldest].len();
            for &run in &self.runs.of_function[oldest] {
                self.seen[run as usize] -= 1;
                if self.seen[run as usize] == 0 {
                    self.runs.functions[run as usize].iter().for_each(|&other| self.shared[other as usize] -= 1);
                }
            }
        }
    }
}

/// The indices of `bodies` in the order in which they are to stand.
pub(crate) fn function_order(bodies: &[&[u8]], setting: Setting) -> Vec<usize> {
    let runs = Runs::new(bodies, setting.common);
    let mut window = Window {
        runs: &runs,
        bodies,
        last: VecDeque::new(),
        bytes: 0,
        most_bytes: setting.window_bytes,
        seen: vec![0; runs.functions.len()],
        shared: vec![0; bodies.len()],
    };
    // Largest first, where nothing has anything in common.
    let mut left: Vec<usize> = (0..bodies.len()).collect();
    left.sort_by_key(|&function| (usize::MAX - bodies[function].len(), function));
    let mut order = Vec::with_capacity(bodies.len());
    while !left.is_empty() {
        let part = |function: usize| u64::from(window.shared[function]) << 32;
        let rank = |function: usize| part(function) / u64::from(runs.counts[function] + setting.small);
        let mut best = 0;
        let mut best_rank = (1_u64 << 32) / u64::from(setting.chance);
        for (at, &function) in left.iter().enumerate() {
            let rank = rank(function);
            if rank > best_rank {
                (best, best_rank) = (at, rank);
            }
        }
        let function = left.remove(best);
        order.push(function);
        window.push(function);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that look random, and the same again with some of them changed.
    fn family(seed: u8) -> [Vec<u8>; 3] {
        let mut state = u32::from(seed);
        let first: Vec<u8> = (0..9000)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        let changed = |step: usize| {
            let mut copy = first.clone();
            copy.iter_mut().step_by(step).for_each(|byte| *byte ^= 0x55);
            copy
        };
        [first.clone(), changed(97), changed(61)]
    }

    #[test]
    fn functions_that_are_alike_stand_together() {
        let families = [family(1), family(2), family(3), family(4)];
        // One of each in turn, so that the alike are further apart than gzip looks.
        let bodies: Vec<&[u8]> =
            (0..3).flat_map(|member| families.iter().map(move |family| family[member].as_slice())).collect();
        for setting in SETTINGS {
            let order = function_order(&bodies, setting);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..12).collect::<Vec<_>>(), "each function stands there once");
            for together in order.chunks(3) {
                assert!(together.iter().all(|function| function % 4 == together[0] % 4), "{setting:?}: {order:?}");
            }
        }
    }

    #[test]
    fn what_has_nothing_in_common_goes_by_size() {
        let bodies: [&[u8]; 4] = [b"abc", b"0123456789", b"", b"ABCDEFGH"];
        assert_eq!(function_order(&bodies, SETTINGS[0]), [1, 3, 0, 2]);
    }
}
