//! Counts tests while their runners talk.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::command::describe;

/// How many tests passed and failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// Runs a test runner, passes its output on, and counts.
    pub(crate) fn run(&mut self, command: &mut Command) -> Result<()> {
        let name = describe(command);
        let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("failed to start {name}"))?;
        let output = child.stdout.take().context("a child process has no output")?;
        let mut terminal = std::io::stdout().lock();
        for line in BufReader::new(output).split(b'\n') {
            let line = line.with_context(|| format!("failed to read what {name} says"))?;
            self.count(&String::from_utf8_lossy(&line));
            terminal.write_all(&line).and_then(|()| terminal.write_all(b"\n")).context("failed to print")?;
        }
        let status = child.wait().with_context(|| format!("failed to wait for {name}"))?;
        ensure!(status.success(), "{name} ended with {status}; its messages are above");
        Ok(())
    }

    /// The count as the last line of a run.
    pub(crate) fn print(self) -> Result<()> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{} passed, {} failed", self.passed, self.failed).context("failed to print")
    }

    /// Knows the last lines of Rust's and of Node's test runner.
    fn count(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| word.parse::<u64>().unwrap_or(0);
        match words.as_slice() {
            ["test", "result:", _, passed, "passed;", failed, "failed;", ..] => {
                self.passed += number(passed);
                self.failed += number(failed);
            }
            ["#" | "ℹ", "pass", passed] => self.passed += number(passed),
            ["#" | "ℹ", "fail", failed] => self.failed += number(failed),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_both_runners() {
        let mut tally = Tally::default();
        for line in [
            "running 11 tests",
            "test view::tests::a ... ok",
            "test result: ok. 11 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.09s",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "ok 1 - the page boots",
            "# tests 7",
            "# pass 5",
            "# fail 2",
            "ℹ pass 1",
        ] {
            tally.count(line);
        }
        assert_eq!(tally, Tally { passed: 19, failed: 3 });
    }
}
