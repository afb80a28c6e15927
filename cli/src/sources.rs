//! Which files the user means.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hangscope_analyzer_core::dump::is_bystander;
use walkdir::WalkDir;

use crate::archive;
use crate::view::DumpFile;

/// One file to read.
#[derive(Debug)]
pub(crate) struct Source {
    /// What the user calls it, with `/` between its parts.
    pub(crate) name: String,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    /// On disk.
    File(PathBuf),
    /// From an archive or from standard input.
    Bytes(Vec<u8>),
    /// Nothing: why the path cannot be followed, such as a link that leads nowhere.
    Broken(String),
    /// Nothing: an archive, whose files are sources of their own, may have held more; and why.
    Cut(String),
}

/// Files larger than this are looked at before they are read whole: a folder may hold checkpoints too.
const LARGE_BYTES: u64 = 4 << 20;
/// So many bytes tell whether a file can be a dump.
const HEAD_BYTES: u64 = 64 << 10;

impl Source {
    /// Size, as far as it is known without reading.
    pub(crate) fn size_bytes(&self) -> u64 {
        match &self.content {
            Content::File(path) => path.metadata().map_or(0, |metadata| metadata.len()),
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Broken(_) | Content::Cut(_) => 0,
        }
    }

    /// Reads the file in place of what is in `bytes`, and of a large file that is no dump only its head.
    pub(crate) fn read(&self, bytes: &mut Vec<u8>, looks_like_dump: impl Fn(&[u8]) -> bool) -> io::Result<()> {
        bytes.clear();
        match &self.content {
            Content::Bytes(all) => {
                bytes.extend_from_slice(all);
                Ok(())
            }
            Content::Broken(why) | Content::Cut(why) => Err(io::Error::other(why.clone())),
            Content::File(path) => {
                let mut file = fs::File::open(path)?;
                let size = file.metadata()?.len();
                if size > LARGE_BYTES {
                    (&mut file).take(HEAD_BYTES).read_to_end(bytes)?;
                    if !looks_like_dump(bytes) {
                        return Ok(());
                    }
                }
                bytes.reserve_exact(usize::try_from(size).unwrap_or(0).saturating_sub(bytes.len()));
                file.read_to_end(bytes)?;
                Ok(())
            }
        }
    }
}

/// Finds all files below the paths, sorted by name. Archives are opened.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for path in paths {
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).context("failed to read standard input")?;
            found.push(Source { name: "-".into(), content: Content::Bytes(bytes) });
            continue;
        }
        let metadata = fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?;
        if !metadata.is_dir() {
            add_file(path.clone(), shown(path), &mut found)?;
            continue;
        }
        // Below one folder names begin with the folder's own, as in the browser; several folders need telling apart.
        let head = if paths.len() == 1 { path.file_name().map(shown).unwrap_or_default() } else { shown(path) };
        for entry in WalkDir::new(path).follow_links(true).sort_by_file_name() {
            let named = |at: &Path| {
                let below = at.strip_prefix(path).map(shown).unwrap_or_default();
                if head.is_empty() { below } else { format!("{}/{below}", head.trim_end_matches('/')) }
            };
            let entry = match entry {
                Ok(entry) => entry,
                // One bad link is no reason to leave out the files beside it.
                Err(error) => {
                    let why = match error.loop_ancestor() {
                        Some(_) => "a link that leads back to a folder around it".to_owned(),
                        None => error.io_error().map_or_else(|| error.to_string(), ToString::to_string),
                    };
                    found.push(Source { name: named(error.path().unwrap_or(path)), content: Content::Broken(why) });
                    continue;
                }
            };
            if entry.file_type().is_file() && !is_bystander(&entry.file_name().to_string_lossy()) {
                let name = named(entry.path());
                if let Err(error) = add_file(entry.path().to_path_buf(), name.clone(), &mut found) {
                    found.push(Source { name, content: Content::Broken(format!("{:#}", error.root_cause())) });
                }
            }
        }
    }
    if found.is_empty() {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        bail!(
            "no file in {}; expected the dumps that the ranks left behind, such as nccl_trace_rank_0 \
             (PyTorch writes them with TORCH_FR_BUFFER_SIZE=2000 and TORCH_FR_DUMP_ON_TIMEOUT=true)",
            names.join(", ")
        );
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn add_file(path: PathBuf, name: String, found: &mut Vec<Source>) -> Result<()> {
    let Some(members) = archive::members(&path).with_context(|| format!("cannot open {}", path.display()))? else {
        found.push(Source { name, content: Content::File(path) });
        return Ok(());
    };
    let named = |(member, bytes)| Source { name: format!("{name}/{member}"), content: Content::Bytes(bytes) };
    let count = members.files.len();
    found.extend(members.files.into_iter().map(named));
    if let Some(error) = members.broken {
        let files = if count == 1 { "one file was" } else { &format!("{count} files were") };
        let why = format!(
            "the archive is damaged or breaks off ({error}): {files} found in it, and more may be lost; copy it again or pack it again"
        );
        found.push(Source { name, content: Content::Cut(why) });
    }
    Ok(())
}

fn shown(path: impl AsRef<OsStr>) -> String {
    path.as_ref().to_string_lossy().replace('\\', "/")
}

/// The sources as files, those from archives written to `folder`. What cannot be read is told on standard error.
pub(crate) fn on_disk(sources: Vec<Source>, folder: &Path) -> Result<Vec<DumpFile>> {
    let mut files = Vec::with_capacity(sources.len());
    for (at, source) in sources.into_iter().enumerate() {
        let path = match source.content {
            Content::File(path) => path,
            Content::Bytes(bytes) => {
                let path = folder.join(at.to_string());
                fs::write(&path, bytes).with_context(|| format!("failed to unpack {}", source.name))?;
                path
            }
            Content::Broken(why) | Content::Cut(why) => {
                eprintln!("hangscope: {}: {why}", source.name);
                continue;
            }
        };
        files.push(DumpFile { path, name: source.name });
    }
    Ok(files)
}
