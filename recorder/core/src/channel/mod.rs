//! The side channel: how the ranks of a job tell each other to dump, find out who is gone, and who belongs to which
//! communicator. Rank 0 serves, the others connect, on a thread of its own in each process. Without it, or when it
//! breaks, each rank watches alone.

mod address;
mod client;
mod hub;
mod lines;
mod message;
mod server;
mod start;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use crate::Communicator;
use message::{Membership, Message};

/// Time between two signs of life.
const BEAT: Duration = Duration::from_secs(1);
/// The most that the end of a program is held up.
const FAREWELL: Duration = Duration::from_millis(500);

/// This process's end of the channel. What is said here is sent as soon as there is a connection.
#[derive(Debug)]
pub(crate) struct Channel {
    outbox: UnboundedSender<Message>,
    connected: std::sync::Arc<AtomicBool>,
    /// Whether this is rank 0's end, which says goodbye to nobody.
    serves: bool,
}

impl Channel {
    /// Tells this process's place in a communicator whose members nobody knows yet.
    pub(crate) fn tell_communicator(&self, communicator: &Communicator) {
        if let Some(place) = place_in(communicator) {
            self.say(Message::Member(place));
        }
    }

    /// Asks all ranks for their dumps.
    pub(crate) fn ask_all(&self, rank: u32, reason: &str) {
        self.say(Message::Dump { rank, reason: reason.to_owned() });
    }

    /// Tells rank 0 how this rank's dump went.
    pub(crate) fn report_dump(&self, outcome: Result<PathBuf, String>) {
        let (path, error) = match outcome {
            Ok(path) => (Some(path.display().to_string()), None),
            Err(error) => (None, Some(error)),
        };
        self.say(Message::Dumped { path, error });
    }

    /// Tells rank 0 that this process ends as it should, and gives the message a moment to go out.
    pub(crate) fn say_goodbye(&self) {
        if self.serves || !self.is_connected() {
            return;
        }
        self.say(Message::Goodbye);
        // The connection is given up once it is sent; a process that ends before looks like one that died.
        let until = Instant::now() + FAREWELL;
        while self.is_connected() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Whether there is a connection, or this is rank 0 itself.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }

    fn say(&self, message: Message) {
        // Without the channel's thread the rank is alone.
        let _ = self.outbox.send(message);
    }
}

fn place_in(communicator: &Communicator) -> Option<Membership> {
    let info = communicator.info();
    let id = info.shared_id.filter(|_| communicator.members().is_none())?;
    Some(Membership { id, size: info.size, rank: info.rank })
}
