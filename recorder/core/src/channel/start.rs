//! Starting the channel's thread.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use tokio::sync::mpsc;

use super::address::{Address, listen, listen_anywhere, new_token};
use super::message::{Hello, VERSION};
use super::{Channel, client, server};
use crate::dump::host_name;
use crate::settings::ChannelSetting;
use crate::watchdog::without_signals;
use crate::{Recorder, log};

/// Which end of the channel this process is.
enum End {
    Server(TcpListener, String),
    Client(Vec<String>, String),
}

impl Recorder {
    /// Starts the channel if the settings say where it is and the rank is known.
    pub(crate) fn connect_as_configured(&'static self) {
        let (ChannelSetting::At(at), Some(rank)) = (&self.settings.channel, self.rank()) else { return };
        if self.channel.get().is_some() {
            return;
        }
        let token = self.settings.token.clone();
        if rank != 0 {
            self.start_channel(rank, End::Client(vec![at.clone()], token));
            return;
        }
        match listen(at) {
            Ok(listener) => self.start_channel(rank, End::Server(listener, token)),
            Err(error) => log::line(&format!(
                "no side channel: failed to listen at {at}: {error}. Each rank watches alone; HANGSCOPE_CHANNEL=HOST:PORT \
                 names another place"
            )),
        }
    }

    /// Starts the channel on rank 0, where the settings do not say where it is, and gives the text by which the other
    /// ranks [`Recorder::connect`]. `None`: the settings say where, or say that there is to be none, or it cannot be.
    pub fn serve(&'static self) -> Option<String> {
        if self.settings.channel != ChannelSetting::Unset || self.channel.get().is_some() || !self.watches() {
            return None;
        }
        let made = listen_anywhere().and_then(|listener| {
            let at = format!("{}:{}", host_name(), listener.local_addr()?.port());
            Ok((listener, Address { at, token: new_token()? }))
        });
        match made {
            Ok((listener, address)) => {
                self.start_channel(0, End::Server(listener, address.token.clone()));
                Some(address.to_text())
            }
            Err(error) => {
                log::line(&format!("no side channel: failed to listen: {error}. Each rank watches alone"));
                None
            }
        }
    }

    /// Starts the channel on another rank, with the text that rank 0's [`Recorder::serve`] gave.
    pub fn connect(&'static self, text: &str) {
        let (Some(address), Some(rank)) = (Address::parse(text), self.rank()) else { return };
        if self.channel.get().is_none() && self.watches() {
            self.start_channel(rank, End::Client(address.places(), address.token));
        }
    }

    fn watches(&self) -> bool {
        self.is_on() && self.settings.watchdog
    }

    fn start_channel(&'static self, rank: u32, end: End) {
        let (outbox, inbox) = mpsc::unbounded_channel();
        let connected = Arc::new(AtomicBool::new(false));
        if self
            .channel
            .set(Channel { outbox, connected: Arc::clone(&connected), serves: matches!(end, End::Server(..)) })
            .is_err()
        {
            return;
        }
        let hello =
            move |token| Hello { version: VERSION, token, rank, host: host_name(), process: std::process::id() };
        let body = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else {
                log::line("no side channel: the system refused what it needs. Each rank watches alone");
                return;
            };
            crate::guard(|| match end {
                End::Server(listener, token) => {
                    runtime.block_on(server::run(self, listener, hello(token), inbox, &connected));
                }
                End::Client(places, token) => {
                    runtime.block_on(client::run(self, &places, hello(token), inbox, &connected));
                }
            });
        };
        if thread::Builder::new().name("hangscope-chan".to_owned()).spawn(without_signals(body)).is_err() {
            log::line("no side channel: the system refused a thread. Each rank watches alone");
        }
        // Those that were made before there was a channel.
        if let Some(channel) = self.channel.get() {
            for communicator in self.registry.all().iter().flatten() {
                channel.tell_communicator(communicator);
            }
        }
    }

    /// Hands on what the channel says to this process.
    pub(super) fn hear(&self, message: &super::Message) {
        match message {
            super::Message::Dump { rank, reason } => {
                self.triggers.ask(crate::trigger::Cause::Rank(*rank, reason.clone()));
            }
            super::Message::Members { id, members } => {
                for communicator in self.registry.all().iter().flatten() {
                    if communicator.info().shared_id == Some(*id) {
                        communicator.tell_members(members.clone());
                    }
                }
            }
            _ => {}
        }
    }
}
