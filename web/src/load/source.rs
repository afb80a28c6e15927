//! Where the bytes of a dump come from.

use web_sys::File;

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
    pub(crate) fn from_disk(name: String, file: File) -> Self {
        Self { name, size_bytes: file.size().max(0.0) as u64, place: SourcePlace::Disk(file) }
    }
}
