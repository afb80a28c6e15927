//! `hangscope pack`.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use hangscope_analyzer_core::shard::pack::PackWriter;
use rayon::prelude::*;

use crate::args::Pack;
use crate::gather::gather;
use crate::sources::{self, Source};

/// Writes the pack and says on standard error what is in it; the exit status is 0.
pub(crate) fn run(options: &Pack) -> Result<u8> {
    let sources = sources::find(&options.paths)?;
    let read_bytes: u64 = sources.iter().map(Source::size_bytes).sum();
    let shard = gather(&sources)?;
    let (dumps, entries) = (shard.len(), shard.entries());
    let unread: Vec<String> = shard
        .notes()
        .iter()
        .filter_map(|note| note.faults.first().map(|fault| format!("{}: {}", note.file, fault.message)))
        .collect();
    let writer = PackWriter::new(shard);
    write_whole(&options.output, |file| {
        file.write_all(&writer.head())?;
        // Some sections at a time, each made by one thread.
        let some = 2 * rayon::current_num_threads();
        for from in (0..writer.section_count()).step_by(some) {
            let until = (from + some).min(writer.section_count());
            let sections: Vec<Vec<u8>> = (from..until).into_par_iter().map(|at| writer.section(at)).collect();
            sections.iter().try_for_each(|section| file.write_all(section))?;
        }
        file.sync_all()
    })?;
    let written = fs::metadata(&options.output)?.len();
    let mut out = io::stderr().lock();
    for line in &unread {
        writeln!(out, "{line}")?;
    }
    writeln!(
        out,
        "{}: {} with {entries} entries, {} of {}; open it with `hangscope analyze` or `hangscope view`, or drop it on the page",
        options.output.display(),
        if dumps == 1 { "1 dump".to_owned() } else { format!("{dumps} dumps") },
        indicatif::HumanBytes(written),
        indicatif::HumanBytes(read_bytes),
    )?;
    Ok(0)
}

/// Writes a file whole or not at all: until then what was there stays.
fn write_whole(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = || format!("failed to write {}", path.display());
    let mut builder = tempfile::Builder::new();
    // As any other file, and not for its owner alone: it is made to be given away.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).with_context(failed)?;
    write(file.as_file_mut()).with_context(failed)?;
    file.persist(path).with_context(failed)?;
    Ok(())
}
