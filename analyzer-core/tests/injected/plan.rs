//! A job, what is done to it, and how it is recorded: all that decides a case, in numbers.

use std::collections::BTreeSet;

use hangscope_analyzer_core::analyze;
use hangscope_analyzer_core::dump::Reading;
use hangscope_analyzer_core::report::Report;
use proptest::prelude::*;

use crate::dump::{self, Names, Recorders};
use crate::fault::{self, Fault};
use crate::mesh;
use crate::simulator::{Job, Reached, Streams};

/// How messages of a pipeline are put together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Batching {
    /// One by one, all forwards before all backwards.
    Never,
    /// A send and a receive that are due at once, as one batch.
    Pairs,
    /// Every message in a batch, if alone.
    Always,
}

/// A case. Its `Debug` text, with the enums in scope, is an expression for [`found`](crate::found).
#[derive(Clone, Debug)]
pub struct Plan {
    pub dp: u32,
    pub tp: u32,
    pub pp: u32,
    /// Wanted size of the expert groups; one that does not divide `dp` counts as 1.
    pub experts: u32,
    pub steps: u32,
    pub layers: u32,
    pub micro: u32,
    pub batching: Batching,
    /// Which operations the program has besides the usual ones, one bit each.
    pub menu: u32,
    pub streams: Streams,
    pub lenient: bool,
    /// How far the CPU issues ahead of the device, by rank modulo three.
    pub ahead: [usize; 3],
    pub timing: bool,
    pub frames: [bool; 3],
    pub ring: [usize; 3],
    pub status: bool,
    pub fault: Fault,
    /// Which rank, and at which of the operations that the fault can strike: modulo their number.
    pub culprit: u32,
    pub at: u32,
    /// Ranks whose dumps are lost, modulo the world; those that are the culprit's are not.
    pub lost: Vec<u32>,
}

/// A plan that was run.
pub struct Outcome {
    pub job: Job,
    pub reached: Vec<Reached>,
    pub recorders: Recorders,
    pub culprit: u32,
    /// Whether the fault found an operation to strike.
    pub struck: bool,
    /// Whether something did not end.
    pub hung: bool,
    /// Ranks without a dump.
    pub lost: BTreeSet<u32>,
}

impl Plan {
    pub fn world(&self) -> u32 {
        self.dp * self.tp * self.pp
    }

    pub fn ep(&self) -> u32 {
        if self.dp.is_multiple_of(self.experts) { self.experts } else { 1 }
    }

    /// Runs it to its end, or for so many rounds.
    pub fn run_for(&self, rounds: Option<u32>) -> Outcome {
        let mut job = mesh::job(self);
        let culprit = self.culprit % self.world();
        let struck = fault::inject(&mut job, self.fault, culprit, self.at as usize);
        let reached = job.run(rounds);
        let hung = reached.iter().any(|rank| !rank.done.iter().all(|&done| done));
        let mut lost: BTreeSet<u32> =
            self.lost.iter().map(|lost| lost % self.world()).filter(|&lost| lost != culprit).collect();
        if self.fault == Fault::Death {
            lost.insert(culprit);
        }
        let Plan { timing, frames, ring, status, .. } = *self;
        let recorders = Recorders { timing, frames, ring, status, names: Names::default() };
        Outcome { job, reached, recorders, culprit, struck, hung, lost }
    }

    pub fn run(&self) -> Outcome {
        self.run_for(None)
    }
}

impl Outcome {
    /// Ranks that left a dump.
    pub fn loaded(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.reached.len() as u32).filter(|rank| !self.lost.contains(rank))
    }

    /// What all ranks left, with `drop` telling how many older entries are gone besides.
    pub fn readings_without(&self, drop: impl Fn(u32) -> usize) -> Vec<Reading> {
        self.loaded()
            .map(|rank| dump::reading(&self.job, &self.reached[rank as usize], rank, &self.recorders, drop(rank)))
            .collect()
    }

    pub fn readings(&self) -> Vec<Reading> {
        self.readings_without(|_| 0)
    }

    pub fn report(&self) -> Report {
        analyze(self.readings()).report().clone()
    }

    /// Whether some evidence is gone.
    pub fn is_partial(&self) -> bool {
        !self.lost.is_empty() || self.loaded().any(|rank| self.is_wrapped(rank))
    }

    /// Whether the culprit waits alone for one rank that is at the end of its program. Without older rows that looks as if the other
    /// one had stopped.
    pub fn is_as_if_the_other_stopped(&self) -> bool {
        let waiting: Vec<u32> = self.loaded().filter(|&rank| self.reached[rank as usize].waits()).collect();
        waiting == [self.culprit]
    }

    /// Whether the ring of a rank lost entries.
    fn is_wrapped(&self, rank: u32) -> bool {
        dump::entry_count(&self.job, &self.reached[rank as usize], rank) > self.recorders.ring[rank as usize % 3]
    }

    /// Whether some rank that left a dump waits there for the culprit, whose own dump shows that its program stopped.
    pub fn shows_the_stop(&self) -> bool {
        let culprit = &self.reached[self.culprit as usize];
        let own = &self.job.ranks[self.culprit as usize];
        let issued = |group| own.program[..culprit.issued].iter().filter(|op| op.group() == group).count();
        own.cpu_stop.is_some()
            && !culprit.waits()
            && !self.is_wrapped(self.culprit)
            && !self.lost.contains(&self.culprit)
            && self.loaded().any(|rank| {
                let (theirs, reached) = (&self.job.ranks[rank as usize].program, &self.reached[rank as usize]);
                let first = reached.done.iter().position(|done| !done).filter(|&at| at < reached.issued);
                first.is_some_and(|at| {
                    let group = theirs[at].group();
                    let before = theirs[..at].iter().filter(|op| op.group() == group).count();
                    theirs[at].collective().is_some()
                        && self.job.groups[group].members.contains(&self.culprit)
                        && issued(group) <= before
                })
            })
    }
}

fn sizes() -> impl Strategy<Value = u32> {
    prop_oneof![4 => Just(1u32), 5 => Just(2), 2 => Just(3), 1 => Just(4)]
}

/// Any job without a fault.
pub fn healthy() -> impl Strategy<Value = Plan> {
    any_with(Just(Fault::Nothing), Just(Vec::new()))
}

/// Any job, any fault, sometimes with lost dumps.
pub fn faulty() -> impl Strategy<Value = Plan> {
    let lost = prop_oneof![
        6 => Just(Vec::new()),
        1 => prop::collection::vec(0..32u32, 1..=2),
    ];
    any_with(prop::sample::select(Fault::ALL), lost)
}

/// Any job, any fault, all dumps there except those of the dead.
pub fn complete() -> impl Strategy<Value = Plan> {
    any_with(prop::sample::select(Fault::ALL), Just(Vec::new()))
}

fn any_with(fault: impl Strategy<Value = Fault>, lost: impl Strategy<Value = Vec<u32>>) -> impl Strategy<Value = Plan> {
    let shape = (sizes(), sizes(), sizes(), prop_oneof![3 => Just(1u32), 2 => Just(2), 1 => Just(3)])
        .prop_filter("one rank waits for nobody, and many take long", |(dp, tp, pp, _)| {
            (2..=32).contains(&(dp * tp * pp))
        });
    let length = (2..=3u32, 1..=2u32, 1..=3u32);
    let batching = prop::sample::select(&[Batching::Never, Batching::Pairs, Batching::Always][..]);
    let ahead = prop_oneof![Just(1usize), Just(2), Just(5), Just(20), Just(100)];
    let manner = (
        batching,
        0..256u32,
        prop_oneof![2 => Just(Streams::One), 1 => Just(Streams::PerGroup)],
        prop::bool::weighted(0.1),
        prop_oneof![3 => ahead.clone().prop_map(|all| [all; 3]), 1 => [ahead.clone(), ahead.clone(), ahead]],
    );
    // Larger than what is pending.
    let ring = prop_oneof![Just(1000usize), Just(70), Just(45), Just(30)];
    let recorders = (
        any::<bool>(),
        prop_oneof![6 => Just([true; 3]), 1 => Just([false; 3]), 1 => any::<[bool; 3]>()],
        prop_oneof![3 => Just([1000usize; 3]), 1 => [ring.clone(), ring.clone(), ring]],
        any::<bool>(),
    );
    (shape, length, manner, recorders, (fault, 0..32u32, 0..1000u32), lost).prop_map(
        |((dp, tp, pp, experts), (steps, layers, micro), manner, recorders, (fault, culprit, at), lost)| {
            let (batching, menu, streams, lenient, ahead) = manner;
            let (timing, frames, ring, status) = recorders;
            Plan {
                dp,
                tp,
                pp,
                experts,
                steps,
                layers,
                micro,
                batching,
                menu,
                streams,
                lenient,
                ahead,
                timing,
                frames,
                ring,
                status,
                fault,
                culprit: culprit % (dp * tp * pp),
                at,
                lost,
            }
        },
    )
}
