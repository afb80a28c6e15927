//! What one rank does otherwise than the others.

use crate::op::{Collective, Op, Part};
use crate::simulator::{Group, Job};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    Nothing,
    /// Its CPU stops before an operation.
    Stop,
    /// It leaves a collective out.
    Skip,
    /// It leaves a send or receive out, of a batch only that one.
    NoMessage,
    /// A collective that nobody else issues.
    Extra,
    /// A collective twice.
    Twice,
    /// Two collectives of one group in the other order.
    SwapInGroup,
    /// Two collectives of groups with the same members in the other order.
    SwapOverGroups,
    /// A tensor or message is larger.
    Size,
    /// Another element type.
    Dtype,
    /// The operation comes from another place in the code, with another size.
    OtherSite,
    /// It leaves the loop one step early and goes to the end.
    LeftEarly,
    /// Its device stops before an operation, and its CPU goes on.
    DeviceStuck,
    /// Its process ends before an operation and leaves no dump.
    Death,
}

impl Fault {
    pub const ALL: &[Fault] = &[
        Fault::Stop,
        Fault::Skip,
        Fault::NoMessage,
        Fault::Extra,
        Fault::Twice,
        Fault::SwapInGroup,
        Fault::SwapOverGroups,
        Fault::Size,
        Fault::Dtype,
        Fault::OtherSite,
        Fault::LeftEarly,
        Fault::DeviceStuck,
        Fault::Death,
    ];
}

/// Injects a fault into the later half of the culprit's program; `false` where it has nothing to strike.
pub fn inject(job: &mut Job, fault: Fault, culprit: u32, at: usize) -> bool {
    let Job { groups, ranks, .. } = job;
    let rank = &mut ranks[culprit as usize];
    let program = &mut rank.program;
    // Not the first operations: what went before tells what is usual.
    let late = program.len() / 2..program.len();
    let candidates: Vec<usize> = late.filter(|&at| can_strike(fault, groups, program, at)).collect();
    let Some(&at) = candidates.get(at % candidates.len().max(1)) else { return false };
    match fault {
        Fault::Nothing => return false,
        Fault::Stop | Fault::Death => rank.cpu_stop = Some(at),
        Fault::DeviceStuck => rank.device_stop = Some(at),
        Fault::Skip => {
            program.remove(at);
        }
        Fault::NoMessage => {
            let Op::Messages(op) = &mut program[at] else { return false };
            op.list.remove(culprit as usize % op.list.len());
            if op.list.is_empty() {
                program.remove(at);
            }
        }
        Fault::Extra => {
            let parts = vec![Part { name: "all_reduce", input: vec![3], output: vec![3] }];
            let group = program[at].group();
            program.insert(
                at,
                Op::Collective(Collective { group, parts, end: None, dtype: "Float", site: ("debug", 200) }),
            );
        }
        Fault::Twice => program.insert(at, program[at].clone()),
        Fault::SwapInGroup | Fault::SwapOverGroups => program.swap(at, at + 1),
        Fault::Size | Fault::OtherSite => match &mut program[at] {
            Op::Messages(op) => op.list[0].size += 1,
            Op::Collective(op) => {
                let members = groups[op.group].members.len() as i64;
                op.parts[0].grow(members);
                if fault == Fault::OtherSite {
                    op.site = ("evaluate", 210);
                }
            }
        },
        Fault::Dtype => match &mut program[at] {
            Op::Messages(op) => op.list[0].dtype = "Half",
            Op::Collective(op) => op.dtype = "Half",
        },
        Fault::LeftEarly => {
            let last = program.len() - 1;
            program.drain(at + 1..last);
        }
    }
    true
}

fn can_strike(fault: Fault, groups: &[Group], program: &[Op], at: usize) -> bool {
    let members = |op: &Op| &groups[op.group()].members;
    let op = &program[at];
    let shared = members(op).len() > 1;
    let pair = || Some((op.collective()?, program.get(at + 1)?.collective()?));
    match fault {
        Fault::Nothing => false,
        Fault::Stop | Fault::Death | Fault::DeviceStuck => true,
        Fault::Skip | Fault::OtherSite => shared && op.collective().is_some(),
        // One more of the last call looks as if all others had stopped before it.
        Fault::Twice => {
            let next =
                || program[at + 1..].iter().any(|next| next.group() == op.group() && next.collective().is_some());
            shared && op.collective().is_some() && next()
        }
        Fault::NoMessage => op.collective().is_none(),
        Fault::Extra | Fault::Size | Fault::Dtype => shared,
        Fault::SwapInGroup => shared && pair().is_some_and(|(a, b)| a.group == b.group && !a.fits(b)),
        Fault::SwapOverGroups => {
            shared && pair().is_some_and(|(a, b)| a.group != b.group && members(op) == &groups[b.group].members)
        }
        // The end of the step before the last one.
        Fault::LeftEarly => is_end_of_step(program, at) && program[at + 1..].iter().any(is_clip),
    }
}

fn is_clip(op: &Op) -> bool {
    op.collective().is_some_and(|op| op.site.0 == "clip")
}

/// Whether the next step begins after an operation: the last one of a step is one of these.
fn is_end_of_step(program: &[Op], at: usize) -> bool {
    let of_end = |op: &Op| op.collective().is_some_and(|op| matches!(op.site.0, "clip" | "log" | "save"));
    of_end(&program[at]) && program.get(at + 1).is_some_and(|next| !of_end(next))
}
