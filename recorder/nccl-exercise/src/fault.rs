//! Faults to order.

use std::str::FromStr;
use std::time::Duration;

/// What a rank does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It leaves the operation out.
    Skip,
    /// It sleeps before the operation.
    Sleep,
    /// It passes twice as many elements.
    WrongSize,
    /// It issues the next operation first.
    Swap,
    /// Its process dies before the operation.
    Exit,
    /// It leaves the receive of an exchange out.
    NoRecv,
}

/// Which rank does something wrong, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The rank in the job.
    pub rank: u32,
    /// The number of the operation, from 0.
    pub op: usize,
    /// How long it sleeps, if it does; else for ever, as far as a person is concerned.
    pub time: Duration,
}

const FOR_EVER: Duration = Duration::from_secs(24 * 3600);

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("{text}: expected RANK:OP, such as 1:8, or RANK:OP:SECONDS for a sleep");
        let parts: Vec<&str> = text.split(':').collect();
        let (rank, op, time) = match parts.as_slice() {
            [rank, op] => (rank, op, FOR_EVER),
            [rank, op, seconds] => {
                let seconds = seconds.parse().map_err(|_| expected())?;
                (rank, op, Duration::try_from_secs_f64(seconds).map_err(|_| expected())?)
            }
            _ => return Err(expected()),
        };
        Ok(Self { rank: rank.parse().map_err(|_| expected())?, op: op.parse().map_err(|_| expected())?, time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_a_rank_and_an_operation() {
        assert_eq!("1:8".parse(), Ok(Fault { rank: 1, op: 8, time: FOR_EVER }));
        assert_eq!("0:12:1.5".parse(), Ok(Fault { rank: 0, op: 12, time: Duration::from_millis(1500) }));
        for text in ["", "1", "1:", ":3", "a:b", "1:2:3:4", "1:2:-1", "-1:2"] {
            assert!(text.parse::<Fault>().is_err(), "{text}");
        }
    }
}
