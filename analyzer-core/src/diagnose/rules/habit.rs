//! Whether a message or a collective comes first, by what the same two ranks did before.

use crate::align::{Band, Message, RowIdx};
use crate::diagnose::{Call, Case, Place, vote};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, RankIdx};

/// Who departed from its habit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Habit {
    /// The rank that has not posted the message used to post one before a collective of this kind.
    AbsentDeparted,
    /// The rank that has not issued the collective used to issue one before it posted so many messages.
    WaitingDeparted,
    /// Both do as they always did.
    Neither,
}

/// How many older rows are searched for one of the same kind.
const HISTORY: u32 = 256;

/// Compares the messages of a pair between the last two rows of a group now with those at the newest earlier row of the same kind;
/// `None` without such a row.
pub(super) fn of(
    case: &Case<'_>,
    place: Place,
    (group, row): (GroupIdx, RowIdx),
    absent: RankIdx,
    waiting: RankIdx,
) -> Option<Habit> {
    let message = case.message(place)?;
    let band = case.table.band(group);
    let now_absent = entry_in(band, row, absent)?;
    let before = RowIdx(row.0.checked_sub(1)?);
    let call = Call::of(case.job, case.table, absent, now_absent);
    let earlier = (1..row.0).rev().take(HISTORY as usize).map(RowIdx).find(|&earlier| {
        entry_in(band, earlier, absent).is_some_and(|at| Call::of(case.job, case.table, absent, at).equals(&call))
    })?;
    let earlier_before = RowIdx(earlier.0.checked_sub(1)?);

    let count = |rank: RankIdx, from: RowIdx, to: Option<EntryIdx>| {
        let from = entry_in(band, from, rank)?;
        Some(posted(case, place.group(), &message, rank, from, to))
    };
    let usual = |rank: RankIdx| count(rank, earlier_before, Some(entry_in(band, earlier, rank)?));
    if count(absent, before, Some(now_absent))? < usual(absent)? {
        return Some(Habit::AbsentDeparted);
    }
    let departed = usual(waiting).zip(count(waiting, before, None)).is_some_and(|(usual, now)| now > usual);
    Some(if departed { Habit::WaitingDeparted } else { Habit::Neither })
}

/// Compares the number of messages of a pair with that of the other pairs in the group and its siblings: most of them have posted as
/// many as the end that is ahead, or as the end that is behind. `None` where rings lost entries or the others do not agree.
pub(super) fn of_other_pairs(case: &Case<'_>, place: Place) -> Option<Habit> {
    let message = case.message(place)?;
    let (mut as_ahead, mut as_behind, mut asked) = (0usize, 0usize, 0usize);
    for group in core::iter::once(place.group()).chain(vote::siblings(case.job, place.group())) {
        let messages = &case.table.band(group).messages;
        let lossy = |rank: u32| {
            case.job.rank_idx(rank).is_none_or(|dump| {
                let capabilities = &case.job.rank(dump).capabilities;
                capabilities.wrapped || capabilities.only_active || capabilities.truncated
            })
        };
        let last = case.last_messages.get(group.0 as usize).map_or(&[][..], |last| last.as_slice());
        for last in last.iter().filter_map(|&at| messages.get(at as usize)) {
            let own = group == place.group() && (last.src, last.dst) == (message.src, message.dst);
            if own || !last.is_pair() || lossy(last.src) || lossy(last.dst) {
                continue;
            }
            asked += 1;
            let both = last.send.entry().is_some() && last.recv.entry().is_some();
            as_ahead += usize::from(both && last.nth == message.nth);
            as_behind += usize::from(both && last.nth + 1 == message.nth);
        }
    }
    if as_ahead * 2 > asked {
        Some(Habit::AbsentDeparted)
    } else if as_behind * 2 > asked {
        Some(Habit::WaitingDeparted)
    } else {
        None
    }
}

fn entry_in(band: &Band, row: RowIdx, rank: RankIdx) -> Option<EntryIdx> {
    let position = band.columns.iter().position(|&column| column == Some(rank))?;
    band.cell(row, position).entry()
}

/// How many messages of the same pair a rank posted after one entry and before another one (or until now).
fn posted(
    case: &Case<'_>,
    group: GroupIdx,
    message: &Message,
    rank: RankIdx,
    from: EntryIdx,
    to: Option<EntryIdx>,
) -> usize {
    let me = case.job.rank(rank).rank;
    let same_pair = |other: &&Message| (other.src, other.dst) == (message.src, message.dst);
    case.table
        .band(group)
        .messages
        .iter()
        .filter(same_pair)
        .filter_map(|other| if other.src == me { other.send.entry() } else { other.recv.entry() })
        .filter(|&at| at > from && to.is_none_or(|to| at < to))
        .count()
}
