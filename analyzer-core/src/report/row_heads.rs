//! Heads of rows, a few bytes each: a large job has millions of them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// Number of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowNumber {
    /// Sequence number of a collective.
    Collective(u32),
    /// The n-th message from one rank to another; of an end whose rank the recorder does not say, `None`.
    Message {
        /// Sender: a global rank.
        src: Option<u32>,
        /// Receiver: a global rank.
        dst: Option<u32>,
        /// Which message of this pair, from 1.
        nth: u32,
    },
}

impl fmt::Display for RowNumber {
    /// `18` for a collective, `0→1 #3` for the third message from 0 to 1, `?→1 #3` where the sender is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |rank: Option<u32>| rank.map_or_else(|| "?".to_string(), |rank| rank.to_string());
        match *self {
            RowNumber::Collective(number) => write!(f, "{number}"),
            RowNumber::Message { src, dst, nth } => write!(f, "{}→{} #{nth}", end(src), end(dst)),
        }
    }
}

/// Head of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowHead<'a> {
    /// Its number.
    pub number: RowNumber,
    /// What most ranks issued: `all_reduce [4096]`, `_all_gather_base [64] → [512]`.
    pub op: &'a str,
    /// Whether all members that could have it completed it with equal arguments: such rows can be folded.
    pub agrees: bool,
}

/// The heads of all rows, one band after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowHeads {
    /// For a collective its number, for a message its place in `messages`.
    numbers: Vec<u32>,
    /// The place of the text in `ops`, above the two marks.
    marks: Vec<u32>,
    /// Sender, receiver, and which message of the two; [`UNKNOWN`] for an end that nobody says.
    messages: Vec<(u32, u32, u32)>,
    /// Distinct texts of what was issued.
    ops: Vec<String>,
}

const AGREES: u32 = 1;
const MESSAGE: u32 = 2;
const MARKS: u32 = 2;
const UNKNOWN: u32 = u32::MAX;

impl RowHeads {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// The head of a row.
    pub fn get(&self, row: u32) -> Option<RowHead<'_>> {
        let (&number, &marks) = (self.numbers.get(row as usize)?, self.marks.get(row as usize)?);
        let number = if marks & MESSAGE == 0 {
            RowNumber::Collective(number)
        } else {
            let &(src, dst, nth) = self.messages.get(number as usize)?;
            let known = |rank: u32| (rank != UNKNOWN).then_some(rank);
            RowNumber::Message { src: known(src), dst: known(dst), nth }
        };
        let op = self.ops.get((marks >> MARKS) as usize).map_or("", String::as_str);
        Some(RowHead { number, op, agrees: marks & AGREES != 0 })
    }

    /// The place in [`RowHeads::ops`] of what the row's members issued.
    pub fn op_of(&self, row: u32) -> Option<u32> {
        self.marks.get(row as usize).map(|marks| marks >> MARKS)
    }

    /// All heads, in order.
    pub fn iter(&self) -> impl Iterator<Item = RowHead<'_>> {
        (0..self.len() as u32).filter_map(|row| self.get(row))
    }

    /// Distinct texts of what was issued, for lists to choose from.
    pub fn ops(&self) -> &[String] {
        &self.ops
    }

    /// Takes out what there is one of for each row, for those who carry it over as it is: serde would take every number apart.
    pub fn take_columns(&mut self) -> [Vec<u32>; 2] {
        [core::mem::take(&mut self.numbers), core::mem::take(&mut self.marks)]
    }

    /// Puts back what [`RowHeads::take_columns`] gave.
    pub fn put_columns(&mut self, [numbers, marks]: [Vec<u32>; 2]) {
        (self.numbers, self.marks) = (numbers, marks);
    }

    /// Makes place for so many rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.numbers.reserve_exact(rows);
        self.marks.reserve_exact(rows);
    }

    /// Stores a text of what was issued, which is not there yet.
    pub(super) fn add_op(&mut self, op: String) -> u32 {
        self.ops.push(op);
        self.ops.len() as u32 - 1
    }

    /// Appends a row; `op` is from [`RowHeads::add_op`].
    pub(super) fn push(&mut self, number: RowNumber, op: u32, agrees: bool) {
        let mut marks = op << MARKS;
        if agrees {
            marks |= AGREES;
        }
        self.numbers.push(match number {
            RowNumber::Collective(number) => number,
            RowNumber::Message { src, dst, nth } => {
                marks |= MESSAGE;
                self.messages.push((src.unwrap_or(UNKNOWN), dst.unwrap_or(UNKNOWN), nth));
                self.messages.len() as u32 - 1
            }
        });
        self.marks.push(marks);
    }
}

impl<'a> FromIterator<RowHead<'a>> for RowHeads {
    fn from_iter<I: IntoIterator<Item = RowHead<'a>>>(heads: I) -> RowHeads {
        let (mut rows, mut known) = (RowHeads::default(), HashMap::new());
        for head in heads {
            let op = *known.entry(head.op).or_insert_with(|| rows.add_op(head.op.to_string()));
            rows.push(head.number, op, head.agrees);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_back_as_they_were() {
        let message = |src, dst| RowNumber::Message { src, dst, nth: 3 };
        let heads = [
            RowHead { number: RowNumber::Collective(18), op: "all_reduce [4096]", agrees: true },
            RowHead { number: message(Some(0), Some(1)), op: "send/recv [8]", agrees: false },
            RowHead { number: message(None, Some(1)), op: "send/recv [8]", agrees: true },
            RowHead { number: RowNumber::Collective(u32::MAX), op: "all_reduce [4096]", agrees: false },
        ];
        let rows: RowHeads = heads.into_iter().collect();
        assert!(rows.iter().eq(heads));
        assert_eq!(rows.ops(), ["all_reduce [4096]", "send/recv [8]"]);
        assert_eq!((0..5).map(|row| rows.op_of(row)).collect::<Vec<_>>(), [Some(0), Some(1), Some(1), Some(0), None]);
        let numbers: Vec<String> = rows.iter().map(|head| head.number.to_string()).collect();
        assert_eq!(numbers, ["18", "0→1 #3", "?→1 #3", "4294967295"]);
        let bytes = postcard::to_allocvec(&rows).unwrap();
        assert_eq!(postcard::from_bytes::<RowHeads>(&bytes).unwrap(), rows);
        assert_eq!(rows.get(4), None);
        let mut parts = rows.clone();
        let columns = parts.take_columns();
        assert!(parts.is_empty());
        parts.put_columns(columns);
        assert_eq!(parts, rows);
    }
}
