//! What a report says of a job whose culprit is known.

use hangscope_analyzer_core::report::{Kind, Report, ranks_in};

use crate::op::Op;
use crate::plan::{Outcome, Plan};

/// Whom the first finding blames, for what, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    pub kind: Kind,
    pub suspects: Vec<u32>,
    pub members: String,
    pub seq: Option<u32>,
    pub tie: bool,
}

/// The first finding of a report.
pub fn blame(report: &Report) -> Option<Blame> {
    let first = report.findings.first()?;
    Some(Blame {
        kind: first.kind,
        suspects: ranks_in(&first.suspects).collect(),
        members: first.group.as_ref().map(|group| group.ranks.clone()).unwrap_or_default(),
        seq: first.seq,
        tie: first.tie,
    })
}

/// Whether a report names the culprit, and nobody else.
pub fn names(report: &Report, culprit: u32) -> bool {
    report.findings.first().is_some_and(|first| first.suspects == culprit.to_string())
}

/// What is wrong with a report; `Ok` for the culprit's name, a tie, or a shrug.
pub fn judge(outcome: &Outcome, report: &Report) -> Result<(), String> {
    let said = || {
        format!("{} (suspects {:?})", report.headline, report.findings.iter().map(|f| &f.suspects).collect::<Vec<_>>())
    };
    for finding in &report.findings {
        let suspects: Vec<u32> = ranks_in(&finding.suspects).collect();
        let right = suspects.is_empty() || suspects == [outcome.culprit] && outcome.struck;
        // Where a dump is lost and nothing else explains the wait, its rank is named, as what it is.
        let named_lost = finding.kind == Kind::NoDump && suspects.iter().all(|rank| outcome.lost.contains(rank));
        let stopped = suspects.len() == 1 && outcome.is_partial() && outcome.is_as_if_the_other_stopped();
        if !right && !named_lost && !stopped {
            return Err(format!("blames {} where {} did it: {}", finding.suspects, outcome.culprit, said()));
        }
    }
    if !outcome.struck && outcome.lost.is_empty() && !report.findings.is_empty() {
        return Err(format!("a false alarm: {}", said()));
    }
    if report.findings.len() > 1 && outcome.lost.len() < 2 {
        return Err(format!("one fault, {} findings: {}", report.findings.len(), said()));
    }
    let somebody_waits = outcome.loaded().any(|rank| outcome.reached[rank as usize].waits());
    if somebody_waits && report.findings.is_empty() {
        return Err("silent".into());
    }
    if outcome.shows_the_stop() && !names(report, outcome.culprit) {
        return Err(format!("rank {} stopped for all to see: {}", outcome.culprit, said()));
    }
    Ok(())
}

/// Where each rank stands, for a person to read: its last operations that ended and what it issued after them.
pub fn summary(plan: &Plan, outcome: &Outcome) -> String {
    let mut text = format!("{plan:?}\nculprit {}, lost {:?}\n", outcome.culprit, outcome.lost);
    for (rank, reached) in outcome.reached.iter().enumerate() {
        let program = &outcome.job.ranks[rank].program;
        let first = reached.done.iter().position(|done| !done).unwrap_or(program.len());
        text += &format!("rank {rank}: {} of {} issued, first open {first}\n", reached.issued, program.len());
        for at in first.saturating_sub(2)..reached.issued.min(first + 4) {
            let state = match (reached.done[at], reached.running[at]) {
                (true, _) => "done",
                (false, true) => "running",
                (false, false) => "queued",
            };
            text += &format!("    {state} {}\n", describe(outcome, program, at));
        }
    }
    text
}

fn describe(outcome: &Outcome, program: &[Op], at: usize) -> String {
    let op = &program[at];
    let group = &outcome.job.groups[op.group()];
    let (desc, members) = (group.desc, &group.members);
    match op {
        Op::Collective(op) => {
            let of_group = |other: &&Op| other.group() == op.group && other.collective().is_some();
            let number = program[..=at].iter().filter(of_group).count();
            let parts: Vec<String> =
                op.parts.iter().map(|part| format!("{} {:?}->{:?}", part.name, part.input, part.output)).collect();
            format!("{desc}{members:?} #{number} {} {} {:?}", parts.join(" + "), op.dtype, op.site)
        }
        Op::Messages(op) => {
            let list: Vec<String> = (op.list.iter())
                .map(|item| {
                    format!("{} {} [{}]", if item.send { "send to" } else { "recv from" }, item.peer, item.size)
                })
                .collect();
            format!("{desc}{members:?} {}{} {:?}", if op.batched { "batch of " } else { "" }, list.join(", "), op.site)
        }
    }
}
