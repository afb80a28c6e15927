//! Whether a message or a collective comes first, by what the same two ranks did before.

use crate::align::{Message, RowIdx};
use crate::diagnose::{Call, Case, Place, vote};
use crate::dump::EntryIdx;
use crate::job::{GroupIdx, RankIdx};
use crate::tree_map::TreeMap;

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
/// How many rows before it must be the same.
const CONTEXT: u32 = 16;

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
    let now_absent = band.entry_of(row, absent)?;
    let before = RowIdx(row.0.checked_sub(1)?);
    let earlier = (1..row.0).rev().take(HISTORY as usize).map(RowIdx).find(|&earlier| {
        // The same call, after the same calls: one line may be reached several times in a step.
        (0..=earlier.0.min(CONTEXT)).all(|back| {
            let call = |row: RowIdx| {
                let at = band.entry_of(RowIdx(row.0.checked_sub(back)?), absent)?;
                Some(Call::of(case.job, case.table, absent, at))
            };
            match (call(row), call(earlier)) {
                (Some(now), Some(then)) => now.equals(&then),
                // The beginning of the program, not of the ring.
                _ => back > 1 && is_complete(case, absent),
            }
        })
    })?;
    let earlier_before = RowIdx(earlier.0.checked_sub(1)?);

    let count = |rank: RankIdx, from: RowIdx, to: Option<EntryIdx>| {
        let from = band.entry_of(from, rank)?;
        Some(posted(case, place.group(), &message, rank, from, to))
    };
    let usual = |rank: RankIdx| count(rank, earlier_before, Some(band.entry_of(earlier, rank)?));
    if count(absent, before, Some(now_absent))? < usual(absent)? {
        return Some(Habit::AbsentDeparted);
    }
    let departed = usual(waiting).zip(count(waiting, before, None)).is_some_and(|(usual, now)| now > usual);
    Some(if departed { Habit::WaitingDeparted } else { Habit::Neither })
}

/// Asks other ranks what comes first in their program: such a message, or the row in which the absent end waits. More than half
/// of those who can tell must say the same.
///
/// Those are the ranks that have the absent end's part in sibling groups, and the ends of the same side of messages to neighbours
/// as far away, if they belong to the row. A pipeline's stages may be a message apart at any time, but not where they
/// come to one row.
pub(super) fn of_others(
    case: &Case<'_>,
    place: Place,
    (group, row): (GroupIdx, RowIdx),
    (absent, waiting): (u32, u32),
) -> Option<Habit> {
    let message = case.message(place)?;
    if !is_counted(case, &message) {
        return None;
    }
    let members = case.job.group(place.group());
    let (src, dst) = (members.position(message.src)?, members.position(message.dst)?);
    let size = members.members.len();
    let far = (dst + size - src) % size;
    let number = case.table.band(group).number(row);
    let (mut message_first, mut row_first, mut asked) = (0usize, 0usize, 0usize);
    let siblings = |of: GroupIdx| core::iter::once(of).chain(vote::siblings(case.job, case.table, of));
    // The group of the row, or a sibling of it, that each rank is in.
    let mut row_group: TreeMap<u32, GroupIdx> = TreeMap::new();
    for of in siblings(group) {
        for &member in &case.job.group(of).members {
            row_group.entry(member).or_insert(of);
        }
    }
    for of in siblings(place.group()) {
        let theirs = &case.job.group(of).members;
        for (at, &their_src) in theirs.iter().enumerate() {
            let Some(&their_dst) = theirs.get((at + far) % size) else { continue };
            let mate = if message.src == absent { their_src } else { their_dst };
            let same_part = of != place.group() && at == src;
            let number_means_the_same = same_part || case.job.group(group).position(mate).is_some();
            if mate == absent || mate == waiting || !number_means_the_same {
                continue;
            }
            let Some(dump) = case.job.rank_idx(mate).filter(|&dump| is_complete(case, dump)) else { continue };
            let messages = &case.table.band(of).messages;
            let nth = |nth: u32| {
                let key = |other: &Message| (other.src, other.dst, other.nth);
                messages.binary_search_by_key(&(their_src, their_dst, nth), key).ok().and_then(|at| messages.get(at))
            };
            if nth(1).is_none() {
                continue;
            }
            let same = nth(message.nth);
            let posted = same.and_then(|other| if mate == their_src { other.send.entry() } else { other.recv.entry() });
            let issued = row_group
                .get(&mate)
                .and_then(|&of| case.table.band(of).entry_of(case.table.band(of).row_of(number)?, dump));
            match (posted, issued) {
                (None, None) => continue,
                (None, Some(_)) => row_first += 1,
                (Some(posted), Some(issued)) if posted > issued => row_first += 1,
                (Some(_), _) => message_first += 1,
            }
            asked += 1;
        }
    }
    if message_first * 2 > asked {
        Some(Habit::AbsentDeparted)
    } else if row_first * 2 > asked {
        Some(Habit::WaitingDeparted)
    } else {
        None
    }
}

/// Whether both ends of a message recorded all that went before it, so that its number is its number in the program.
pub(super) fn is_counted(case: &Case<'_>, message: &Message) -> bool {
    [message.src, message.dst].iter().all(|&rank| case.job.rank_idx(rank).is_some_and(|dump| is_complete(case, dump)))
}

fn is_complete(case: &Case<'_>, rank: RankIdx) -> bool {
    let capabilities = &case.job.rank(rank).capabilities;
    !(capabilities.wrapped || capabilities.only_active || capabilities.truncated)
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
    case.table
        .band(group)
        .messages_of(message.src, message.dst)
        .iter()
        .filter_map(|other| if other.src == me { other.send.entry() } else { other.recv.entry() })
        .filter(|&at| at > from && to.is_none_or(|to| at < to))
        .count()
}
