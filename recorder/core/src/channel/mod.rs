//! The side channel: how the ranks of a job tell each other to dump.

use std::path::PathBuf;

use crate::{Communicator, Recorder};

/// The connection of this process.
#[derive(Debug)]
pub(crate) struct Channel;

impl Channel {
    pub(crate) fn tell_communicator(&self, _: &Communicator) {}
    pub(crate) fn ask_all(&self, _: &str) {}
    pub(crate) fn report_dump(&self, _: Result<PathBuf, String>) {}
    pub(crate) fn say_goodbye(&self) {}
}

impl Recorder {
    /// Starts the channel if the settings say where it is and the rank is known.
    pub(crate) fn connect_as_configured(&'static self) {}
}
