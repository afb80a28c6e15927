//! The middle that all ranks talk to: it pairs what belongs together, and lets wait what does not.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::request::{Answer, Meaning, Request};

/// A running hub. Its threads end with the process.
#[derive(Debug)]
pub struct Hub {
    address: SocketAddr,
}

impl Hub {
    /// Starts one on this machine.
    ///
    /// # Errors
    ///
    /// If no port can be had.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let state = Arc::new(Mutex::new(State::default()));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                // A rank that has gone needs no answer.
                thread::spawn(move || serve(&stream, &state));
            }
        });
        Ok(Self { address })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Asks, and waits for as long as it takes. A hub that is gone is waited for too, as a peer's device would be.
pub(crate) fn ask(address: &str, request: &Request) -> Answer {
    let asked = || -> io::Result<Answer> {
        let mut stream = TcpStream::connect(address)?;
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        stream.write_all(line.as_bytes())?;
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer)?;
        Ok(serde_json::from_str(&answer)?)
    };
    asked().unwrap_or_else(|_| {
        loop {
            thread::park();
        }
    })
}

/// The end of a request's part, with what it gives.
type Part = (usize, Vec<f32>);

#[derive(Debug, Default)]
struct State {
    collectives: HashMap<(u64, u64), Vec<Joined>>,
    /// By communicator, sender and receiver.
    ways: HashMap<(u64, u32, u32), Way>,
}

#[derive(Debug)]
struct Joined {
    rank: u32,
    meaning: Meaning,
    data: Vec<f32>,
    answer: Sender<Part>,
}

#[derive(Debug, Default)]
struct Way {
    sends: VecDeque<(Vec<f32>, Sender<Part>)>,
    receives: VecDeque<(usize, usize, Sender<Part>)>,
}

fn serve(stream: &TcpStream, state: &Mutex<State>) -> io::Result<()> {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    let request: Request = serde_json::from_str(&line)?;
    let (parts, receiver) = state.lock().unwrap_or_else(PoisonError::into_inner).join(request);
    let answer = collect(parts, &receiver);
    let mut line = serde_json::to_string(&answer)?;
    line.push('\n');
    (&*stream).write_all(line.as_bytes())
}

/// Waits for all parts; sends come back empty.
fn collect(parts: Vec<bool>, receiver: &Receiver<Part>) -> Answer {
    let mut answers: Vec<Vec<f32>> = vec![Vec::new(); parts.len()];
    for _ in 0..parts.len() {
        // The hub's state keeps the sender of what hangs.
        let Ok((at, data)) = receiver.recv() else { break };
        if let Some(place) = answers.get_mut(at) {
            *place = data;
        }
    }
    answers.into_iter().zip(parts).filter_map(|(answer, is_result)| is_result.then_some(answer)).collect()
}

impl State {
    /// Takes a request in; gives its parts, each with whether it has a result, and where their ends are told.
    fn join(&mut self, request: Request) -> (Vec<bool>, Receiver<Part>) {
        let (answer, receiver) = channel();
        let parts = match request {
            Request::Collective { comm, number, rank, size, meaning, data } => {
                let joined = self.collectives.entry((comm, number)).or_default();
                joined.push(Joined { rank, meaning, data, answer });
                let agree = joined.windows(2).all(|pair| pair[0].meaning == pair[1].meaning);
                if joined.len() == size as usize && agree {
                    joined.sort_by_key(|one| one.rank);
                    for one in &*joined {
                        // Who has gone needs no answer.
                        let _ = one.answer.send((0, result(joined, one.rank as usize)));
                    }
                    self.collectives.remove(&(comm, number));
                }
                vec![true]
            }
            Request::Messages { comm, rank, sends, receives } => {
                let mut parts = vec![false; sends.len()];
                for (to, data) in sends {
                    let way = self.ways.entry((comm, rank, to)).or_default();
                    way.sends.push_back((data, answer.clone()));
                    way.pair();
                }
                for (from, count) in receives {
                    let way = self.ways.entry((comm, from, rank)).or_default();
                    way.receives.push_back((parts.len(), count, answer.clone()));
                    parts.push(true);
                    way.pair();
                }
                parts
            }
        };
        (parts, receiver)
    }
}

impl Way {
    /// Pairs the oldest send with the oldest receive for as long as they agree.
    fn pair(&mut self) {
        while let (Some((data, _)), Some((_, count, _))) = (self.sends.front(), self.receives.front()) {
            if data.len() != *count {
                return;
            }
            if let (Some((data, sender)), Some((at, _, receiver))) = (self.sends.pop_front(), self.receives.pop_front())
            {
                // Sends are the first parts of their request; which of them this was does not matter.
                let _ = sender.send((0, Vec::new()));
                let _ = receiver.send((at, data));
            }
        }
    }
}

/// What a rank gets, when all have come.
fn result(joined: &[Joined], rank: usize) -> Vec<f32> {
    let Some(own) = joined.get(rank) else { return Vec::new() };
    let Meaning { func, count, root } = &own.meaning;
    let sum = || {
        let mut sum = vec![0.0; own.data.len()];
        for one in joined {
            sum.iter_mut().zip(&one.data).for_each(|(sum, value)| *sum += value);
        }
        sum
    };
    match func.as_str() {
        "AllReduce" => sum(),
        "AllGather" => joined.iter().flat_map(|one| one.data.clone()).collect(),
        "ReduceScatter" => sum().into_iter().skip(rank * count).take(*count).collect(),
        "Broadcast" => joined.get(*root as usize).map(|one| one.data.clone()).unwrap_or_default(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collective(rank: u32, func: &str, data: Vec<f32>) -> Request {
        let meaning = Meaning { func: func.to_owned(), count: 2, root: 1 };
        Request::Collective { comm: 1, number: 0, rank, size: 2, meaning, data }
    }

    fn both(func: &str, data: [Vec<f32>; 2]) -> [Answer; 2] {
        let hub = Hub::start().unwrap();
        let address = hub.address().to_string();
        let [first, second] = data;
        let (first, second) = (collective(0, func, first), collective(1, func, second));
        thread::scope(|scope| {
            let other = scope.spawn(|| ask(&address, &second));
            [ask(&address, &first), other.join().unwrap()]
        })
    }

    #[test]
    fn collectives_give_what_they_should() {
        let (a, b) = (vec![1.0, 2.0], vec![10.0, 20.0]);
        assert_eq!(both("AllReduce", [a.clone(), b.clone()]), [[[11.0, 22.0]], [[11.0, 22.0]]]);
        let all = vec![1.0, 2.0, 10.0, 20.0];
        assert_eq!(both("AllGather", [a.clone(), b.clone()]), [[all.clone()], [all.clone()]]);
        assert_eq!(both("Broadcast", [a, b.clone()]), [[b.clone()], [b]]);
        assert_eq!(both("ReduceScatter", [all.clone(), all]), [[[2.0, 4.0]], [[20.0, 40.0]]]);
    }

    #[test]
    fn messages_meet_in_order_and_sizes_must_agree() {
        let mut state = State::default();
        let messages = |rank, sends, receives| Request::Messages { comm: 1, rank, sends, receives };
        let (_, first) = state.join(messages(0, vec![(1, vec![1.0]), (1, vec![2.0, 3.0])], vec![]));
        let (parts, second) = state.join(messages(1, vec![], vec![(0, 1), (0, 3)]));
        assert_eq!(first.try_recv(), Ok((0, Vec::new())));
        assert_eq!(second.try_recv(), Ok((0, vec![1.0])));
        assert!(first.try_recv().is_err() && second.try_recv().is_err());
        assert_eq!(parts, [true, true]);
    }

    #[test]
    fn calls_that_do_not_fit_are_never_answered() {
        let mut state = State::default();
        let (_, first) = state.join(collective(0, "AllReduce", vec![0.0; 2]));
        let (_, second) = state.join(collective(1, "AllGather", vec![0.0; 2]));
        assert!(first.try_recv().is_err() && second.try_recv().is_err());
    }
}
