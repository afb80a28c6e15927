//! Every distinct frame of a call stack, once.

use alloc::vec::Vec;
use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::StrId;
use super::TableIndex;

/// Names a frame in a [`FrameTable`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub(crate) u32);

/// One place in the code: a function, its file and the line that was being run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Name of the function, as the recorder wrote it.
    pub function: StrId,
    /// Path of the file, as the recorder wrote it.
    pub file: StrId,
    /// Line, from 1; 0 where the recorder knew none (C++ frames).
    pub line: u32,
}

/// Interned frames.
#[derive(Clone, Debug, Default)]
pub struct FrameTable {
    frames: Vec<Frame>,
    index: TableIndex,
    hasher: DefaultHashBuilder,
}

impl FrameTable {
    /// The handle of `frame`, which is stored if it is new.
    pub fn intern(&mut self, frame: Frame) -> FrameId {
        let hash = self.hasher.hash_one(frame);
        let frames = &self.frames;
        if let Some(found) = self.index.find(hash, |id| frames.get(id as usize) == Some(&frame)) {
            return FrameId(found);
        }
        let id = self.frames.len() as u32;
        self.frames.push(frame);
        let (frames, hasher) = (&self.frames, &self.hasher);
        self.index.insert(hash, id, &|id| hasher.hash_one(frames[id as usize]));
        FrameId(id)
    }

    /// The frame of a handle; an empty one for a handle of another table.
    pub fn get(&self, id: FrameId) -> Frame {
        self.frames.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// All frames in the order of their handles.
    pub fn iter(&self) -> impl Iterator<Item = Frame> {
        self.frames.iter().copied()
    }

    /// How many distinct frames there are.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether no frame was stored.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Gives back memory that was reserved for growth.
    pub fn shrink_to_fit(&mut self) {
        self.frames.shrink_to_fit();
        let (frames, hasher) = (&self.frames, &self.hasher);
        self.index.shrink_to_fit(&|id| hasher.hash_one(frames[id as usize]));
    }
}
