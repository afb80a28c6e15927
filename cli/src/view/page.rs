//! The page's files, as the build script put them into the command.

use anyhow::{Context as _, Result};

/// Tells the page where the list of dumps is. On any other server it isn't there, and the page asks for files.
const MARKER: &str = "\n    <meta name=\"hangscope-dumps\" content=\"dumps.json\">";

/// One file of the page.
#[derive(Debug)]
pub(super) struct PageFile {
    pub(super) name: &'static str,
    pub(super) content: &'static [u8],
}

static FILES: &[PageFile] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// The file of that name. Names are compared as they are: nothing in a request can lead out of this table.
pub(super) fn find(name: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|file| file.name == name)
}

impl PageFile {
    /// By the name's end.
    pub(super) fn content_type(&self) -> &'static str {
        match self.name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("css") => "text/css; charset=utf-8",
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("json") => "application/json",
            Some("svg") => "image/svg+xml",
            Some("wasm") => "application/wasm",
            _ => "application/octet-stream",
        }
    }
}

/// `index.html` with the marker in its head.
pub(super) fn index() -> Result<String> {
    let file = find("index.html").context("this build of hangscope has no page inside")?;
    let html = std::str::from_utf8(file.content).context("the page inside is not UTF-8")?;
    let (before, after) = html.split_once("<head>").context("the page inside has no <head>")?;
    Ok(format!("{before}<head>{MARKER}{after}"))
}
