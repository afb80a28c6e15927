//! Sends and receives of one group, paired by sender, receiver and n-th message.

use alloc::vec::Vec;

use super::blocks::Blocks;
use super::table::Lot;
use super::{Cell, Progress};
use crate::dump::EntryIdx;
use crate::job::{Direction, Group, GroupIdx, Job, Peer, RankIdx};
use crate::small_sort::SmallSort as _;
use crate::tree_map::TreeMap;
use crate::tree_set::TreeSet;

/// One message: a send and its receive, of which one may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Sender: a global rank. Equal to `dst` where the recorder does not say who the other end is.
    pub src: u32,
    /// Receiver: a global rank.
    pub dst: u32,
    /// Which message of this pair, from 1, as far back as the dumps reach.
    pub nth: u32,
    /// The sender's cell.
    pub send: Cell,
    /// The receiver's cell.
    pub recv: Cell,
}

impl Message {
    /// Whether the recorder says both ends.
    pub fn is_pair(&self) -> bool {
        self.src != self.dst
    }

    /// Sender and receiver with their cells; `None` for an end that the recorder does not say.
    pub fn ends(&self) -> [Option<(u32, Cell)>; 2] {
        let (send, recv) = ((self.src, self.send), (self.dst, self.recv));
        match (self.is_pair(), self.send.entry()) {
            (true, _) => [Some(send), Some(recv)],
            (false, Some(_)) => [Some(send), None],
            (false, None) => [None, Some(recv)],
        }
    }
}

#[derive(Default)]
struct Queues {
    sends: Vec<EntryIdx>,
    recvs: Vec<EntryIdx>,
}

/// Pairs the messages of a group; `lots` gives, for each member's dump, where its entries in this group are in `order`.
pub(super) fn pair(job: &Job, group: GroupIdx, blocks: &[Blocks], order: &[EntryIdx], lots: &[Lot]) -> Vec<Message> {
    let mut pairs: TreeMap<(u32, u32), Queues> = TreeMap::new();
    let mut messages = Vec::new();
    // Ranks that receive from any source: which sends these meet is not known.
    let mut open = TreeSet::new();
    for lot in lots.iter().filter(|lot| lot.messages) {
        let me = job.rank(lot.rank).rank;
        let mut alone = 0;
        for &at in order.get(lot.range()).unwrap_or(&[]) {
            let head = job.rank(lot.rank).entries.head(at);
            let Some(peer) = head.and_then(|head| job.op(head.op).peer) else { continue };
            let ends = ends(job.group(group), me, peer);
            match (ends, peer.direction) {
                (Some(pair), Direction::Send) => pairs.entry(pair).or_default().sends.push(at),
                (Some(pair), Direction::Recv) => pairs.entry(pair).or_default().recvs.push(at),
                // Any source, or no ranks in the name: it stands alone.
                (None, direction) => {
                    alone += 1;
                    open.extend((direction == Direction::Recv).then_some(me));
                    let cell = Cell::issued(at);
                    let (send, recv) = match direction {
                        Direction::Send => (cell, Cell::UNKNOWN),
                        Direction::Recv => (Cell::UNKNOWN, cell),
                    };
                    messages.push(Message { src: me, dst: me, nth: alone, send, recv });
                }
            }
        }
    }
    let most: usize = pairs.values().map(|queues| queues.sends.len().max(queues.recvs.len())).sum();
    messages.reserve_exact(most);
    for ((src, dst), queues) in pairs {
        zip(job, blocks, (src, dst), &queues, open.contains(&dst), &mut messages);
    }
    messages.sort_small_by_key(|message| (message.src, message.dst, message.nth));
    messages.shrink_to_fit();
    messages
}

/// Sender and receiver as global ranks. A recorder may leave out one end (a receive from any source) or both; in a group of two
/// the other end can only be the other member.
fn ends(group: &Group, me: u32, peer: Peer) -> Option<(u32, u32)> {
    let global = |rank: Option<u32>| rank.and_then(|rank| group.global_rank(rank));
    let other = match *group.members.as_slice() {
        [a, b] if a == me => Some(b),
        [a, b] if b == me => Some(a),
        _ => None,
    };
    let (src, dst) = match peer.direction {
        Direction::Send => (global(peer.src).or(Some(me)), global(peer.dst).or(other)),
        Direction::Recv => (global(peer.src).or(other), global(peer.dst).or(Some(me))),
    };
    // An end that is not the rank's own is no message of this rank: its file has another rank's name, say.
    let own = |&(src, dst): &(u32, u32)| me == if peer.direction == Direction::Send { src } else { dst };
    src.zip(dst).filter(|(src, dst)| src != dst).filter(own)
}

/// The n-th send meets the n-th receive.
///
/// Where a ring lost entries the counts start at different messages; then the last finished send and the last finished receive are
/// taken for the same message, since one cannot be finished much ahead of the other. A receiver that also takes from any source
/// (`any_source`) may have met a send that way.
fn zip(
    job: &Job,
    blocks: &[Blocks],
    (src, dst): (u32, u32),
    queues: &Queues,
    any_source: bool,
    messages: &mut Vec<Message>,
) {
    let (sender, receiver) = (job.rank_idx(src), job.rank_idx(dst));
    let wrapped = |rank: Option<RankIdx>| rank.is_some_and(|rank| job.rank(rank).capabilities.wrapped);
    let finished = |rank: Option<RankIdx>, queue: &[EntryIdx]| {
        let Some(blocks) = rank.and_then(|rank| blocks.get(rank.0 as usize)) else { return 0 };
        queue.iter().filter(|&&at| blocks.progress_of(at) == Progress::Completed).count()
    };
    let (mut skip_sends, mut skip_recvs) = (0, 0);
    if (wrapped(sender) || wrapped(receiver)) && sender.is_some() && receiver.is_some() {
        let (sent, received) = (finished(sender, &queues.sends), finished(receiver, &queues.recvs));
        // The longer one begins earlier; what it has more lies below the other's window.
        skip_sends = sent.saturating_sub(received);
        skip_recvs = received.saturating_sub(sent);
    }
    let below = skip_sends.max(skip_recvs);
    let length = (queues.sends.len() + skip_recvs).max(queues.recvs.len() + skip_sends);
    let absent = |rank: Option<RankIdx>, nth: usize| match rank {
        None => Cell::NO_DUMP,
        Some(_) if nth < below => Cell::UNKNOWN,
        Some(rank) => {
            let capabilities = &job.rank(rank).capabilities;
            let unsure = capabilities.truncated || capabilities.only_active;
            if unsure { Cell::UNKNOWN } else { Cell::MISSING }
        }
    };
    for nth in 0..length {
        let cell = |queue: &[EntryIdx], skipped: usize, rank| {
            let own = nth.checked_sub(skipped).and_then(|at| queue.get(at));
            own.map_or_else(|| absent(rank, nth), |&at| Cell::issued(at))
        };
        messages.push(Message {
            src,
            dst,
            nth: nth as u32 + 1,
            send: cell(&queues.sends, skip_recvs, sender),
            recv: match cell(&queues.recvs, skip_sends, receiver) {
                Cell::MISSING if any_source => Cell::UNKNOWN,
                recv => recv,
            },
        });
    }
}
