//! A job that runs: every rank's CPU issues its program, every device works through it, until nothing moves any more.

use crate::op::{Collective, Messages, Op};

/// Name, description, members.
#[derive(Clone, Debug)]
pub struct Group {
    pub desc: &'static str,
    pub members: Vec<u32>,
}

/// How a device orders the operations of different groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Streams {
    /// One after the other.
    One,
    /// Each group has a stream of its own.
    PerGroup,
}

#[derive(Clone, Debug)]
pub struct Job {
    pub groups: Vec<Group>,
    pub ranks: Vec<Rank>,
    pub streams: Streams,
    /// Whether a collective whose members disagree ends all the same.
    pub lenient: bool,
}

/// A rank's program, and what holds it up besides the others.
#[derive(Clone, Debug, Default)]
pub struct Rank {
    pub program: Vec<Op>,
    /// How many operations the CPU issues from the oldest unfinished one on.
    pub ahead: usize,
    /// Before which operation the CPU stops for good.
    pub cpu_stop: Option<usize>,
    /// Before which operation the device stops for good.
    pub device_stop: Option<usize>,
}

/// How far a rank came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reached {
    /// Operations that its CPU issued.
    pub issued: usize,
    /// For each operation, whether it ended.
    pub done: Vec<bool>,
    /// For each operation, which of its messages met their other end.
    met: Vec<u32>,
    /// Whether the operation at its end is at the head of its stream.
    pub running: Vec<bool>,
}

impl Reached {
    /// Whether something issued has not ended.
    pub fn waits(&self) -> bool {
        self.done[..self.issued].iter().any(|done| !done)
    }
}

struct Run<'a> {
    job: &'a Job,
    reached: Vec<Reached>,
    /// For each rank and group, its operations there.
    lanes: Vec<Vec<Vec<usize>>>,
    /// For each rank and group, how many of them ended.
    ended: Vec<Vec<usize>>,
    /// For each rank, its oldest operation that has not ended.
    first: Vec<usize>,
}

impl Job {
    /// Runs until nothing moves, or for so many rounds, in which the ranks do not all get the same share.
    pub fn run(&self, rounds: Option<u32>) -> Vec<Reached> {
        let mut run = Run::new(self);
        let mut round = 0u32;
        while rounds.is_none_or(|rounds| round < rounds) {
            let slow = |rank: usize| rounds.is_some() && (round as usize * 7 + rank * 13) % 5 < 3;
            let mut moved = false;
            for rank in 0..self.ranks.len() {
                moved |= !slow(rank) && run.issue(rank, rounds.map(|_| 1 + rank % 3));
            }
            for rank in 0..self.ranks.len() {
                for group in 0..self.groups.len() {
                    while !slow(rank + group) && run.step(rank, group) {
                        moved = true;
                        if rounds.is_some() {
                            break;
                        }
                    }
                }
            }
            if !moved && rounds.is_none() {
                break;
            }
            round += 1;
        }
        run.finish()
    }
}

impl<'a> Run<'a> {
    fn new(job: &'a Job) -> Run<'a> {
        let lanes: Vec<Vec<Vec<usize>>> = (job.ranks.iter())
            .map(|rank| {
                let mut lanes = vec![Vec::new(); job.groups.len()];
                rank.program.iter().enumerate().for_each(|(at, op)| lanes[op.group()].push(at));
                lanes
            })
            .collect();
        let reached = |rank: &Rank| {
            let count = rank.program.len();
            Reached { issued: 0, done: vec![false; count], met: vec![0; count], running: vec![false; count] }
        };
        Run {
            job,
            reached: job.ranks.iter().map(reached).collect(),
            ended: vec![vec![0; job.groups.len()]; job.ranks.len()],
            first: vec![0; job.ranks.len()],
            lanes,
        }
    }

    fn issue(&mut self, rank: usize, at_most: Option<usize>) -> bool {
        let own = &self.job.ranks[rank];
        let limit = own.cpu_stop.unwrap_or(usize::MAX).min(own.program.len()).min(self.first[rank] + own.ahead);
        let reached = &mut self.reached[rank];
        let limit = at_most.map_or(limit, |most| limit.min(reached.issued + most));
        let moved = reached.issued < limit;
        reached.issued = reached.issued.max(limit);
        moved
    }

    /// The operation at the head of a stream, if the device has begun it.
    fn head(&self, rank: usize, group: usize) -> Option<usize> {
        let at = *self.lanes[rank][group].get(self.ended[rank][group])?;
        let begun = at < self.reached[rank].issued
            && self.job.ranks[rank].device_stop.is_none_or(|stop| at < stop)
            && (self.job.streams == Streams::PerGroup || at == self.first[rank]);
        begun.then_some(at)
    }

    fn end(&mut self, rank: usize, at: usize) {
        let op = &self.job.ranks[rank].program[at];
        self.reached[rank].done[at] = true;
        self.ended[rank][op.group()] += 1;
        while self.reached[rank].done.get(self.first[rank]) == Some(&true) {
            self.first[rank] += 1;
        }
    }

    fn step(&mut self, rank: usize, group: usize) -> bool {
        let Some(at) = self.head(rank, group) else { return false };
        match &self.job.ranks[rank].program[at] {
            Op::Collective(op) => self.collective(op),
            Op::Messages(op) => self.messages(rank, at, op),
        }
    }

    fn collective(&mut self, op: &Collective) -> bool {
        let (mut ends, mut balance) = (Vec::new(), 0);
        for &member in &self.job.groups[op.group].members {
            let Some(at) = self.head(member as usize, op.group) else { return false };
            let Op::Collective(theirs) = &self.job.ranks[member as usize].program[at] else { return false };
            if !self.job.lenient && !theirs.fits(op) {
                return false;
            }
            let (sent, received) = theirs.exchanged();
            balance += sent - received;
            ends.push((member as usize, at));
        }
        if balance != 0 && !self.job.lenient {
            return false;
        }
        ends.into_iter().for_each(|(rank, at)| self.end(rank, at));
        true
    }

    fn messages(&mut self, rank: usize, at: usize, op: &Messages) -> bool {
        let mut moved = false;
        for (nth, message) in op.list.iter().enumerate() {
            if self.reached[rank].met[at] & (1 << nth) != 0 {
                continue;
            }
            let peer = message.peer as usize;
            let Some(their_at) = self.head(peer, op.group) else { continue };
            let Op::Messages(theirs) = &self.job.ranks[peer].program[their_at] else { continue };
            let other_end =
                theirs.list.iter().position(|other| other.send != message.send && other.peer as usize == rank);
            let Some(their_nth) = other_end else { continue };
            let other = &theirs.list[their_nth];
            if self.job.lenient || (other.size == message.size && other.dtype == message.dtype) {
                let all = (1 << theirs.list.len()) - 1;
                self.reached[rank].met[at] |= 1 << nth;
                self.reached[peer].met[their_at] |= 1 << their_nth;
                if self.reached[peer].met[their_at] == all {
                    self.end(peer, their_at);
                }
                moved = true;
            }
        }
        if self.reached[rank].met[at] == (1 << op.list.len()) - 1 {
            self.end(rank, at);
        }
        moved
    }

    fn finish(mut self) -> Vec<Reached> {
        for rank in 0..self.reached.len() {
            for group in 0..self.job.groups.len() {
                if let Some(at) = self.head(rank, group) {
                    self.reached[rank].running[at] = true;
                }
            }
        }
        self.reached
    }
}
