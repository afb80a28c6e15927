//! Which cell stands for several that share a pixel or a folded column: always the worst, never a mixture.
//!
//! From the worst on: what a finding points at (a missing cell before one that differs, and both before one that merely belongs to it),
//! a cell that differs, one that was never issued, a started one, a scheduled one, a rank without a dump, a cell that was not recorded, a
//! completed one. A place outside of the group comes last: it is no cell.

use hangscope_analyzer_core::report::CellCode;

/// Codes are one byte each.
const CODES: usize = 256;

/// How bad each code is; the greatest is the worst.
pub(crate) static SEVERITY: [u8; CODES] = all();

const fn all() -> [u8; CODES] {
    let mut table = [0; CODES];
    let mut code = 0;
    while code < CODES {
        table[code] = severity(code as u8);
        code += 1;
    }
    table
}

const fn severity(code: u8) -> u8 {
    let state = code & 0x0f;
    if state == CellCode::NONE.0 {
        return 0;
    }
    let of_state = if state == CellCode::COMPLETED.0 {
        1
    } else if state == CellCode::UNKNOWN.0 {
        2
    } else if state == CellCode::NO_DUMP.0 {
        3
    } else if state == CellCode::SCHEDULED.0 {
        4
    } else if state == CellCode::STARTED.0 {
        5
    } else if state == CellCode::MISSING.0 {
        6
    } else {
        2
    };
    let differs = code & CellCode::DIFFERS != 0;
    if code & CellCode::ORIGIN != 0 {
        if state == CellCode::MISSING.0 {
            40
        } else if differs {
            30 + of_state
        } else {
            20 + of_state
        }
    } else if differs {
        10 + of_state
    } else {
        of_state
    }
}

/// Whether `code` must be seen rather than `other`.
pub(crate) fn is_worse(code: u8, other: u8) -> bool {
    SEVERITY[usize::from(code)] > SEVERITY[usize::from(other)]
}

/// Puts `code` in the place of `kept` if it is worse.
pub(crate) fn keep_worse(kept: &mut u8, code: u8) {
    if is_worse(code, *kept) {
        *kept = code;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_the_worst_to_the_best() {
        let order = [
            CellCode::MISSING.with(CellCode::ORIGIN),
            CellCode::SCHEDULED.with(CellCode::ORIGIN | CellCode::DIFFERS),
            CellCode::COMPLETED.with(CellCode::ORIGIN),
            CellCode::COMPLETED.with(CellCode::DIFFERS),
            CellCode::MISSING,
            CellCode::STARTED,
            CellCode::SCHEDULED,
            CellCode::NO_DUMP,
            CellCode::UNKNOWN,
            CellCode::COMPLETED,
            CellCode::NONE,
        ];
        for pair in order.windows(2) {
            assert!(is_worse(pair[0].0, pair[1].0), "{pair:?}");
            assert!(!is_worse(pair[1].0, pair[0].0), "{pair:?}");
        }
    }

    #[test]
    fn one_bad_cell_is_kept_among_many() {
        let mut kept = CellCode::COMPLETED.0;
        for code in [CellCode::COMPLETED, CellCode::STARTED, CellCode::MISSING, CellCode::STARTED, CellCode::NONE] {
            keep_worse(&mut kept, code.0);
        }
        assert_eq!(kept, CellCode::MISSING.0);
    }
}
