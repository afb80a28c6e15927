//! One file: what it is, and the documents in it.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::digest::Origin;
use super::json::{self, Documents};
use super::pickle::Machine;
use super::{Dump, Encoding, Fault, FaultKind, Reading, foreign, gzip, rank_of_file_name};

/// Reads the dumps in a file.
///
/// `file` is the name under which the user knows the file; its last part says the rank when nothing in the file does. The kind of the
/// file is found from its first bytes, never from its name.
pub fn read(file: &str, bytes: &[u8]) -> Reading {
    let mut reading = Reading { file: file.to_string(), size_bytes: bytes.len() as u64, ..Reading::default() };
    if bytes.starts_with(&gzip::MAGIC) {
        let inflated = gzip::inflate(bytes);
        let broken = inflated.fault.is_some();
        if !(broken && inflated.bytes.is_empty()) {
            read_plain(&inflated.bytes, &mut reading);
        }
        if let Some(fault) = inflated.fault {
            // The end of the pickle or of the JSON is missing because the end of the gzip file is.
            reading.faults.retain(|known| known.kind != FaultKind::Truncated);
            reading.faults.push(fault);
        }
    } else {
        read_plain(bytes, &mut reading);
    }
    if let [only] = reading.dumps.as_mut_slice() {
        only.rank = only.rank.or_else(|| rank_of_file_name(file));
    }
    reading
}

fn read_plain(bytes: &[u8], reading: &mut Reading) {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Some(&first) = text.iter().find(|byte| !byte.is_ascii_whitespace()) else {
        let message = if bytes.is_empty() { "the file is empty" } else { "the file holds blanks only" };
        let message = format!("{message}; the rank was perhaps killed before it could write its dump");
        reading.faults.push(Fault { kind: FaultKind::Empty, offset: None, message });
        return;
    };
    let skipped = bytes.len() - text.len();
    if bytes.first() == Some(&0x80) || looks_like_old_pickle(bytes) {
        read_pickles(bytes, reading);
    } else if matches!(first, b'{' | b'[') || Documents::new(text).next_start().is_ok() {
        read_documents(text, skipped, reading);
    } else {
        reading.faults.push(not_a_dump(bytes));
    }
}

/// How many documents are read in a file of `size` bytes. The smallest dump takes some 200.
fn max_documents(size: usize) -> usize {
    64 + size / 128
}

fn too_many(count: usize, at: usize) -> Fault {
    Fault {
        kind: FaultKind::Malformed,
        offset: Some(at as u64),
        message: format!(
            "the first {count} documents of this file were read; more are left out, as no recorder writes so many"
        ),
    }
}

fn not_a_dump(bytes: &[u8]) -> Fault {
    let kind = foreign::describe(bytes);
    Fault {
        kind: FaultKind::NotADump,
        offset: None,
        message: format!("this is no Flight Recorder dump (a pickle or JSON); it looks like {kind}"),
    }
}

/// Protocols 0 and 1 have no header, but what they begin with is no JSON.
fn looks_like_old_pickle(bytes: &[u8]) -> bool {
    [&b"(d"[..], b"(l", b"}(", b"}q", b"](", b"]q"].iter().any(|start| bytes.starts_with(start))
}

/// Pickles one after another: one as a rule.
fn read_pickles(bytes: &[u8], reading: &mut Reading) {
    let mut at = 0;
    for _ in 0..max_documents(bytes.len()) {
        let rest = bytes.get(at..).unwrap_or(&[]);
        let mut machine = Machine::new(rest);
        let outcome = machine.run();
        let used = machine.position();
        let origin = Origin { file: &reading.file, encoding: Encoding::Pickle };
        let (sink, stack) = machine.into_remains();
        let (dumps, mut faults, fatal) = match outcome {
            Ok(top) => {
                let (dumps, faults) = sink.finish(top, origin);
                (dumps, faults, None)
            }
            Err(fatal) => {
                let (dumps, faults) = sink.finish_broken(&stack, origin);
                (dumps, faults, Some(fatal))
            }
        };
        let broken = fatal.is_some();
        faults.extend(fatal);
        add(reading, dumps, faults, at);
        at += used;
        let rest = bytes.get(at..).unwrap_or(&[]);
        if broken || rest.iter().all(|&byte| byte == 0 || byte.is_ascii_whitespace()) {
            return;
        }
        if rest.first() != Some(&0x80) || used == 0 {
            let message = format!("{} bytes follow the end of the pickle and are left out", rest.len());
            reading.faults.push(Fault { kind: FaultKind::Malformed, offset: Some(at as u64), message });
            return;
        }
    }
    reading.faults.push(too_many(max_documents(bytes.len()), at));
}

/// JSON documents one after another: one as a rule.
fn read_documents(text: &[u8], skipped: usize, reading: &mut Reading) {
    let mut documents = Documents::new(text);
    let mut at = 0;
    for _ in 0..max_documents(text.len()) {
        let start = match documents.next_start() {
            Ok(Some(start)) => start,
            Ok(None) => return,
            Err(at) => {
                let message = format!("{} bytes follow the end of the JSON and are left out", text.len() - at);
                let offset = Some((at + skipped) as u64);
                reading.faults.push(Fault { kind: FaultKind::Malformed, offset, message });
                return;
            }
        };
        let document = json::read_document(text.get(start.at..).unwrap_or(&[]));
        let origin = Origin { file: &reading.file, encoding: Encoding::Json };
        let (mut dumps, mut faults, fatal) = match document.outcome {
            Ok(top) => {
                let (dumps, faults) = document.sink.finish(top, origin);
                (dumps, faults, None)
            }
            Err(fatal) => {
                let (dumps, faults) = document.sink.finish_broken(&document.stack, origin);
                (dumps, faults, Some(fatal))
            }
        };
        let broken = fatal.is_some();
        if let Some(mut fatal) = fatal {
            if dumps.is_empty() && reading.dumps.is_empty() && fatal.kind == FaultKind::Malformed {
                // Text that happens to begin with a bracket.
                fatal.kind = FaultKind::NotADump;
                fatal.message = String::from(
                    "this is no Flight Recorder dump (a pickle or JSON): it begins like JSON, and is none from this place on",
                );
            }
            faults.push(fatal);
        }
        if let [only] = dumps.as_mut_slice() {
            only.rank = only.rank.or(start.rank);
        }
        add(reading, dumps, faults, start.at + skipped);
        if broken || document.len == 0 {
            return;
        }
        at = start.at + document.len;
        documents.skip_to(at);
    }
    if !matches!(documents.next_start(), Ok(None)) {
        reading.faults.push(too_many(max_documents(text.len()), at + skipped));
    }
}

/// Faults of one file that are kept. A file that has more of them is broken in some other way than they tell.
const MAX_FAULTS: usize = 100;

fn add(reading: &mut Reading, dumps: Vec<Dump>, faults: Vec<Fault>, base: usize) {
    reading.dumps.extend(dumps);
    let room = MAX_FAULTS.saturating_sub(reading.faults.len());
    reading.faults.extend(faults.into_iter().take(room).map(|mut fault| {
        // A document that is not the first one has a place, even when the fault is about all of it.
        let offset = fault.offset.or((base > 0).then_some(0));
        fault.offset = offset.map(|offset| offset + base as u64);
        fault
    }));
}
