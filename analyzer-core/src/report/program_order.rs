//! The rows of all bands in one order, for the page.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::ranges;
use crate::align::ProgramOrder;

/// One order over the rows of all groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramOrderView {
    /// Every row once: indices into [`super::TableIndex::rows`]. It agrees with every rank's own order wherever that can be, and
    /// with the time where ranks leave it open.
    pub rows: Vec<u32>,
    /// Where ranks contradict each other, those of two rows first, then the earliest; a bounded number.
    pub contradictions: Vec<Contradiction>,
    /// How often they do, also those that are not listed.
    pub contradicted: u32,
}

/// Rows that no order can put right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradiction {
    /// The rows: of two, some ranks issued the first one first, others the second one; of more, the orders go round.
    pub rows: Vec<u32>,
    /// For each row, the ranks that issued it before the next one, and at last those that issued the last one before the first:
    /// [`ranges`].
    pub ranks: Vec<String>,
}

impl From<ProgramOrder> for ProgramOrderView {
    fn from(order: ProgramOrder) -> ProgramOrderView {
        let contradictions = order
            .contradictions
            .into_iter()
            .map(|found| Contradiction { rows: found.rows, ranks: found.ranks.into_iter().map(ranges).collect() });
        ProgramOrderView {
            rows: order.rows,
            contradictions: contradictions.collect(),
            contradicted: order.contradicted,
        }
    }
}
