//! Jobs on a dp × tp × pp mesh that run until an injected fault stops them: whoever is blamed did it.

#![allow(clippy::unwrap_used, reason = "a test may stop where its own set-up fails")]

mod simulator;

use std::collections::{BTreeMap, BTreeSet};

use hangscope_analyzer_core::report::Report;
use hangscope_analyzer_core::{analyze, dump};
use proptest::prelude::*;
use simulator::{Group, Job, Op};

/// A job and what is done to it.
#[derive(Clone, Debug)]
struct Plan {
    dp: u32,
    tp: u32,
    pp: u32,
    steps: usize,
    layers: u32,
    messages: Messages,
    ahead: usize,
    timing: bool,
    frames: bool,
    fault: Fault,
    /// Which rank, and at which of its operations, as shares.
    rank: prop::sample::Index,
    at: prop::sample::Index,
    /// How many entries the rings hold.
    ring: usize,
    /// A rank whose dump is lost, if it is not the culprit's.
    lost: Option<prop::sample::Index>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Messages {
    Single,
    Batched,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    Stop,
    Skip,
    Extra,
    Size,
    Dtype,
    NoDump,
}

fn plan() -> impl Strategy<Value = Plan> {
    let shape = (1..=3u32, 1..=3u32, 1..=3u32, 2..=4usize, 1..=2u32);
    let manner = (
        prop_oneof![Just(Messages::Single), Just(Messages::Batched)],
        prop_oneof![Just(1usize), Just(3), Just(100)],
        any::<bool>(),
        prop::bool::weighted(0.8),
        prop_oneof![4 => Just(10_000usize), 1 => Just(40)],
    );
    let fault = prop_oneof![
        Just(Fault::None),
        Just(Fault::Stop),
        Just(Fault::Skip),
        Just(Fault::Extra),
        Just(Fault::Size),
        Just(Fault::Dtype),
        Just(Fault::NoDump)
    ];
    let places = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        prop::option::weighted(0.15, any::<prop::sample::Index>()),
    );
    (shape, manner, fault, places)
        .prop_map(|((dp, tp, pp, steps, layers), (messages, ahead, timing, frames, ring), fault, (rank, at, lost))| {
            Plan { dp, tp, pp, steps, layers, messages, ahead, timing, frames, fault, rank, at, ring, lost }
        })
        .prop_filter("one rank waits for nobody", |plan| plan.world() > 1)
}

impl Plan {
    fn world(&self) -> u32 {
        self.dp * self.tp * self.pp
    }

    /// tp runs fastest, then dp, then pp.
    fn rank(&self, stage: u32, replica: u32, shard: u32) -> u32 {
        (stage * self.dp + replica) * self.tp + shard
    }

    fn job(&self) -> Job {
        let mut groups = vec![Group { name: "0".into(), desc: "default_pg", members: (0..self.world()).collect() }];
        let mut of: BTreeMap<(u32, &str), usize> = BTreeMap::new();
        let mut add = |desc: &'static str, members: Vec<u32>| {
            members.iter().for_each(|&rank| {
                of.insert((rank, desc), groups.len());
            });
            groups.push(Group { name: groups.len().to_string(), desc, members });
        };
        for stage in 0..self.pp {
            for replica in 0..self.dp {
                add("mesh_tp", (0..self.tp).map(|shard| self.rank(stage, replica, shard)).collect());
            }
            for shard in 0..self.tp {
                add("mesh_dp", (0..self.dp).map(|replica| self.rank(stage, replica, shard)).collect());
            }
        }
        for replica in 0..self.dp {
            for shard in 0..self.tp {
                add("mesh_pp", (0..self.pp).map(|stage| self.rank(stage, replica, shard)).collect());
            }
        }
        let mut programs = vec![Vec::new(); self.world() as usize];
        for stage in 0..self.pp {
            for replica in 0..self.dp {
                for shard in 0..self.tp {
                    let rank = self.rank(stage, replica, shard);
                    programs[rank as usize] = self.program(rank, stage, replica, shard, &of);
                }
            }
        }
        Job { groups, programs, ahead: self.ahead, timing: self.timing, frames: self.frames }
    }

    fn program(&self, rank: u32, stage: u32, replica: u32, shard: u32, of: &BTreeMap<(u32, &str), usize>) -> Vec<Op> {
        let collective = |desc: &str, name, size, site| Op::Collective {
            group: if desc == "world" { 0 } else { of[&(rank, desc)] },
            name,
            size,
            dtype: "Float",
            site,
        };
        let pipe = of[&(rank, "mesh_pp")];
        let mut program = vec![collective("world", "broadcast", 7, ("setup", 5))];
        for _ in 0..self.steps {
            if self.messages == Messages::Single && stage > 0 {
                program.push(Op::Recv {
                    group: pipe,
                    from: self.rank(stage - 1, replica, shard),
                    size: 64,
                    site: ("forward", 20),
                });
            }
            for layer in 0..self.layers {
                let line = 30 + layer * 10;
                program.push(collective("mesh_tp", "all_reduce", 128, ("attention", line)));
                program.push(collective("mesh_tp", "_all_gather_base", 32, ("mlp", line + 1)));
            }
            if self.messages == Messages::Single && stage + 1 < self.pp {
                program.push(Op::Send {
                    group: pipe,
                    to: self.rank(stage + 1, replica, shard),
                    size: 64,
                    site: ("forward", 22),
                });
            }
            if self.messages == Messages::Batched && self.pp == 2 {
                let peer = self.rank(1 - stage, replica, shard);
                program.push(Op::Batch {
                    group: pipe,
                    messages: vec![(true, peer), (false, peer)],
                    size: 64,
                    site: ("exchange", 25),
                });
            }
            program.push(collective("mesh_dp", "all_reduce", 1000, ("sync_grads", 60)));
            program.push(collective("mesh_dp", "all_reduce", 500, ("sync_grads", 60)));
            program.push(collective("world", "all_reduce", 1, ("clip", 70)));
            program.push(collective("world", "all_reduce", 2, ("log", 80)));
        }
        program
    }

    /// Runs the job with its fault; gives the report, the culprit, and whether the job hung.
    fn report(&self) -> (Report, u32, bool) {
        let mut job = self.job();
        let culprit = self.rank.index(self.world() as usize) as u32;
        let mut stops = BTreeMap::new();
        // Not the first operations: what went before tells what is usual.
        let program = &mut job.programs[culprit as usize];
        let first = program.len() / 2;
        let at = first + self.at.index(program.len() - first);
        match self.fault {
            Fault::None => {}
            Fault::Stop | Fault::NoDump => {
                stops.insert(culprit, at);
            }
            Fault::Skip => {
                program.remove(at);
            }
            Fault::Extra => {
                program.insert(
                    at,
                    Op::Collective { group: 0, name: "all_reduce", size: 3, dtype: "Float", site: ("debug", 90) },
                );
            }
            Fault::Size => match &mut program[at] {
                Op::Collective { size, .. }
                | Op::Send { size, .. }
                | Op::Recv { size, .. }
                | Op::Batch { size, .. } => *size += 1,
            },
            Fault::Dtype => {
                if let Op::Collective { dtype, .. } = &mut program[at] {
                    *dtype = "Half";
                }
            }
        }
        let reached = job.run(&stops);
        let hung = reached.iter().zip(&job.programs).any(|(reached, program)| reached.done < program.len());
        let lost: BTreeSet<u32> = [
            (self.fault == Fault::NoDump).then_some(culprit),
            self.lost.map(|lost| lost.index(self.world() as usize) as u32).filter(|&lost| lost != culprit),
        ]
        .into_iter()
        .flatten()
        .collect();
        let readings = (0..self.world())
            .filter(|rank| !lost.contains(rank))
            .map(|rank| dump::read(&format!("rank_{rank}"), job.dump(rank, &reached, self.ring).to_string().as_bytes()))
            .collect();
        (analyze(readings).report().clone(), culprit, hung)
    }
}

proptest! {
    // More by hand: PROPTEST_CASES=100000 cargo test --release -p hangscope-analyzer-core --test injected
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobody_innocent_is_blamed(plan in plan()) {
        let (report, culprit, hung) = plan.report();
        let lost = plan.lost.is_some() || plan.fault == Fault::NoDump;
        if !hung {
            prop_assert!(report.findings.is_empty() || lost, "a false alarm: {}", report.headline);
            return Ok(());
        }
        let somebody_waits = report.ranks.iter().any(|state| state.waits_in.is_some());
        prop_assert!(!report.findings.is_empty() || (lost && !somebody_waits), "silent");
        for finding in &report.findings {
            let blamed = finding.suspects.clone();
            let right = blamed.is_empty() || blamed == culprit.to_string();
            // Where a dump is lost and nothing else explains the wait, its rank is named, as what it is.
            let named_lost = finding.kind == hangscope_analyzer_core::report::Kind::NoDump;
            prop_assert!(right || named_lost, "blames {blamed} where {culprit} did it: {}", report.headline);
        }
    }
}
