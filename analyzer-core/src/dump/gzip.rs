//! gzip, around either encoding.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use crate::checksum::crc32;

use super::{Fault, FaultKind};

/// The first bytes of a gzip file.
pub(super) const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// A dump is full of repetition and packs well, up to about 1:20. What packs better than this was made to fill memory.
const MAX_RATIO: usize = 64;
/// Room for small files, whatever their ratio.
const ALWAYS_ALLOWED: usize = 1 << 20;
/// The most that one file may hold.
const MAX_SIZE: usize = 1 << 30;

/// What a gzip file held.
#[derive(Debug)]
pub(super) struct Inflated {
    pub(super) bytes: Vec<u8>,
    /// Why there is no more of it.
    pub(super) fault: Option<Fault>,
}

/// Unpacks a gzip file, also one of several members. What came before a fault is kept.
pub(super) fn inflate(packed: &[u8]) -> Inflated {
    let limit = packed.len().saturating_mul(MAX_RATIO).saturating_add(ALWAYS_ALLOWED).min(MAX_SIZE);
    let mut bytes = Vec::new();
    let mut rest = packed;
    let fault = loop {
        let at = packed.len() - rest.len();
        match inflate_member(rest, &mut bytes, limit) {
            Ok(after) if after.starts_with(&MAGIC) => rest = after,
            // Padding after the last member is allowed.
            Ok(_) => break None,
            Err((kind, message)) => {
                let place = format!("{message} (in the gzip member at offset {at} of the packed file)");
                break Some(Fault { kind, offset: None, message: place });
            }
        }
    };
    Inflated { bytes, fault }
}

type Broken = (FaultKind, String);

fn inflate_member<'a>(packed: &'a [u8], out: &mut Vec<u8>, limit: usize) -> Result<&'a [u8], Broken> {
    let mut rest = after_header(packed).ok_or_else(ends_early)?;
    let start = out.len();
    let mut state = DecompressorOxide::new();
    let mut done = start;
    loop {
        if done == out.len() {
            if done >= limit {
                return Err((
                    FaultKind::Malformed,
                    format!(
                        "the file unpacks to more than {limit} bytes, far more than a dump of its size; the rest is left out"
                    ),
                ));
            }
            // Twice as much each time, and never much more than what came out.
            let room = done.max(packed.len().saturating_mul(4)).clamp(4096, limit);
            let len = done.saturating_add(room).min(limit);
            out.reserve_exact(len - out.len());
            out.resize(len, 0);
        }
        // The window of the member must not see the one before it.
        let window = out.get_mut(start..).unwrap_or(&mut []);
        let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, read, written) = decompress(&mut state, rest, window, done - start, flags);
        rest = rest.get(read..).unwrap_or(&[]);
        done += written;
        match status {
            TINFLStatus::Done => break,
            TINFLStatus::HasMoreOutput => {}
            TINFLStatus::FailedCannotMakeProgress | TINFLStatus::NeedsMoreInput => {
                out.truncate(done);
                return Err(ends_early());
            }
            _ => {
                out.truncate(done);
                return Err((
                    FaultKind::Malformed,
                    String::from("the packed data are damaged; what came before is kept"),
                ));
            }
        }
    }
    out.truncate(done);
    let Some((trailer, after)) = rest.split_first_chunk::<8>() else {
        return Err(ends_early());
    };
    let [c0, c1, c2, c3, ..] = *trailer;
    let sum = crc32(out.get(start..).unwrap_or(&[]));
    if sum != u32::from_le_bytes([c0, c1, c2, c3]) {
        return Err((
            FaultKind::Malformed,
            String::from("the checksum of the packed data is wrong; some of it may be damaged"),
        ));
    }
    Ok(after)
}

fn ends_early() -> Broken {
    (FaultKind::Truncated, String::from("the gzip file ends in the middle; what came before is kept"))
}

/// Skips the header with its optional fields.
fn after_header(packed: &[u8]) -> Option<&[u8]> {
    let (head, mut rest) = packed.split_first_chunk::<10>()?;
    let flags = head[3];
    if flags & 4 != 0 {
        let (len, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*len))..)?;
    }
    for field in [8, 16] {
        if flags & field != 0 {
            let end = rest.iter().position(|&byte| byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}
