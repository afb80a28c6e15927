//! What rank 0 knows of the others, and what it does about their messages: no sockets, no clock.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::message::{Hello, Membership, Message};

/// A rank that says nothing for this long is told of.
pub(super) const SILENCE: Duration = Duration::from_secs(10);
/// The time that ranks have to write their dumps.
const DUMP_TIME: Duration = Duration::from_secs(5);
/// Requests within this time are for the same hang.
const SAME_HANG: Duration = Duration::from_secs(5);
/// No communicator is larger: a list of its members has to fit a message.
const MAX_MEMBERS: u32 = 1 << 18;

/// What is to be done about a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Send it to this rank.
    Send(u32, Message),
    /// Tell the person who reads rank 0's output.
    Log(String),
    /// Tell how the dumps of all ranks went, and how to look at them.
    Outcome {
        /// How they went.
        text: String,
        /// Whether there are any.
        any: bool,
    },
}

/// What rank 0 knows.
#[derive(Debug)]
pub(super) struct Hub {
    world_size: Option<u32>,
    peers: BTreeMap<u32, Peer>,
    places: BTreeMap<u64, Vec<Option<u32>>>,
    round: Option<Round>,
    asked_at: Option<Instant>,
}

#[derive(Debug)]
struct Peer {
    host: String,
    process: u32,
    heard_at: Instant,
    state: PeerState,
    dumped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PeerState {
    Here,
    /// It says nothing.
    Silent,
    /// Its connection ended and it had not said goodbye.
    Gone,
    /// It said goodbye.
    Done,
}

/// All ranks are writing dumps.
#[derive(Debug)]
struct Round {
    until: Instant,
    failed: BTreeMap<u32, String>,
}

impl Hub {
    pub(super) fn new(world_size: Option<u32>) -> Self {
        Self { world_size, peers: BTreeMap::new(), places: BTreeMap::new(), round: None, asked_at: None }
    }

    /// A rank has come, or has come back.
    pub(super) fn greet(&mut self, hello: &Hello, now: Instant) -> Vec<Action> {
        let peer = Peer {
            host: hello.host.clone(),
            process: hello.process,
            heard_at: now,
            state: PeerState::Here,
            dumped: self.peers.get(&hello.rank).is_some_and(|peer| peer.dumped),
        };
        let last = self.peers.insert(hello.rank, peer);
        let twice = last
            .filter(|last| last.state == PeerState::Here && (last.process, &last.host) != (hello.process, &hello.host));
        twice
            .map(|last| {
                Action::Log(format!(
                    "two processes say that they are rank {}: {} on {} and {} on {}",
                    hello.rank, last.process, last.host, hello.process, hello.host
                ))
            })
            .into_iter()
            .collect()
    }

    /// A rank's connection has ended. `process` tells it from a later one of the same rank.
    pub(super) fn lose(&mut self, rank: u32, process: u32) -> Vec<Action> {
        let Some(peer) = self.peers.get_mut(&rank).filter(|peer| peer.process == process) else { return Vec::new() };
        if peer.state == PeerState::Done {
            return Vec::new();
        }
        peer.state = PeerState::Gone;
        vec![Action::Log(format!(
            "rank {rank} is gone: process {} on {} ended, or was cut off",
            peer.process, peer.host
        ))]
    }

    /// Takes a message of a rank that has been greeted, or of rank 0 itself.
    pub(super) fn take(&mut self, rank: u32, message: &Message, now: Instant) -> Vec<Action> {
        let mut actions = Vec::new();
        if let Some(peer) = self.peers.get_mut(&rank) {
            peer.heard_at = now;
            if peer.state == PeerState::Silent {
                peer.state = PeerState::Here;
                actions.push(Action::Log(format!("rank {rank} is heard of again")));
            }
        }
        match message {
            Message::Member(place) => actions.extend(self.place(rank, *place)),
            Message::Dump { rank: origin, reason } => actions.extend(self.ask_all(*origin, reason, now)),
            Message::Dumped { error, .. } => {
                if let Some(peer) = self.peers.get_mut(&rank) {
                    peer.dumped = error.is_none();
                }
                if let (Some(round), Some(error)) = (&mut self.round, error) {
                    round.failed.insert(rank, error.clone());
                }
            }
            Message::Goodbye => {
                if let Some(peer) = self.peers.get_mut(&rank) {
                    peer.state = PeerState::Done;
                }
            }
            Message::Hello(_) | Message::Members { .. } | Message::Beat => {}
        }
        actions
    }

    /// Notes a place in a communicator. When all are known, all members are told.
    fn place(&mut self, rank: u32, place: Membership) -> Vec<Action> {
        if place.size > MAX_MEMBERS || place.rank >= place.size {
            return Vec::new();
        }
        let places = self.places.entry(place.id).or_insert_with(|| vec![None; place.size as usize]);
        let Some(slot) = places.get_mut(place.rank as usize) else { return Vec::new() };
        *slot = Some(rank);
        let Some(members) = places.iter().copied().collect::<Option<Vec<u32>>>() else { return Vec::new() };
        // A rank that came back tells again, and everybody is told again, which changes nothing for them.
        let message = Message::Members { id: place.id, members: members.clone() };
        members.into_iter().map(|member| Action::Send(member, message.clone())).collect()
    }

    fn ask_all(&mut self, origin: u32, reason: &str, now: Instant) -> Vec<Action> {
        if self.asked_at.is_some_and(|at| now.duration_since(at) < SAME_HANG) {
            return Vec::new();
        }
        self.asked_at = Some(now);
        for peer in self.peers.values_mut() {
            peer.dumped = false;
        }
        self.round = Some(Round { until: now + DUMP_TIME, failed: BTreeMap::new() });
        let message = Message::Dump { rank: origin, reason: reason.to_owned() };
        self.peers.keys().filter(|rank| **rank != origin).map(|rank| Action::Send(*rank, message.clone())).collect()
    }

    /// What time alone brings about.
    pub(super) fn tick(&mut self, now: Instant) -> Vec<Action> {
        let mut actions = Vec::new();
        for (rank, peer) in &mut self.peers {
            if peer.state == PeerState::Here && now.duration_since(peer.heard_at) > SILENCE {
                peer.state = PeerState::Silent;
                actions.push(Action::Log(format!(
                    "rank {rank} has not been heard of for {} s: process {} on {} is frozen, or cut off",
                    SILENCE.as_secs(),
                    peer.process,
                    peer.host
                )));
            }
        }
        if let Some(round) = self.round.take() {
            let all_in = self
                .expected()
                .all(|rank| self.peers.get(&rank).is_some_and(|peer| peer.dumped) || round.failed.contains_key(&rank));
            if all_in || now >= round.until {
                actions.push(self.outcome(&round));
            } else {
                self.round = Some(round);
            }
        }
        actions
    }

    /// All ranks that there are, as far as rank 0 knows.
    fn expected(&self) -> impl Iterator<Item = u32> + '_ {
        let known = self.peers.keys().next_back().map_or(0, |last| last + 1);
        0..self.world_size.map_or(known, |size| size.max(known))
    }

    fn outcome(&self, round: &Round) -> Action {
        let mut count = 0;
        let mut missing = Vec::new();
        for rank in self.expected() {
            let why = match self.peers.get(&rank) {
                Some(peer) if peer.dumped => {
                    count += 1;
                    continue;
                }
                _ if round.failed.contains_key(&rank) => "it failed",
                None => "it never came to the channel",
                Some(peer) => match peer.state {
                    PeerState::Here => "no answer yet",
                    PeerState::Silent => "it says nothing",
                    PeerState::Gone => "it is gone",
                    PeerState::Done => "it had ended",
                },
            };
            missing.push((rank, why));
        }
        if missing.is_empty() {
            return Action::Outcome { text: format!("all {count} ranks have written their dumps"), any: true };
        }
        let (shown, more) = missing.split_at(missing.len().min(16));
        let mut text: Vec<_> = shown.iter().map(|(rank, why)| format!("rank {rank} ({why})")).collect();
        if !more.is_empty() {
            text.push(format!("and {} more", more.len()));
        }
        let text = format!("{count} ranks have written their dumps; none from {}", text.join(", "));
        Action::Outcome { text, any: count > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub(size: u32, now: Instant) -> Hub {
        let mut hub = Hub::new(Some(size));
        for rank in 0..size {
            assert_eq!(hub.greet(&hello(rank), now), []);
        }
        hub
    }

    fn hello(rank: u32) -> Hello {
        Hello { version: 1, token: String::new(), rank, host: "node".to_owned(), process: 100 + rank }
    }

    fn dumped() -> Message {
        Message::Dumped { path: Some("x".to_owned()), error: None }
    }

    fn logs(actions: Vec<Action>) -> Vec<String> {
        let text = |action| match action {
            Action::Log(text) | Action::Outcome { text, .. } => Some(text),
            Action::Send(..) => None,
        };
        actions.into_iter().filter_map(text).collect()
    }

    #[test]
    fn one_request_reaches_all_others_once() {
        let now = Instant::now();
        let mut hub = hub(4, now);
        let request = |rank| Message::Dump { rank, reason: "slow".to_owned() };
        let asked = hub.take(2, &request(2), now);
        let to: Vec<_> =
            asked.iter().map(|action| if let Action::Send(rank, _) = action { *rank } else { 99 }).collect();
        assert_eq!(to, [0, 1, 3]);
        assert_eq!(hub.take(3, &request(3), now + Duration::from_secs(1)), []);
        assert_eq!(hub.take(3, &request(3), now + Duration::from_secs(60)).len(), 3);
    }

    #[test]
    fn who_did_not_dump_is_told_with_the_reason() {
        let now = Instant::now();
        let mut hub = Hub::new(Some(6));
        for rank in 0..5 {
            hub.greet(&hello(rank), now);
        }
        hub.take(0, &Message::Dump { rank: 0, reason: "slow".to_owned() }, now);
        hub.take(0, &dumped(), now);
        hub.take(1, &dumped(), now);
        hub.take(2, &Message::Dumped { path: None, error: Some("disk full".to_owned()) }, now);
        assert_eq!(logs(hub.lose(3, 103)), ["rank 3 is gone: process 103 on node ended, or was cut off"]);
        assert_eq!(hub.tick(now + Duration::from_secs(1)), []);
        assert_eq!(
            logs(hub.tick(now + DUMP_TIME)),
            ["2 ranks have written their dumps; none from rank 2 (it failed), rank 3 (it is gone), rank 4 (no answer \
              yet), rank 5 (it never came to the channel)"]
        );
        assert_eq!(hub.tick(now + DUMP_TIME), []);
    }

    #[test]
    fn all_dumps_are_told_at_once() {
        let now = Instant::now();
        let mut hub = hub(3, now);
        hub.take(1, &Message::Dump { rank: 1, reason: String::new() }, now);
        for rank in 0..3 {
            hub.take(rank, &dumped(), now);
        }
        assert_eq!(logs(hub.tick(now)), ["all 3 ranks have written their dumps"]);
    }

    #[test]
    fn a_frozen_rank_is_told_once_and_so_is_its_return() {
        let now = Instant::now();
        let mut hub = hub(2, now);
        let later = now + SILENCE + Duration::from_secs(1);
        hub.take(0, &Message::Beat, later);
        assert_eq!(logs(hub.tick(later)).len(), 1);
        assert_eq!(hub.tick(later), []);
        assert_eq!(logs(hub.take(1, &Message::Beat, later)), ["rank 1 is heard of again"]);
    }

    #[test]
    fn a_goodbye_is_no_loss() {
        let now = Instant::now();
        let mut hub = hub(2, now);
        hub.take(1, &Message::Goodbye, now);
        assert_eq!(hub.lose(1, 101), []);
    }

    #[test]
    fn members_are_told_when_all_are_known() {
        let now = Instant::now();
        let mut hub = hub(3, now);
        let place = |rank, size| Message::Member(Membership { id: 7, size, rank });
        assert_eq!(hub.take(2, &place(0, 2), now), []);
        // What fits no communicator of that number is left out.
        assert_eq!(hub.take(1, &place(5, 2), now), []);
        assert_eq!(hub.take(1, &Message::Member(Membership { id: 8, size: u32::MAX, rank: 0 }), now), []);
        let told = Message::Members { id: 7, members: vec![2, 1] };
        assert_eq!(hub.take(1, &place(1, 2), now), [Action::Send(2, told.clone()), Action::Send(1, told)]);
    }

    #[test]
    fn two_processes_of_one_rank_are_told() {
        let now = Instant::now();
        let mut hub = hub(1, now);
        assert_eq!(logs(hub.greet(&Hello { process: 5, ..hello(0) }, now)).len(), 1);
        // The same process comes back after its connection broke.
        assert_eq!(hub.greet(&Hello { process: 5, ..hello(0) }, now), []);
        // The end of the other's connection says nothing about this one.
        assert_eq!(hub.lose(0, 100), []);
    }
}
