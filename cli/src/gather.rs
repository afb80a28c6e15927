//! Reading all files on all cores.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use hangscope_analyzer_core::dump::{self, Fault, FaultKind, Reading};
use hangscope_analyzer_core::shard::{Shard, pack};
use rayon::prelude::*;

use crate::progress::Progress;
use crate::sources::{Content, Source};

/// Most reasons that are printed when nothing could be read.
const REASONS: usize = 8;
/// Sections of a pack that are in memory at a time, for each thread.
const SECTIONS_A_THREAD: usize = 2;

/// Reads all files. Each thread has one file in memory at a time and gathers what it reads; what the threads have is merged at the end. Which
/// thread reads which file changes nothing.
///
/// # Errors
///
/// When there is no dump in any of them.
pub(crate) fn gather(sources: &[Source]) -> Result<Shard> {
    let progress = Progress::new(sources.iter().map(Source::size_bytes).sum());
    let next = AtomicUsize::new(0);
    let packs = Mutex::new(Vec::new());
    let shards: Vec<Shard> = (0..rayon::current_num_threads())
        .into_par_iter()
        .map(|_| {
            let mut shard = Shard::default();
            let mut bytes = Vec::new();
            while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                match source.read(&mut bytes, can_be_dump) {
                    Ok(()) if pack::is_pack(&bytes) => {
                        packs.lock().unwrap_or_else(PoisonError::into_inner).push(source);
                    }
                    Ok(()) => shard.add(dump::read(&source.name, &bytes)),
                    Err(error) => shard.add(unreadable(source, &error)),
                }
                progress.advance(source.size_bytes(), &source.name);
            }
            shard
        })
        .collect();
    let mut all = shards.into_iter().reduce(merged).unwrap_or_default();
    for source in packs.into_inner().unwrap_or_else(PoisonError::into_inner) {
        all.merge(read_pack(source).unwrap_or_else(|error| [unreadable(source, &error)].into_iter().collect()));
    }
    progress.finish();
    if all.is_empty() {
        bail!(nothing_readable(sources.len(), &all));
    }
    Ok(all)
}

fn merged(mut one: Shard, other: Shard) -> Shard {
    one.merge(other);
    one
}

/// Of a large file only the head is read if it can be no dump; of a pack no more is needed here.
fn can_be_dump(head: &[u8]) -> bool {
    if pack::is_pack(head) {
        return false;
    }
    let reading = dump::read("", head);
    !reading.faults.iter().any(|fault| fault.kind == FaultKind::NotADump) || !reading.dumps.is_empty()
}

/// Reads a pack section by section, some at a time.
fn read_pack(source: &Source) -> io::Result<Shard> {
    let path = match &source.content {
        Content::File(path) => path,
        Content::Bytes(bytes) => return Ok(pack::read(&source.name, bytes)),
        Content::Broken(why) | Content::Cut(why) => return Err(io::Error::other(why.clone())),
    };
    let size = path.metadata()?.len();
    let mut reader = pack::PackReader::new(&source.name, size, |offset, len| {
        part(path, offset, len).map_err(|error| error.to_string())
    });
    let places = reader.sections().to_vec();
    for some in places.chunks(SECTIONS_A_THREAD * rayon::current_num_threads()) {
        let sections: Vec<_> = some
            .par_iter()
            .map(|place| {
                let bytes = part(path, place.offset, place.size_bytes).map_err(|error| Fault {
                    kind: FaultKind::Malformed,
                    offset: Some(place.offset),
                    message: format!("the file cannot be read: {error}"),
                })?;
                place.decode(&bytes)
            })
            .collect();
        some.iter().zip(sections).for_each(|(place, section)| reader.put(place, section));
    }
    Ok(reader.finish())
}

/// The bytes of a place in a file.
fn part(path: &Path, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = vec![0; len];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(source: &Source, error: &io::Error) -> Reading {
    let (kind, message) = match &source.content {
        Content::Cut(why) => (FaultKind::Truncated, why.clone()),
        // Nothing is known to be lost behind a link.
        Content::Broken(why) => (FaultKind::NotADump, format!("the file cannot be read: {why}")),
        _ => (FaultKind::Malformed, format!("the file cannot be read: {error}")),
    };
    Reading { file: source.name.clone(), faults: vec![Fault { kind, offset: None, message }], ..Reading::default() }
}

fn nothing_readable(files: usize, shard: &Shard) -> String {
    let mut text = format!("none of {files} files is a readable dump");
    let mut notes: Vec<_> = shard.notes().iter().collect();
    notes.sort_by(|a, b| a.file.cmp(&b.file));
    for note in notes.iter().take(REASONS) {
        for fault in note.faults.iter().take(1) {
            text.push_str(&format!("\n  {}: {}", note.file, fault.message));
        }
    }
    if notes.len() > REASONS {
        text.push_str(&format!("\n  … and {} more", notes.len() - REASONS));
    }
    text.push_str("\nexpected the Flight Recorder dumps that the ranks left behind: one file per rank, pickle or JSON");
    text
}
