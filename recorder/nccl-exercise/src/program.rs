//! The program itself, as one rank runs it.

use std::process::abort;
use std::thread::sleep;
use std::time::Instant;

use crate::arguments::Arguments;
use crate::fault::FaultKind;
use crate::library::Library;
use crate::step::{Issue, On, STEPS, Step};

/// Runs the program as one rank: rounds with their faults, then what else is asked for.
///
/// # Errors
///
/// If the library says so.
#[expect(clippy::print_stdout, reason = "a program's output")]
pub fn run(arguments: &Arguments, rank: u32, library: &mut impl Library) -> anyhow::Result<()> {
    for round in 0..arguments.rounds {
        for issue in order(arguments, rank, round) {
            library.issue(issue)?;
            if arguments.synchronous {
                library.wait()?;
            }
        }
        library.wait()?;
    }
    if arguments.replays > 0 {
        library.replay(&STEPS, arguments.count, arguments.replays)?;
        library.wait()?;
    }
    if arguments.small > 0 {
        let begin = Instant::now();
        for _ in 0..arguments.small {
            library.issue(Issue { step: Step::AllReduce(On::World), count: 1, receives: true })?;
        }
        library.wait()?;
        if rank == 0 {
            let each = begin.elapsed().as_nanos() / arguments.small as u128;
            println!("small all_reduces: {} of {each} ns", arguments.small);
        }
    }
    library.close()?;
    println!("rank {rank}: done");
    Ok(())
}

/// A round's operations as this rank issues them. It does what goes wrong on the way.
fn order<'a>(arguments: &'a Arguments, rank: u32, round: usize) -> impl Iterator<Item = Issue> + 'a {
    let first = round * STEPS.len();
    let is = move |kind, op| arguments.fault(kind, rank, op);
    let mut ops: Vec<usize> = (first..first + STEPS.len()).collect();
    for at in 1..ops.len() {
        if is(FaultKind::Swap, first + at - 1).is_some() {
            ops.swap(at - 1, at);
        }
    }
    ops.into_iter().filter_map(move |op| {
        if is(FaultKind::Exit, op).is_some() {
            abort();
        }
        if let Some(fault) = is(FaultKind::Sleep, op) {
            sleep(fault.time);
        }
        if is(FaultKind::Skip, op).is_some() {
            return None;
        }
        let count = if is(FaultKind::WrongSize, op).is_some() { 2 * arguments.count } else { arguments.count };
        Some(Issue { step: STEPS[op - first], count, receives: is(FaultKind::NoRecv, op).is_none() })
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn orders(flags: &[&str], rank: u32) -> Vec<Issue> {
        let arguments = Command::parse_from([&["program", "--rounds", "2"], flags].concat()).arguments;
        (0..arguments.rounds).flat_map(|round| order(&arguments, rank, round).collect::<Vec<_>>()).collect()
    }

    #[test]
    fn faults_are_of_one_rank_and_one_operation() {
        let usual = orders(&[], 0);
        assert_eq!(usual.len(), 12);
        assert_eq!(orders(&["--skip", "1:8"], 0), usual);

        let mut skipped = usual.clone();
        skipped.remove(8);
        assert_eq!(orders(&["--skip", "1:8"], 1), skipped);

        let mut swapped = usual.clone();
        swapped.swap(7, 8);
        assert_eq!(orders(&["--swap", "1:7"], 1), swapped);

        let mut larger = usual.clone();
        larger[0].count *= 2;
        assert_eq!(orders(&["--wrong-size", "1:0"], 1), larger);

        let mut alone = usual;
        alone[11].receives = false;
        assert_eq!(orders(&["--no-recv", "0:11", "--sleep", "0:3:0.001"], 0), alone);
    }
}
