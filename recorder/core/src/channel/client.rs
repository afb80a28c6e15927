//! The end of every rank but 0.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{interval, sleep, timeout};

use super::lines::{receive, send};
use super::message::{Hello, Message};
use super::{BEAT, hub, place_in};
use crate::{Recorder, is_inert, log};

/// Rank 0 may come late: it is tried again and again, less and less often.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(10);
/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);
/// A person is told if rank 0 is not found for this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Talks to rank 0 for as long as the process lives.
pub(super) async fn run(
    recorder: &'static Recorder,
    places: &[String],
    hello: Hello,
    mut inbox: UnboundedReceiver<Message>,
    connected: &AtomicBool,
) {
    let mut pause = FIRST_PAUSE;
    let mut lost_at = Instant::now();
    let mut told = false;
    while !is_inert() {
        for place in places {
            let Ok(Ok(stream)) = timeout(CONNECT, TcpStream::connect(place)).await else { continue };
            let began = Instant::now();
            let ended = talk(recorder, stream, &hello, &mut inbox, connected).await;
            if connected.swap(false, Ordering::Relaxed) {
                match ended {
                    Ok(End::Goodbye) => return,
                    Ok(End::Closed) => log::line("rank 0 has closed the side channel; this rank watches alone"),
                    Err(error) => log::line(&format!("the side channel broke ({error}); this rank watches alone")),
                }
                lost_at = Instant::now();
                told = true;
            }
            if began.elapsed() > LAST_PAUSE {
                pause = FIRST_PAUSE;
            }
        }
        if !told && lost_at.elapsed() > PATIENCE {
            log::line(&format!("no side channel: nobody answers at {}; this rank watches alone", places.join(", ")));
            told = true;
        }
        sleep(pause).await;
        pause = (pause * 2).min(LAST_PAUSE);
    }
}

/// Why a talk ended in order.
enum End {
    /// This process said that it ends.
    Goodbye,
    /// The other side closed.
    Closed,
}

async fn talk(
    recorder: &'static Recorder,
    stream: TcpStream,
    hello: &Hello,
    inbox: &mut UnboundedReceiver<Message>,
    connected: &AtomicBool,
) -> io::Result<End> {
    // Small messages that must not wait for others.
    stream.set_nodelay(true)?;
    let (reader, mut writer) = stream.into_split();
    let mut arriving = receive(reader);
    send(&mut writer, &Message::Hello(hello.clone())).await?;
    // What was said over an earlier connection may not have arrived.
    for communicator in recorder.registry.all().iter().flatten() {
        if let Some(place) = place_in(communicator) {
            send(&mut writer, &Message::Member(place)).await?;
        }
    }
    let mut beat = interval(BEAT);
    let mut heard_at = Instant::now();
    loop {
        tokio::select! {
            message = inbox.recv() => {
                let Some(message) = message else { return Ok(End::Goodbye) };
                send(&mut writer, &message).await?;
                if message == Message::Goodbye {
                    return Ok(End::Goodbye);
                }
            }
            heard = arriving.recv() => {
                let Some(message) = heard.transpose()? else { return Ok(End::Closed) };
                connected.store(true, Ordering::Relaxed);
                heard_at = Instant::now();
                recorder.hear(&message);
            }
            _ = beat.tick() => {
                if heard_at.elapsed() > hub::SILENCE {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "rank 0 says nothing"));
                }
                send(&mut writer, &Message::Beat).await?;
            }
        }
    }
}
