//! Which ranks and which groups look alike, so that one of them can stand for all.
//!
//! Two ranks are alike if they have the same part in what happened, and the same cells, in every row that does not agree, in groups that
//! are alike; two groups are alike if they have the same description, size and rows that do not agree, and members that are alike. So both
//! are told apart together, round after round, until no round finds another difference: then every group of a kind has members of the same
//! kinds, and the one that is shown shows all there is to see. Rows that agree do not count: rings that were cut at different places are no
//! difference.

use std::collections::HashMap;
use std::hash::Hash;

use hangscope_analyzer_core::report::{Band, Report, RowNumber, TableIndex, ranks_in};
use hangscope_analyzer_core::small_sort::SmallSort as _;
use serde::{Deserialize, Serialize};

use super::RowCodes;

/// So many rounds at most. In a chain of groups each round carries a difference one group on; such groups are hardly alike.
const MOST_ROUNDS: usize = 32;
/// Suspects are shown one by one, unless there are more.
const MOST_SUSPECTS: usize = 16;

/// The kind of every rank and of every group. Those of one kind are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Likeness {
    /// For every column of the table, by index.
    pub(crate) ranks: Vec<u32>,
    /// For every band, by index.
    pub(crate) bands: Vec<u32>,
}

/// Gives equal things equal numbers, in the order in which they first come.
struct Numbers<K>(HashMap<K, u32>);

impl<K: Hash + Eq> Numbers<K> {
    fn new() -> Self {
        Self(HashMap::new())
    }

    fn of(&mut self, key: K) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(key).or_insert(next)
    }
}

impl Likeness {
    pub(crate) fn new(report: &Report, index: &TableIndex, cells: &[u8]) -> Self {
        let looks = Looks::new(index, cells);
        let mut ranks = parts(report, index);
        let mut bands = looks.bands.clone();
        let mut kinds = (0, 0);
        for _ in 0..MOST_ROUNDS {
            bands = next_bands(index, &looks, &bands, &ranks);
            ranks = next_ranks(index, &looks, &bands, &ranks);
            let now = (count(&bands), count(&ranks));
            if now == kinds {
                break;
            }
            kinds = now;
        }
        Self { ranks, bands }
    }
}

fn count(numbers: &[u32]) -> u32 {
    numbers.iter().max().map_or(0, |most| most + 1)
}

/// What the groups and their members look like by themselves.
struct Looks {
    bands: Vec<u32>,
    /// For each band, for each member: its cells in the rows that do not agree.
    members: Vec<Vec<u32>>,
}

impl Looks {
    fn new(index: &TableIndex, cells: &[u8]) -> Self {
        let (mut of_band, mut of_member) = (Numbers::new(), Numbers::new());
        let (mut bands, mut members) = (Vec::new(), Vec::new());
        for band in &index.bands {
            let head = |row: u32| index.rows.get(row);
            let odd: Vec<u32> = band_rows(band).filter(|row| head(*row).is_none_or(|head| !head.agrees)).collect();
            let number = |row: u32| match head(row)?.number {
                RowNumber::Collective(number) => Some(number),
                // Its ranks are those of the group, which are others in each.
                RowNumber::Message { .. } => None,
            };
            let mut heads: Vec<Option<u32>> =
                odd.iter().flat_map(|row| [index.rows.op_of(*row), number(*row)]).collect();
            // One group that is a step behind the others is not like them.
            heads.push(band_rows(band).next_back().and_then(number));
            let finding = index.findings.iter().position(|finding| finding.row.is_some_and(|row| holds(band, row)));
            bands.push(of_band.of((&band.desc, band.p2p, band.columns.len(), finding, heads)));
            // Bands of messages are never like others, so that their members' numbers may be the same.
            let looks: Vec<Vec<u8>> = match band.p2p {
                true => ends_of_members(index, band, &odd, cells),
                false => (0..band.columns.len()).map(|at| cells_of_member(band, at, &odd, cells)).collect(),
            };
            members.push(looks.into_iter().map(|look| of_member.of(look)).collect());
        }
        Self { bands, members }
    }
}

/// The codes of a member in some rows.
fn cells_of_member(band: &Band, position: usize, rows: &[u32], cells: &[u8]) -> Vec<u8> {
    let at = |row: &u32| band.row_at(*row)?.checked_add(position);
    rows.iter().map(|row| at(row).and_then(|at| cells.get(at)).copied().unwrap_or_default()).collect()
}

/// For each member, in which of some messages it has a part, and the code of its end: five bytes each.
fn ends_of_members(index: &TableIndex, band: &Band, rows: &[u32], cells: &[u8]) -> Vec<Vec<u8>> {
    let mut members = vec![Vec::new(); band.columns.len()];
    for (at, row) in (0_u32..).zip(rows) {
        RowCodes::of_row(index, band, *row, cells).for_each(&mut |position, code| {
            if let Some(member) = members.get_mut(position) {
                member.extend(at.to_le_bytes());
                member.push(code);
            }
        });
    }
    members
}

fn band_rows(band: &Band) -> std::ops::Range<u32> {
    band.first_row..band.first_row.saturating_add(band.row_count)
}

fn holds(band: &Band, row: u32) -> bool {
    band_rows(band).contains(&row)
}

/// The ranks by their part in what happened: their status, and in each finding whether they are suspects, on which side they stand, and
/// whether they wait.
fn parts(report: &Report, index: &TableIndex) -> Vec<u32> {
    let mut parts: Vec<Vec<(usize, usize)>> = index.ranks.iter().map(|rank| vec![(rank.status as usize, 0)]).collect();
    let mut add = |ranges: &str, part: &dyn Fn(u32) -> (usize, usize)| {
        for rank in ranks_in(ranges) {
            let column = index.ranks.binary_search_by_key(&rank, |column| column.rank).ok();
            if let Some(of_rank) = column.and_then(|column| parts.get_mut(column)) {
                of_rank.push(part(rank));
            }
        }
    };
    for (at, finding) in report.findings.iter().enumerate() {
        let one_by_one = ranks_in(&finding.suspects).count() <= MOST_SUSPECTS;
        add(&finding.suspects, &|rank| (at, if one_by_one { 1_000 + rank as usize } else { 1 }));
        add(&finding.victims, &|_| (at, 2));
        for (side, ranks) in finding.sides.iter().enumerate() {
            add(&ranks.ranks, &|_| (at, 10 + side));
        }
    }
    let mut numbers = Numbers::new();
    parts.into_iter().map(|part| numbers.of(part)).collect()
}

fn next_bands(index: &TableIndex, looks: &Looks, bands: &[u32], ranks: &[u32]) -> Vec<u32> {
    let mut numbers = Numbers::new();
    let each = index.bands.iter().zip(&looks.members).zip(bands);
    each.map(|((band, looks), kind)| {
        let of_rank = |column: &u32| ranks.get(*column as usize).copied().unwrap_or_default();
        let mut members: Vec<(u32, u32)> = band.columns.iter().map(of_rank).zip(looks.iter().copied()).collect();
        members.sort_small();
        numbers.of((*kind, members))
    })
    .collect()
}

fn next_ranks(index: &TableIndex, looks: &Looks, bands: &[u32], ranks: &[u32]) -> Vec<u32> {
    let mut places: Vec<Vec<(u32, u32)>> = vec![Vec::new(); ranks.len()];
    for ((band, looks), kind) in index.bands.iter().zip(&looks.members).zip(bands) {
        for (column, look) in band.columns.iter().zip(looks) {
            if let Some(places) = places.get_mut(*column as usize) {
                places.push((*kind, *look));
            }
        }
    }
    let mut numbers = Numbers::new();
    let each = places.into_iter().zip(ranks);
    each.map(|(mut places, kind)| {
        places.sort_small();
        numbers.of((*kind, places))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use hangscope_analyzer_core::report::{CellCode, RankStatus};

    use super::*;
    use crate::example;

    fn likeness(index: &TableIndex, cells: &[u8]) -> Likeness {
        of_report(&example::report(), index, cells)
    }

    fn of_report(report: &Report, index: &TableIndex, cells: &[u8]) -> Likeness {
        Likeness::new(report, index, cells)
    }

    #[test]
    fn those_who_wait_alike_are_alike_and_the_suspect_is_not() {
        let found = likeness(&example::index(), &example::cells());
        let of = |rank: usize| found.ranks[rank];
        assert!((1..4).all(|rank| of(rank) == of(0)), "{found:?}");
        assert!(of(6) == of(4) && of(7) == of(4) && of(4) != of(0));
        assert!((0..8).filter(|rank| *rank != 5).all(|rank| of(rank) != of(5)));
        assert_ne!(found.bands[0], found.bands[1]);
    }

    #[test]
    fn what_agrees_makes_no_difference_and_what_differs_does() {
        let (index, mut cells) = (example::index(), example::cells());
        let before = likeness(&index, &cells);
        cells[2] = CellCode::UNKNOWN.0;
        assert_eq!(likeness(&index, &cells), before, "the ring of rank 6 was cut");
        let of_rank_6 = 9 * 4 + 2;
        cells[of_rank_6] = CellCode::SCHEDULED.0;
        let after = likeness(&index, &cells);
        assert!(after.ranks[6] != after.ranks[4] && after.ranks[7] == after.ranks[4]);
    }

    #[test]
    fn a_mesh_of_many_groups_has_few_kinds() {
        let mesh = example::mesh(64, 8, 19);
        let found = of_report(&mesh.report, &mesh.index, &mesh.cells);
        // Rank 19, those beside it in its tp group, those in its dp group, the rest.
        assert_eq!(count(&found.ranks), 4, "{:?}", found.ranks);
        // The world, its tp group, the other tp groups, its dp group, the other dp groups.
        assert_eq!(count(&found.bands), 5, "{:?}", found.bands);
        assert_eq!(found.ranks[16], found.ranks[23]);
        assert_eq!(found.ranks[3], found.ranks[59]);
        assert_eq!(found.ranks.iter().filter(|kind| **kind == found.ranks[0]).count(), 64 - 1 - 7 - 7);
    }

    #[test]
    fn another_part_is_another_kind() {
        let mesh = example::mesh(64, 8, 19);
        let mut index = mesh.index.clone();
        index.ranks[0].status = RankStatus::NoDump;
        let found = of_report(&mesh.report, &index, &mesh.cells);
        assert_eq!(found.ranks.iter().filter(|kind| **kind == found.ranks[0]).count(), 1);
        let mut report = mesh.report.clone();
        report.findings[0].victims = "0-1,64".to_owned();
        let found = of_report(&report, &mesh.index, &mesh.cells);
        assert!(found.ranks[0] == found.ranks[1] && found.ranks[0] != found.ranks[4]);
    }
}
