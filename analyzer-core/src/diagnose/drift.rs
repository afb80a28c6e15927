//! How a rank that parted from the others went on: it left operations out, put some in, or called one otherwise.

use super::Call;

/// The edit that turns the majority's calls into those of one rank, from the first row where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drift {
    /// It left out this many: its n-th call is the others' (n + this many)-th.
    Skipped(usize),
    /// It made this many more.
    Extra(usize),
    /// Two calls in the other order.
    Swapped,
    /// One call otherwise, and what follows agrees again as far as it is recorded.
    Replaced,
}

/// How far ahead a shift is looked for.
const REACH: usize = 64;
/// How many calls are compared to confirm a shift.
const CONFIRM: usize = 256;

/// What a drift costs, and how many calls confirm it.
#[derive(Clone, Copy)]
struct Fit {
    edits: usize,
    confirmed: usize,
}

/// Finds the cheapest explanation of `odd` against `right`; both begin at the row where they differ.
///
/// A shift counts only if at least one call confirms it. Of equally cheap explanations a shift is taken where operation or place in
/// the code differ, and a replaced call where only the arguments do: a wrong size is not a skipped operation.
pub(super) fn explain(right: &[Call], odd: &[Call]) -> Drift {
    let same_program = match (right.first(), odd.first()) {
        (Some(a), Some(b)) => a.op == b.op && a.same_site(b),
        _ => false,
    };
    if let ([a, b, ..], [c, d, ..]) = (right, odd)
        && a.equals(d)
        && b.equals(c)
        && !a.equals(b)
        && agreement(&right[2..], &odd[2..]).mismatches == 0
    {
        return Drift::Swapped;
    }
    let rest = agreement(right.get(1..).unwrap_or(&[]), odd.get(1..).unwrap_or(&[]));
    let mut best = (Drift::Replaced, Fit { edits: 1 + rest.mismatches, confirmed: rest.matches });
    for shift in 1..=REACH {
        for (drift, a, b) in [
            (Drift::Skipped(shift), right.get(shift..), Some(odd)),
            (Drift::Extra(shift), Some(right), odd.get(shift..)),
        ] {
            let (Some(a), Some(b)) = (a, b) else { continue };
            let found = agreement(a, b);
            let starts = matches!((a.first(), b.first()), (Some(a), Some(b)) if a.equals(b));
            if !starts {
                continue;
            }
            let fit = Fit { edits: shift + found.mismatches, confirmed: found.matches };
            let plain = best.0 == Drift::Replaced;
            let as_cheap = fit.edits == best.1.edits && (!same_program || best.1.confirmed == 0);
            // One replaced call that nothing confirms, against a shift that something does.
            let better_founded = !same_program && best.1.confirmed == 0;
            if fit.edits < best.1.edits || (plain && (as_cheap || better_founded)) {
                best = (drift, fit);
            }
        }
    }
    best.0
}

struct Agreement {
    matches: usize,
    mismatches: usize,
}

fn agreement(a: &[Call], b: &[Call]) -> Agreement {
    let mut found = Agreement { matches: 0, mismatches: 0 };
    for (a, b) in a.iter().zip(b).take(CONFIRM) {
        if a.equals(b) {
            found.matches += 1;
        } else {
            found.mismatches += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::symbols::{FrameId, StackId, StrId};

    /// One letter per call: the letter is the operation and its line, a digit after it the size.
    fn calls(text: &str) -> Vec<Call> {
        text.split_whitespace()
            .map(|word| {
                let op = word.bytes().next().map_or(0, u32::from);
                let size = word.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(1);
                Call {
                    op: StrId(op),
                    sizes: alloc::vec![size],
                    dtypes: Vec::new(),
                    inner: 0,
                    site: Some(FrameId(op)),
                    stack: StackId(op),
                }
            })
            .collect()
    }

    #[test]
    fn drifts() {
        for (right, odd, drift) in [
            ("a b c d", "b c d", Drift::Skipped(1)),
            ("a b c d", "c d", Drift::Skipped(2)),
            ("a b", "b", Drift::Skipped(1)),
            ("b c d", "x b c d", Drift::Extra(1)),
            ("b c", "x y b c", Drift::Extra(2)),
            ("a b c", "a2 b c", Drift::Replaced),
            ("a b c", "x b c", Drift::Replaced),
            ("a", "b", Drift::Replaced),
            ("a8 a8 a8", "a6 a8 a8", Drift::Replaced),
            ("a b c d", "b a c d", Drift::Swapped),
            ("a b", "b a", Drift::Swapped),
            ("a2 a1 b c", "a1 b c", Drift::Skipped(1)),
        ] {
            assert_eq!(explain(&calls(right), &calls(odd)), drift, "{right} against {odd}");
        }
    }
}
