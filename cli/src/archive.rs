//! Archives of dumps: tar, tar.gz and zip, told by their content.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// Most bytes that an archive may unpack to.
const UNPACKED_LIMIT_BYTES: u64 = 16 << 30;
/// Where a tar file says that it is one, and how.
const TAR_MARK: (usize, &[u8]) = (257, b"ustar");

/// What was in an archive.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// Name and content of each file. What is left of a file at which the archive breaks off is one, too.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// Why there may have been more.
    pub(crate) broken: Option<io::Error>,
}

/// The files in an archive; `None` for a file that is no archive.
///
/// # Errors
///
/// When the file cannot be read at all.
pub(crate) fn members(path: &Path) -> io::Result<Option<Members>> {
    let mut file = File::open(path)?;
    let mut head = [0; 512];
    let length = read_up_to(&mut file, &mut head)?;
    file.seek(SeekFrom::Start(0))?;
    let head = head.get(..length).unwrap_or(&[]);
    if is_tar(head) {
        return Ok(Some(tar_members(file)));
    }
    if head.starts_with(b"PK\x03\x04") {
        return zip_members(file).map(Some);
    }
    if head.starts_with(&[0x1f, 0x8b]) {
        let mut inner = [0; 512];
        // A broken gzip file is the reader's to describe.
        let length = read_up_to(&mut MultiGzDecoder::new(&file), &mut inner).unwrap_or(0);
        file.seek(SeekFrom::Start(0))?;
        if is_tar(inner.get(..length).unwrap_or(&[])) {
            return Ok(Some(tar_members(MultiGzDecoder::new(file))));
        }
    }
    Ok(None)
}

fn is_tar(head: &[u8]) -> bool {
    head.get(TAR_MARK.0..).is_some_and(|rest| rest.starts_with(TAR_MARK.1))
}

fn read_up_to(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

impl Members {
    /// Reads one file; false when the archive breaks off in it.
    fn read(&mut self, name: String, mut reader: impl Read) -> bool {
        let mut bytes = Vec::new();
        let outcome = reader.read_to_end(&mut bytes);
        self.files.push((name, bytes));
        self.broken = outcome.err();
        self.broken.is_none()
    }
}

/// A reader that tells whether its end was reached.
struct Watched<'a, R> {
    reader: R,
    ended: &'a Cell<bool>,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            self.ended.set(true);
        }
        Ok(count)
    }
}

fn tar_members(reader: impl Read) -> Members {
    let ended = Cell::new(false);
    let mut archive = tar::Archive::new(Watched { reader: reader.take(UNPACKED_LIMIT_BYTES), ended: &ended });
    let mut members = Members::default();
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(error) => return Members { broken: Some(error), ..members },
    };
    for entry in entries {
        let named = entry.and_then(|entry| Ok((entry.path()?.to_string_lossy().into_owned(), entry)));
        match named {
            Ok((name, entry)) if entry.header().entry_type().is_file() => {
                if !members.read(name, entry) {
                    break;
                }
            }
            Ok(_) => {}
            Err(error) => {
                members.broken = Some(error);
                break;
            }
        }
    }
    // Two empty blocks end a tar file, and nobody reads further.
    if members.broken.is_none() && ended.get() {
        members.broken = Some(io::Error::new(io::ErrorKind::UnexpectedEof, "its end is not there"));
    }
    members
}

fn zip_members(file: File) -> io::Result<Members> {
    let mut archive = match zip::ZipArchive::new(&file) {
        Ok(archive) => archive,
        // The list of the files is at the end; without it they are read one after the other.
        Err(error) => return zip_members_in_turn(file, error.into()),
    };
    let mut members = Members::default();
    let mut left = UNPACKED_LIMIT_BYTES;
    for at in 0..archive.len() {
        let entry = match archive.by_index(at) {
            Ok(entry) if entry.is_file() => entry,
            Ok(_) => continue,
            Err(error) => {
                members.broken = Some(error.into());
                continue;
            }
        };
        let before = members.broken.take();
        members.read(entry.name().to_owned(), entry.take(left));
        members.broken = before.or(members.broken);
        left = left.saturating_sub(members.files.last().map_or(0, |last| last.1.len() as u64));
    }
    Ok(members)
}

fn zip_members_in_turn(mut file: File, broken: io::Error) -> io::Result<Members> {
    file.seek(SeekFrom::Start(0))?;
    let mut members = Members::default();
    let mut file = io::BufReader::new(file);
    let mut left = UNPACKED_LIMIT_BYTES;
    while let Ok(Some(entry)) = zip::read::read_zipfile_from_stream(&mut file) {
        if entry.is_file() && !members.read(entry.name().to_owned(), entry.take(left)) {
            break;
        }
        left = left.saturating_sub(members.files.last().map_or(0, |last| last.1.len() as u64));
    }
    Ok(Members { broken: Some(broken), ..members })
}
