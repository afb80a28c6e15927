//! Messages whose two ends do not meet.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::habit::{self, Habit};
use super::words;
use crate::align::{Cell, Message};
use crate::diagnose::call::total;
use crate::diagnose::case::Party;
use crate::diagnose::{Case, Draft, Place, custom};
use crate::job::{GroupIdx, RankIdx};
use crate::report::{Alternative, Cause, Confidence, Kind};
use crate::symbols::StrId;

/// A message that one end has not posted, where the other waits, and the absent end waits for nothing.
pub(in crate::diagnose) fn find_unposted(case: &Case<'_>, place: Place) -> Option<Draft> {
    let parties = case.parties(place);
    let absent = parties.iter().find(|party| party.cell == Cell::MISSING)?;
    if !case.is_first_missed(absent.rank, place) {
        return None;
    }
    describe_unmatched(case, place, &parties, absent)
}

/// A message that one end has not posted, where the other waits, and the absent end waits in a collective.
///
/// One of the two left the common way: the absent end went past its message, or the waiting end went past the collective. What the
/// two did before the last collective of this kind tells which, else what other pairs did. An end that waits in another message is
/// not looked at.
pub(in crate::diagnose) fn find_unmatched(case: &Case<'_>, place: Place) -> Option<Draft> {
    let parties = case.parties(place);
    let absent = parties.iter().find(|party| party.cell == Cell::MISSING)?;
    let waiting = parties.iter().find(|party| case.waits(party) && party.rank != absent.rank)?;
    let (goes_on, front) = case.front(absent.dump?)?;
    let Place::Row(group, row) = front else { return None };
    let habit = habit::of(case, place, (group, row), absent.dump?, waiting.dump?);
    // Only a member of the collective's group can have gone past it; to anybody else the absent end just waits there.
    let both_belong = case.job.group(group).position(waiting.rank).is_some();
    if habit.is_none() && !both_belong {
        return None;
    }
    match habit.or_else(|| habit::of_others(case, place, (group, row), (absent.rank, waiting.rank))) {
        // It came to the collective as it always did after what it had done: the message was not due.
        Some(Habit::AbsentDeparted) if custom::may_be_usual(case, absent.dump?, goes_on) => None,
        Some(Habit::AbsentDeparted) => describe_unmatched(case, place, &parties, absent),
        Some(Habit::WaitingDeparted) => describe_skipper(case, front, waiting),
        Some(Habit::Neither) => None,
        // The first message of the pair: a program that has got so far had no chance to skip a collective between two of them.
        None => case
            .message(place)
            .filter(|message| message.nth == 1 && habit::is_counted(case, message))
            .and_then(|_| describe_unmatched(case, place, &parties, absent)),
    }
}

/// The waiting end went past a collective in which the other one waits.
fn describe_skipper(case: &Case<'_>, front: Place, skipper: &Party) -> Option<Draft> {
    let parties = case.parties(front);
    let witness = parties.iter().find(|party| case.waits(party))?;
    let (rank, entry) = (witness.dump?, witness.cell.entry()?);
    let (here, _) = case.front(skipper.dump?)?;
    let at = words::place(case, front);
    let waiting = words::pick(&parties, |party| case.waits(party));
    let now = words::site_or_op(case, skipper.dump?, here);
    let mut sides = words::sides_by_progress(case, front);
    for side in sides.iter_mut().filter(|side| side.entry.is_none() && side.ranks == [skipper.rank]) {
        side.last = Some((skipper.dump?, here));
    }
    Some(Draft {
        kind: Kind::SkippedCollective,
        cause: Cause::CpuDivergence,
        confidence: Confidence::Medium,
        place: front,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: alloc::vec![skipper.rank],
        tie: false,
        sides,
        headline: format!(
            "Rank {} skipped {} ({at}) and went on to {now}, where it waits: {} in {}",
            skipper.rank,
            words::op(case, rank, entry),
            words::others_wait(&waiting),
            words::site_or_op(case, rank, entry),
        ),
        evidence: alloc::vec![
            format!("{at}: {} issued it, rank {} did not and waits in {now}", words::ranks(&waiting), skipper.rank),
            format!("before the last collective of this kind rank {} had posted fewer messages than now", skipper.rank),
        ],
        alternatives: Vec::new(),
        next_steps: alloc::vec![
            format!("look at the branch that leads rank {} past {at}", skipper.rank),
            words::main_thread_stack(&[skipper.rank]),
        ],
        hangs: true,
    })
}

/// A message of which one end is posted: what is known of it, in words, and the rank that has not posted its end.
pub(super) fn half(case: &Case<'_>, place: Place) -> Option<(String, u32)> {
    let message = case.message(place)?;
    let parties = case.parties(place);
    let absent = parties.iter().find(|party| party.cell == Cell::MISSING)?;
    let waiting = parties.iter().find(|party| case.waits(party) && party.rank != absent.rank)?;
    Some((half_text(case, place, &message, (absent.rank, waiting.rank)), absent.rank))
}

fn half_text(case: &Case<'_>, place: Place, message: &Message, (absent, waiting): (u32, u32)) -> String {
    let (posted, lacking) = halves(message, waiting);
    format!("{}: rank {waiting} posted its {posted}, rank {absent} has no {lacking} for it", words::place(case, place))
}

/// What the waiting rank posted of a message, and what the other one lacks.
fn halves(message: &Message, waiting: u32) -> (&'static str, &'static str) {
    if message.src == waiting { ("send", "recv") } else { ("recv", "send") }
}

pub(super) fn describe_unmatched(case: &Case<'_>, place: Place, parties: &[Party], absent: &Party) -> Option<Draft> {
    let waiting = parties.iter().find(|party| case.waits(party) && party.rank != absent.rank)?;
    let (rank, entry) = (waiting.dump?, waiting.cell.entry()?);
    let message = case.message(place)?;
    let (_, lacking) = halves(&message, waiting.rank);
    let at = words::place(case, place);
    let idle = absent.dump.is_some_and(|dump| case.front(dump).is_none());
    let where_now = match absent.dump.and_then(|dump| case.front(dump).map(|(entry, _)| (dump, entry))) {
        Some((dump, entry)) => format!("it is at {}", words::site_or_op(case, dump, entry)),
        None => absent.dump.map(|dump| format!("it was {}", words::last_seen(case, dump))).unwrap_or_default(),
    };
    let mut sides = words::sides_by_progress(case, place);
    // The side of the absent end: where it went instead.
    if let Some(dump) = absent.dump
        && let Some((front, _)) = case.front(dump)
    {
        for side in sides.iter_mut().filter(|side| side.entry.is_none()) {
            side.last = Some((dump, front));
        }
    }
    Some(Draft {
        kind: Kind::P2pUnmatched,
        cause: if idle { Cause::CpuStuck } else { Cause::CpuDivergence },
        confidence: if idle { Confidence::Medium } else { Confidence::High },
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        suspects: alloc::vec![absent.rank],
        tie: false,
        sides,
        headline: format!(
            "Rank {} never posted the {lacking} for {at}: {where_now}, and rank {} waits in {}",
            absent.rank,
            waiting.rank,
            words::site_or_op(case, rank, entry),
        ),
        evidence: alloc::vec![
            half_text(case, place, &message, (absent.rank, waiting.rank)),
            if idle {
                format!("rank {} has nothing unfinished", absent.rank)
            } else {
                format!("rank {} went on: {where_now}", absent.rank)
            },
        ],
        alternatives: elsewhere(case, place, &message, absent, waiting).into_iter().collect(),
        next_steps: alloc::vec![
            format!("look at the code between the two places: why does rank {} not reach the {lacking}?", absent.rank),
            words::main_thread_stack(&[absent.rank]),
        ],
        hangs: true,
    })
}

/// The absent end has posted its part for the same two ranks in another group, or with another tag, and the waiting end has none there: it
/// may be the same message. It may as well be the next one, so nobody is freed of blame.
fn elsewhere(case: &Case<'_>, place: Place, message: &Message, absent: &Party, waiting: &Party) -> Option<Alternative> {
    let groups = case.groups_of(absent.dump?).iter().filter(|&&group| group != place.group());
    let places = groups.flat_map(|&group| {
        let band = case.table.band(group);
        band.message_places_of(message.src, message.dst).map(move |at| Place::Message(group, at))
    });
    let is_alone = |&other: &Place| {
        let parties = case.parties(other);
        let cell = |rank: u32| parties.iter().find(|party| party.rank == rank).map(|party| party.cell);
        cell(absent.rank).is_some_and(|cell| cell.entry().is_some()) && cell(waiting.rank) == Some(Cell::MISSING)
    };
    let other = places.into_iter().find(is_alone)?;
    let posted = if message.src == absent.rank { "send" } else { "recv" };
    Some(Alternative {
        cause: Cause::BadArguments,
        why: format!(
            "rank {} posted a {posted} for {}, and rank {} has nothing for it: if that is the same message, the two do not agree on its \
             group or tag",
            absent.rank,
            words::place(case, other),
            waiting.rank
        ),
    })
}

/// A message whose two ends disagree on the number of elements or the dtype.
pub(in crate::diagnose) fn find_misfit(case: &Case<'_>, place: Place) -> Option<Draft> {
    let message = case.message(place)?;
    let parties = case.parties(place);
    let [send, recv] = parties.as_slice() else { return None };
    let (sent, expected) = (content(case, send)?, content(case, recv)?);
    if fit(sent, expected) || !(case.waits(send) || case.waits(recv)) {
        return None;
    }
    // The message before it between the two says what is usual; the end that departs from it is the odd one.
    let usual = usual(case, place.group(), &message);
    let suspects = match usual {
        Some(usual) if fit(usual, sent) => alloc::vec![recv.rank],
        Some(usual) if fit(usual, expected) => alloc::vec![send.rank],
        _ => Vec::new(),
    };
    let (send_rank, send_entry) = (send.dump?, send.cell.entry()?);
    let (recv_rank, recv_entry) = (recv.dump?, recv.cell.entry()?);
    let at = words::place(case, place);
    let (sent_text, expected_text) =
        (content_text(case, send_rank, send_entry, sent), content_text(case, recv_rank, recv_entry, expected));
    let headline = match suspects.as_slice() {
        [one] if *one == recv.rank => format!(
            "Rank {one} expects {expected_text}{} where rank {} sends {sent_text}: {at}",
            words::at_site(case, recv_rank, recv_entry),
            send.rank
        ),
        [one] => format!(
            "Rank {one} sends {sent_text}{} where rank {} expects {expected_text}: {at}",
            words::at_site(case, send_rank, send_entry),
            recv.rank
        ),
        _ => format!(
            "Rank {} sends {sent_text} and rank {} expects {expected_text} in {at}; the dumps do not tell which is wrong",
            send.rank, recv.rank
        ),
    };
    let mut evidence = alloc::vec![format!("{at}: {sent_text} sent, {expected_text} expected")];
    if let [one] = suspects.as_slice() {
        evidence.push(format!(
            "the messages before it between the two had the other side's size; rank {one} departs from it"
        ));
    }
    Some(Draft {
        kind: Kind::P2pSizeMismatch,
        cause: Cause::BadArguments,
        confidence: if suspects.is_empty() { Confidence::Medium } else { Confidence::High },
        place,
        more: Vec::new(),
        cycle: Vec::new(),
        tie: suspects.is_empty(),
        suspects,
        sides: alloc::vec![
            words::issued_side(case, &[(send_rank, send_entry)]),
            words::issued_side(case, &[(recv_rank, recv_entry)]),
        ],
        headline,
        evidence,
        alternatives: Vec::new(),
        next_steps: alloc::vec!["print shape and dtype of this message on both ranks".into()],
        hangs: true,
    })
}

/// Sizes, and the dtype behind them.
fn content_text(case: &Case<'_>, rank: RankIdx, entry: crate::dump::EntryIdx, content: Content) -> String {
    let dtype = content.1.map(|dtype| case.job.symbols.strings.get(dtype)).unwrap_or_default();
    format!("{} {dtype}", words::sizes(case, rank, entry)).trim_end().into()
}

type Content = (i64, Option<StrId>);

/// Whether two ends are of one message. A dtype that a recorder leaves out is none that differs.
fn fit(one: Content, other: Content) -> bool {
    one.0 == other.0 && (one.1 == other.1 || one.1.is_none() || other.1.is_none())
}

/// Elements and dtype of one end; a recorder may fill only the side that it uses.
fn content(case: &Case<'_>, party: &Party) -> Option<Content> {
    entry_content(case, party.dump?, party.cell)
}

fn entry_content(case: &Case<'_>, rank: RankIdx, cell: Cell) -> Option<Content> {
    let args = case.job.symbols.args.get(case.job.entry(rank, cell.entry()?).args);
    let symbols = &case.job.symbols;
    let (sizes, dtypes) = if symbols.shape_lists.get(args.input_sizes).is_empty() {
        (args.output_sizes, args.output_dtypes)
    } else {
        (args.input_sizes, args.input_dtypes)
    };
    let shapes = symbols.shape_lists.get(sizes);
    (!shapes.is_empty()).then(|| (total(case.job, sizes), symbols.dtype_lists.get(dtypes).first().copied()))
}

/// What the newest earlier message of the pair held on which both ends agreed.
fn usual(case: &Case<'_>, group: GroupIdx, message: &Message) -> Option<Content> {
    let (src, dst) = (case.job.rank_idx(message.src)?, case.job.rank_idx(message.dst)?);
    let messages = case.table.band(group).messages_of(message.src, message.dst).iter().rev();
    messages.filter(|other| other.nth < message.nth).find_map(|other| {
        let (sent, got) = (entry_content(case, src, other.send)?, entry_content(case, dst, other.recv)?);
        fit(sent, got).then_some(sent)
    })
}
