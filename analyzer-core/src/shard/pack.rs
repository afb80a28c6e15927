//! Packs: a shard as one file.
//!
//! A pack is a head (eight bytes that tell what it is, and the version), then sections, each with its own head: what it is, its
//! sizes, a checksum over all of it, and deflated bytes. The first section has what the dumps share, the following ones some dumps
//! each, the last one says how many dumps there are, so that a cut is noticed. What is in the sections is in `wire.rs`. Sections are written and
//! read independently, by several threads if there are some.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::{Deserialize, Serialize};

use super::wire::{WireDump, WireTables};
use super::{FileNote, Shard, ShardDump};
use crate::checksum::crc32;
use crate::dump::{Fault, FaultKind};
use crate::small_sort::SmallSort as _;

/// The first bytes of every pack: not text, and changed by transfers that change line ends.
const MAGIC: [u8; 8] = *b"\x89HSPACK\n";
/// The version that is written, and the newest one that can be read.
const VERSION: u32 = 1;
/// Bytes of a pack before its first section.
const HEAD_BYTES: usize = 12;
/// Bytes of a section before what is in it.
const SECTION_HEAD_BYTES: usize = 13;
/// Dumps of one section.
const DUMPS: usize = 64;
/// Deflate's effort: more takes twice the time for a few percent.
const LEVEL: u8 = 4;
/// Largest section that is believed in, unpacked.
const MAX_SECTION_BYTES: u32 = 1 << 30;
/// Deflate cannot make more of a byte.
const MAX_RATIO: u64 = 1040;

/// Whether bytes are the beginning of a pack.
pub fn is_pack(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Tables = 1,
    Dumps = 2,
    End = 3,
}

#[derive(Serialize, Deserialize)]
struct End {
    dumps: u64,
}

/// A shard on its way into a file.
#[derive(Debug)]
pub struct PackWriter {
    shard: Shard,
}

impl PackWriter {
    /// Puts the shard in order: the same files give the same pack, byte for byte.
    pub fn new(shard: Shard) -> PackWriter {
        PackWriter { shard: shard.in_order() }
    }

    /// The first bytes of the file.
    pub fn head(&self) -> Vec<u8> {
        let mut head = MAGIC.to_vec();
        head.extend(VERSION.to_le_bytes());
        head
    }

    /// How many sections follow.
    pub fn section_count(&self) -> usize {
        self.shard.dumps.len().div_ceil(DUMPS) + 2
    }

    /// A section, as it stands in the file.
    pub fn section(&self, at: usize) -> Vec<u8> {
        // Nothing in them can fail to be written: there are no maps and every length is known.
        if at == 0 {
            let tables = WireTables::of(&self.shard.symbols, &self.shard.configs, &self.shard.notes);
            return section(Tag::Tables, &postcard::to_allocvec(&tables).unwrap_or_default());
        }
        match self.shard.dumps.chunks(DUMPS).nth(at - 1) {
            Some(dumps) => {
                let dumps: Vec<WireDump> = dumps.iter().map(WireDump::of).collect();
                section(Tag::Dumps, &postcard::to_allocvec(&dumps).unwrap_or_default())
            }
            None => {
                let end = End { dumps: self.shard.dumps.len() as u64 };
                section(Tag::End, &postcard::to_allocvec(&end).unwrap_or_default())
            }
        }
    }

    /// The whole file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        (0..self.section_count()).for_each(|at| bytes.extend(self.section(at)));
        bytes
    }
}

fn section(tag: Tag, raw: &[u8]) -> Vec<u8> {
    let packed = compress_to_vec(raw, LEVEL);
    let mut bytes = Vec::with_capacity(packed.len() + SECTION_HEAD_BYTES);
    bytes.push(tag as u8);
    bytes.extend((raw.len() as u32).to_le_bytes());
    bytes.extend((packed.len() as u32).to_le_bytes());
    let checksum = checksum(&bytes, &packed);
    bytes.extend(checksum.to_le_bytes());
    bytes.extend(packed);
    bytes
}

/// Over a section's sizes and bytes.
fn checksum(head: &[u8], packed: &[u8]) -> u32 {
    let mut summed = head.to_vec();
    summed.extend(crc32(packed).to_le_bytes());
    crc32(&summed)
}

/// Where a section of a pack is.
#[derive(Clone, Debug)]
pub struct SectionPlace {
    /// Where its bytes begin in the file.
    pub offset: u64,
    /// How many bytes it has there.
    pub size_bytes: usize,
    tag: Tag,
    raw_bytes: u32,
    head: [u8; 9],
    checksum: u32,
}

/// What a section holds.
#[derive(Debug)]
pub struct Section(Content);

#[derive(Debug)]
enum Content {
    Tables(alloc::boxed::Box<Shard>),
    Dumps(Vec<ShardDump>),
    End(u64),
}

/// Bytes of a pack that cannot be got, as a phrase.
pub type Unread = String;

/// A pack on its way from a file: finds the sections, then takes what is in them, in any order.
#[derive(Debug)]
pub struct PackReader {
    file: String,
    places: Vec<SectionPlace>,
    tables: Option<Shard>,
    dumps: Vec<(u64, Vec<ShardDump>)>,
    expected: Option<u64>,
    faults: Vec<Fault>,
}

impl PackReader {
    /// Looks for the sections of a pack of `size_bytes`, of which `bytes` gives those of a place and length.
    pub fn new(
        file: &str,
        size_bytes: u64,
        mut bytes: impl FnMut(u64, usize) -> Result<Vec<u8>, Unread>,
    ) -> PackReader {
        let mut reader = PackReader {
            file: file.into(),
            places: Vec::new(),
            tables: None,
            dumps: Vec::new(),
            expected: None,
            faults: Vec::new(),
        };
        let mut get = |offset: u64, len: usize| {
            let whole = offset.checked_add(len as u64).is_some_and(|end| end <= size_bytes);
            if whole { bytes(offset, len).map(Some) } else { Ok(None) }
        };
        if let Err(fault) = reader.find_sections(size_bytes, &mut get) {
            reader.faults.push(fault);
        }
        reader
    }

    fn find_sections(
        &mut self,
        size_bytes: u64,
        get: &mut impl FnMut(u64, usize) -> Result<Option<Vec<u8>>, Unread>,
    ) -> Result<(), Fault> {
        let unread = |offset: u64| move |why: Unread| fault(FaultKind::Malformed, offset, why);
        let head = get(0, HEAD_BYTES).map_err(unread(0))?.ok_or_else(|| cut(size_bytes))?;
        let version = head.get(MAGIC.len()..).and_then(number).unwrap_or_default();
        if !is_pack(&head) {
            return Err(fault(FaultKind::NotADump, 0, "this is no pack: make one with `hangscope pack`".into()));
        }
        if version != VERSION {
            let message = format!(
                "this pack has format {version}, and this hangscope reads format {VERSION}: {}",
                if version > VERSION { "update hangscope" } else { "pack the dumps again" }
            );
            return Err(fault(FaultKind::Malformed, 8, message));
        }
        let mut offset = HEAD_BYTES as u64;
        loop {
            let head = get(offset, SECTION_HEAD_BYTES).map_err(unread(offset))?.ok_or_else(|| cut(offset))?;
            let place = SectionPlace::of(&head, offset + SECTION_HEAD_BYTES as u64)
                .ok_or_else(|| fault(FaultKind::Malformed, offset, damaged("no section begins here")))?;
            let end = place.offset + place.size_bytes as u64;
            if end > size_bytes {
                return Err(cut(size_bytes));
            }
            let is_end = place.tag == Tag::End;
            self.places.push(place);
            if is_end && end < size_bytes {
                let message =
                    "the pack ends here, and what follows is left out; packs are merged by `hangscope pack A B -o C`";
                return Err(fault(FaultKind::Malformed, end, message.into()));
            }
            if is_end {
                return Ok(());
            }
            offset = end;
        }
    }

    /// The sections that were found.
    pub fn sections(&self) -> &[SectionPlace] {
        &self.places
    }

    /// Takes a section, or what was wrong with it.
    pub fn put(&mut self, place: &SectionPlace, section: Result<Section, Fault>) {
        match section.map(|section| section.0) {
            Ok(Content::Tables(tables)) => self.tables = Some(*tables),
            Ok(Content::Dumps(dumps)) => self.dumps.push((place.offset, dumps)),
            Ok(Content::End(dumps)) => self.expected = Some(dumps),
            Err(fault) => self.faults.push(fault),
        }
    }

    /// All that could be read; what could not is a note on the file.
    pub fn finish(mut self) -> Shard {
        let found: usize = self.dumps.iter().map(|(_, dumps)| dumps.len()).sum();
        let mut shard = match self.tables {
            Some(tables) => tables,
            None => {
                // Nothing can be understood without what the dumps share.
                self.dumps.clear();
                Shard::default()
            }
        };
        if let Some(lost) = self.expected.and_then(|all| all.checked_sub(found as u64)).filter(|&lost| lost > 0) {
            self.faults.push(Fault {
                kind: FaultKind::Malformed,
                offset: None,
                message: format!("{lost} of the dumps in this pack are lost; copy it again or pack them again"),
            });
        }
        self.dumps.sort_small_by_key(|item| item.0);
        shard.dumps.extend(self.dumps.into_iter().flat_map(|item| item.1));
        self.faults.sort_small_by_key(|fault| (fault.offset.is_none(), fault.offset));
        if !self.faults.is_empty() {
            let has_dump = !shard.dumps.is_empty();
            shard.notes.push(FileNote { file: self.file, rank: None, has_dump, faults: self.faults });
        }
        shard
    }
}

impl SectionPlace {
    fn of(bytes: &[u8], offset: u64) -> Option<SectionPlace> {
        let head: [u8; 9] = bytes.get(..9)?.try_into().ok()?;
        let tag = [Tag::Tables, Tag::Dumps, Tag::End].into_iter().find(|&tag| tag as u8 == head[0])?;
        let raw_bytes = number(bytes.get(1..)?)?;
        let size_bytes = number(bytes.get(5..)?)?;
        let possible = raw_bytes <= MAX_SECTION_BYTES && u64::from(raw_bytes) <= u64::from(size_bytes) * MAX_RATIO + 64;
        let checksum = number(bytes.get(9..)?)?;
        possible.then_some(SectionPlace { offset, size_bytes: size_bytes as usize, tag, raw_bytes, head, checksum })
    }

    /// What is in the section's bytes.
    ///
    /// # Errors
    ///
    /// When they are not what was written.
    pub fn decode(&self, packed: &[u8]) -> Result<Section, Fault> {
        let wrong = |what: &str| fault(FaultKind::Malformed, self.offset, damaged(what));
        if packed.len() != self.size_bytes || checksum(&self.head, packed) != self.checksum {
            return Err(wrong("a section does not have its checksum"));
        }
        let raw = decompress_to_vec_with_limit(packed, self.raw_bytes as usize)
            .map_err(|_| wrong("a section cannot be unpacked"))?;
        let nonsense = |_: postcard::Error| wrong("a section holds something else");
        Ok(Section(match self.tag {
            Tag::Tables => {
                let tables: WireTables = postcard::from_bytes(&raw).map_err(nonsense)?;
                let (symbols, configs, notes) = tables.tables();
                Content::Tables(alloc::boxed::Box::new(Shard { symbols, configs, dumps: Vec::new(), notes }))
            }
            Tag::Dumps => {
                let dumps: Vec<WireDump> = postcard::from_bytes(&raw).map_err(nonsense)?;
                drop(raw);
                let dumps: Option<Vec<ShardDump>> = dumps.into_iter().map(WireDump::dump).collect();
                Content::Dumps(dumps.ok_or_else(|| wrong("the columns of a dump do not fit together"))?)
            }
            Tag::End => Content::End(postcard::from_bytes::<End>(&raw).map_err(nonsense)?.dumps),
        }))
    }
}

/// Reads a pack that is in memory.
pub fn read(file: &str, bytes: &[u8]) -> Shard {
    let slice = |offset: u64, len: usize| {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        start.checked_add(len).and_then(|end| bytes.get(start..end)).unwrap_or(&[])
    };
    let mut reader = PackReader::new(file, bytes.len() as u64, |offset, len| Ok(slice(offset, len).to_vec()));
    for place in reader.sections().to_vec() {
        reader.put(&place, place.decode(slice(place.offset, place.size_bytes)));
    }
    reader.finish()
}

fn fault(kind: FaultKind, offset: u64, message: String) -> Fault {
    Fault { kind, offset: Some(offset), message }
}

fn cut(offset: u64) -> Fault {
    fault(
        FaultKind::Truncated,
        offset,
        "the pack breaks off here, so that dumps may be lost; copy it again or pack them again".into(),
    )
}

fn damaged(what: &str) -> String {
    format!("the pack is damaged: {what}; what could be read is used. Copy it again or pack the dumps again")
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?))
}
