//! Texts and frames by number, so that what is written ten million times is looked up once.

use std::collections::HashMap;

/// A text of the dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TextId(pub(super) u32);

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FrameId(pub(super) u32);

/// Function, file and line.
pub(super) type Frame = (TextId, TextId, u32);

/// All texts and frames that a dump can refer to.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    texts: Vec<Box<str>>,
    text_ids: HashMap<Box<str>, TextId>,
    frames: Vec<Frame>,
    frame_ids: HashMap<Frame, FrameId>,
}

impl Symbols {
    /// The number of a text.
    pub(super) fn text(&mut self, text: &str) -> TextId {
        if let Some(&id) = self.text_ids.get(text) {
            return id;
        }
        let id = TextId(self.texts.len() as u32);
        self.texts.push(text.into());
        self.text_ids.insert(text.into(), id);
        id
    }

    /// The number of a frame.
    pub(super) fn frame(&mut self, function: &str, file: &str, line: u32) -> FrameId {
        let frame = (self.text(function), self.text(file), line);
        *self.frame_ids.entry(frame).or_insert_with(|| {
            self.frames.push(frame);
            FrameId(self.frames.len() as u32 - 1)
        })
    }

    pub(super) fn text_of(&self, id: TextId) -> &str {
        &self.texts[id.0 as usize]
    }

    pub(super) fn frame_of(&self, id: FrameId) -> Frame {
        self.frames[id.0 as usize]
    }

    pub(super) fn text_count(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn frame_count(&self) -> usize {
        self.frames.len()
    }
}
