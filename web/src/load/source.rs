//! Where the bytes of a dump come from.

use web_sys::File;

use crate::load::protocol::Request;
use crate::load::worker_handle::WorkerHandle;

/// How the name of a pack ends.
pub(crate) const PACK_ENDING: &str = ".hangscope";

/// One file to read.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Its path, from the name of the dropped folder on: what the report calls it.
    pub(crate) name: String,
    pub(crate) size_bytes: u64,
    pub(crate) place: SourcePlace,
}

#[derive(Clone, Debug)]
pub(crate) enum SourcePlace {
    /// On the user's disk.
    Disk(File),
    /// On the server that the page came from: an absolute address.
    Server(String),
}

/// Files that were opened together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opened {
    /// What to call them: the folder's name, if there is one.
    pub(crate) title: String,
    pub(crate) sources: Vec<Source>,
}

impl Source {
    /// Whether it is a pack, by its name.
    pub(crate) fn is_pack(&self) -> bool {
        self.name.ends_with(PACK_ENDING)
    }

    /// Has a worker read it.
    pub(crate) fn send_to(&self, worker: &WorkerHandle) {
        let name = self.name.clone();
        match &self.place {
            SourcePlace::Disk(file) => worker.send(&Request::ReadFile { name }, Some(file)),
            SourcePlace::Server(url) => worker.send(&Request::ReadUrl { name, url: url.clone() }, None),
        }
    }

    pub(crate) fn from_disk(name: String, file: File) -> Self {
        Self { name, size_bytes: file.size().max(0.0) as u64, place: SourcePlace::Disk(file) }
    }
}
