//! Archives of dumps: tar, tar.gz and zip, told by their content.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// Most bytes that an archive may unpack to.
const UNPACKED_LIMIT_BYTES: u64 = 16 << 30;
/// Where a tar file says that it is one, and how.
const TAR_MARK: (usize, &[u8]) = (257, b"ustar");

/// Name and content of one file in an archive.
type Member = (String, Vec<u8>);

/// The files in an archive; `None` for a file that is no archive.
pub(crate) fn members(path: &Path) -> io::Result<Option<Vec<Member>>> {
    let mut file = File::open(path)?;
    let mut head = [0; 512];
    let length = read_up_to(&mut file, &mut head)?;
    file.seek(SeekFrom::Start(0))?;
    let head = head.get(..length).unwrap_or(&[]);
    if is_tar(head) {
        return tar_members(file).map(Some);
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
            return tar_members(MultiGzDecoder::new(file)).map(Some);
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

fn tar_members(reader: impl Read) -> io::Result<Vec<Member>> {
    let mut archive = tar::Archive::new(reader.take(UNPACKED_LIMIT_BYTES));
    let mut members = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        if entry.header().entry_type().is_file() {
            let name = entry.path()?.to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            members.push((name, bytes));
        }
    }
    Ok(members)
}

fn zip_members(file: File) -> io::Result<Vec<Member>> {
    let mut archive = zip::ZipArchive::new(file)?;
    let mut members = Vec::new();
    let mut left = UNPACKED_LIMIT_BYTES;
    for at in 0..archive.len() {
        let entry = archive.by_index(at)?;
        if entry.is_file() {
            let name = entry.name().to_owned();
            let mut bytes = Vec::new();
            entry.take(left).read_to_end(&mut bytes)?;
            left = left.saturating_sub(bytes.len() as u64);
            members.push((name, bytes));
        }
    }
    Ok(members)
}
