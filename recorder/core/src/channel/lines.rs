//! Messages on a connection.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc::{self, Receiver};

use super::message::{MAX_LINE, Message};

/// Messages that wait for whoever takes them.
const WAITING: usize = 64;

/// Reads a connection on a task of its own, since half a line would be lost where a wait for several things is given
/// up. The last of what comes is an error, unless the other side has closed in order.
pub(super) fn receive(half: OwnedReadHalf) -> Receiver<io::Result<Message>> {
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let mut reader = BufReader::new(half);
        loop {
            let next = next(&mut reader).await.transpose();
            let Some(message) = next else { return };
            let failed = message.is_err();
            if sender.send(message).await.is_err() || failed {
                return;
            }
        }
    });
    receiver
}

async fn next(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<Message>> {
    let mut line = Vec::new();
    let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    if reader.take(limit).read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message without an end"));
    }
    serde_json::from_slice(&line).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Sends one message.
pub(super) async fn send(half: &mut OwnedWriteHalf, message: &Message) -> io::Result<()> {
    let mut line = serde_json::to_vec(message).map_err(io::Error::other)?;
    line.push(b'\n');
    half.write_all(&line).await
}
