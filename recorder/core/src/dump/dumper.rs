//! Writes the dumps of this process.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::document::{Document, Making};
use super::file::{Part, host_name};
use crate::trigger::Cause;
use crate::{DumpForm, Recorder, log, stack};

/// What was written before.
#[derive(Debug)]
pub(crate) struct Dumper {
    since: SystemTime,
    written: BTreeSet<PathBuf>,
}

impl Default for Dumper {
    fn default() -> Self {
        Self { since: SystemTime::now(), written: BTreeSet::new() }
    }
}

impl Recorder {
    /// Writes a dump and says so, on standard error and over the channel. A process without a known rank writes as
    /// rank 0.
    pub(crate) fn dump(&self, cause: &Cause) {
        let rank = self.rank().unwrap_or_default();
        let outcome = self.dumper().write(self, rank);
        let reports = self.channel.get().is_some_and(crate::channel::Channel::is_connected);
        match &outcome {
            // Rank 0 says it for all: a thousand lines that say the same hide the one that counts.
            Ok(_) if reports && *cause != Cause::Exit => {}
            Ok(path) => log::line(&format!("{}; wrote {}", because(cause), path.display())),
            Err(error) => {
                let path = self.settings.dump_path(rank);
                log::line(&format!("{}, but no dump: failed to write {}: {error}", because(cause), path.display()));
            }
        }
        match self.channel.get() {
            Some(channel) if channel.is_connected() => {
                channel.report_dump(outcome.map_err(|error| error.to_string()));
            }
            // With the channel, rank 0 says it when all have answered.
            _ if outcome.is_ok() && *cause != Cause::Exit => log::line(&self.how_to_look()),
            _ => {}
        }
    }

    /// What a person does with the dumps.
    pub(crate) fn how_to_look(&self) -> String {
        format!("see what broke: hangscope analyze {}", self.settings.folder().display())
    }

    /// The dump as bytes, in the form that the settings name.
    ///
    /// # Errors
    ///
    /// If the writer refuses a value, which would be a fault of this crate.
    pub fn dump_bytes(&self) -> io::Result<Vec<u8>> {
        let snapshot = self.snapshot();
        let stacks: Vec<_> = snapshot.entries.iter().map(|entry| entry.stack.clone()).collect();
        let making = Making {
            settings: &self.settings,
            library: self.source.library,
            version: &self.source.version,
            frames: stack::resolve_all(stacks),
        };
        let document = Document::new(snapshot, making);
        match self.settings.form {
            DumpForm::Pickle => {
                serde_pickle::to_vec(&document, serde_pickle::SerOptions::new().proto_v2()).map_err(io::Error::other)
            }
            DumpForm::Json => serde_json::to_vec(&document).map_err(io::Error::other),
        }
    }
}

impl Dumper {
    /// Writes to the rank's own path; to another one if another process of this job has written there.
    fn write(&mut self, recorder: &Recorder, rank: u32) -> io::Result<PathBuf> {
        let path = recorder.settings.dump_path(rank);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let part = Part::write(folder, &recorder.dump_bytes()?)?;
        if self.written.contains(&path) {
            part.replace(&path)?;
            return Ok(path);
        }
        let Some(part) = part.claim(&path, self.since)? else {
            self.written.insert(path.clone());
            return Ok(path);
        };
        let name = format!("duplicate-{}-{}-rank_{rank}", host_name(), std::process::id());
        log::line(&format!(
            "another process has written {}: two of them have rank {rank}. This one writes {name} beside it; give \
             each process its own rank (HANGSCOPE_RANK)",
            path.display()
        ));
        let path = path.with_file_name(name);
        part.replace(&path)?;
        Ok(path)
    }
}

fn because(cause: &Cause) -> String {
    match cause {
        Cause::Timeout(_) => "the time limit is over".to_owned(),
        Cause::Rank(rank, text) => format!("rank {rank} asks for dumps ({text})"),
        Cause::Signal => "a signal asks for a dump".to_owned(),
        Cause::TriggerFile => "the trigger file asks for a dump".to_owned(),
        Cause::Program => "the program asks for a dump".to_owned(),
        Cause::Exit => "the program ends".to_owned(),
    }
}
