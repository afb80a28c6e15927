//! Rank 0's end: it hears all ranks, and they hear each other through it.

use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{interval, sleep, timeout};

use super::BEAT;
use super::hub::{Action, Hub};
use super::lines::{receive, send};
use super::message::{Hello, Message, VERSION};
use crate::{Recorder, is_inert, log};

/// A rank says who it is within this time.
const GREETING: Duration = Duration::from_secs(5);
/// Time between two looks at what time alone brings about.
const TICK: Duration = Duration::from_millis(200);

/// What a connection tells the hub.
enum Event {
    /// A rank has come, and is reached here.
    Came(Hello, UnboundedSender<Message>),
    /// A rank says something.
    Said(u32, Message),
    /// A process's connection has ended.
    Left(u32, u32),
}

/// Serves the channel for as long as the process lives.
pub(super) async fn run(
    recorder: &'static Recorder,
    listener: TcpListener,
    own: Hello,
    mut inbox: UnboundedReceiver<Message>,
    connected: &AtomicBool,
) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        log::line("no side channel: the system refused what it needs. Each rank watches alone");
        return;
    };
    connected.store(true, Ordering::Relaxed);
    let (events, mut heard) = mpsc::unbounded_channel();
    let mut table = Table { recorder, rank: own.rank, hub: Hub::new(recorder.world_size()), writers: HashMap::new() };
    table.hub.greet(&own, Instant::now());
    let mut tick = interval(TICK);
    while !is_inert() {
        let actions = tokio::select! {
            accepted = listener.accept() => {
                match accepted {
                    Ok((stream, _)) => {
                        tokio::spawn(attend(stream, own.token.clone(), events.clone()));
                    }
                    // Out of descriptors: those that are open go on, and it is tried again.
                    Err(_) => sleep(TICK).await,
                }
                continue;
            }
            said = inbox.recv() => {
                let Some(message) = said else { return };
                table.hub.take(table.rank, &message, Instant::now())
            }
            event = heard.recv() => {
                let Some(event) = event else { return };
                table.note(event)
            }
            _ = tick.tick() => {
                table.hub.take(table.rank, &Message::Beat, Instant::now());
                table.hub.tick(Instant::now())
            }
        };
        table.act(actions);
    }
}

struct Table {
    recorder: &'static Recorder,
    rank: u32,
    hub: Hub,
    writers: HashMap<u32, UnboundedSender<Message>>,
}

impl Table {
    fn note(&mut self, event: Event) -> Vec<Action> {
        let now = Instant::now();
        match event {
            Event::Came(hello, writer) => {
                self.writers.insert(hello.rank, writer);
                self.hub.greet(&hello, now)
            }
            Event::Said(rank, message) => self.hub.take(rank, &message, now),
            Event::Left(rank, process) => self.hub.lose(rank, process),
        }
    }

    fn act(&self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Log(text) => log::line(&text),
                Action::Outcome { text, any } => {
                    log::line(&text);
                    if any {
                        log::line(&self.recorder.how_to_look());
                    }
                }
                Action::Send(rank, message) if rank == self.rank => self.recorder.hear(&message),
                Action::Send(rank, message) => {
                    if let Some(writer) = self.writers.get(&rank) {
                        // Its connection has just ended, and the hub is about to hear of it.
                        let _ = writer.send(message);
                    }
                }
            }
        }
    }
}

/// One connection: first the greeting, then whatever is said, both ways.
async fn attend(stream: TcpStream, token: String, events: UnboundedSender<Event>) {
    let _ = stream.set_nodelay(true);
    let (reader, mut writer) = stream.into_split();
    let mut arriving = receive(reader);
    let greeting = timeout(GREETING, arriving.recv()).await;
    let Ok(Some(Ok(Message::Hello(hello)))) = greeting else { return };
    if hello.version != VERSION || hello.token != token {
        log::line(&format!(
            "rank {} on {} was turned away from the side channel: it has another {}",
            hello.rank,
            hello.host,
            if hello.version == VERSION { "token (HANGSCOPE_TOKEN)" } else { "version of the recorder" }
        ));
        return;
    }
    let (rank, process) = (hello.rank, hello.process);
    let (sender, mut outgoing) = mpsc::unbounded_channel();
    if events.send(Event::Came(hello, sender)).is_err() {
        return;
    }
    let mut beat = interval(BEAT);
    let ended: io::Result<()> = async {
        loop {
            tokio::select! {
                heard = arriving.recv() => {
                    let Some(message) = heard.transpose()? else { return Ok(()) };
                    if events.send(Event::Said(rank, message)).is_err() {
                        return Ok(());
                    }
                }
                message = outgoing.recv() => {
                    // Another connection of this rank has taken its place.
                    let Some(message) = message else { return Ok(()) };
                    send(&mut writer, &message).await?;
                }
                _ = beat.tick() => send(&mut writer, &Message::Beat).await?,
            }
        }
    }
    .await;
    // However it ended, the rank is not there any more.
    drop(ended);
    let _ = events.send(Event::Left(rank, process));
}
