//! The dumps that the viewer hands to the page.

use std::path::PathBuf;

use serde::Serialize;

/// The version of [`DumpList`]'s form.
const VERSION: u32 = 1;

/// A dump to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DumpFile {
    /// Where it is on disk.
    pub(crate) path: PathBuf,
    /// What the page calls it: the path below the folder that the user named, with `/` between its parts.
    pub(crate) name: String,
}

/// What `dumps.json` says.
#[derive(Debug, Serialize)]
pub(super) struct DumpList<'files> {
    version: u32,
    /// What the page calls the job; empty where nothing stands for all of it.
    title: &'files str,
    dumps: Vec<DumpListEntry<'files>>,
}

#[derive(Debug, Serialize)]
struct DumpListEntry<'files> {
    name: &'files str,
    size_bytes: u64,
    url: String,
}

impl<'files> DumpList<'files> {
    /// The list, with the sizes as they are now. A file that is gone stays in it with size 0: the page then says so.
    pub(super) fn new(title: &'files str, files: &'files [DumpFile]) -> Self {
        let entry = |(index, file): (usize, &'files DumpFile)| DumpListEntry {
            name: &file.name,
            size_bytes: file.path.metadata().map_or(0, |metadata| metadata.len()),
            url: format!("dumps/{index}"),
        };
        Self { version: VERSION, title, dumps: files.iter().enumerate().map(entry).collect() }
    }
}
