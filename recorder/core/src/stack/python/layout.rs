//! Where the parts of frames and code objects lie, for the versions of CPython whose layout is known. It does not
//! change within a minor version. The numbers were printed by a C compiler from the headers of 3.11.7, 3.12.1 and 3.13.0,
//! for 64-bit Linux.

/// Offsets in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// In the thread's state: the current frame, or what leads to it.
    pub state_frame: u64,
    /// From what `state_frame` leads to, to the current frame; `None`: it leads there itself.
    pub frame_indirect: Option<u64>,
    /// In a frame: its code object.
    pub frame_code: u64,
    /// In a frame: the caller's frame.
    pub frame_previous: u64,
    /// In a frame: the address of the instruction.
    pub frame_instruction: u64,
    /// In a frame: the byte that says who owns it; [`OWNED_BY_C`] are those that only stand for C code. `None`: there are
    /// no such frames.
    pub frame_owner: Option<u64>,
    /// In a code object: the first instruction.
    pub code_instructions: u64,
    /// In a code object: the first line, 32 bits.
    pub code_first_line: u64,
    /// In a code object: the file's name.
    pub code_filename: u64,
    /// In a code object: the function's name with what it is in.
    pub code_name: u64,
    /// In a text of ASCII characters: the first of them.
    pub ascii_data: u64,
    /// In another text: the first character.
    pub text_data: u64,
}

/// In an object: its type.
pub(super) const TYPE: u64 = 8;
/// In a text: its number of characters.
pub(super) const TEXT_LENGTH: u64 = 16;
/// In a text: what [`TextState`] unpacks, 32 bits.
pub(super) const TEXT_STATE: u64 = 32;

/// A frame's owner that is C code.
pub(super) const OWNED_BY_C: u64 = 3;

/// How a text's characters are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextState {
    /// Bytes of a character: 1, 2 or 4.
    pub width: u64,
    /// Whether all are ASCII.
    pub is_ascii: bool,
    /// Whether they follow the text's head, as they do for all texts that names come from.
    pub is_compact: bool,
}

impl TextState {
    pub(super) fn of(word: u64) -> Self {
        Self { width: word >> 2 & 7, is_compact: word & 0x20 != 0, is_ascii: word & 0x40 != 0 }
    }
}

impl Layout {
    /// The layout of a version, as `Py_GetVersion` tells it: `3.11.7 (main, …) [GCC …]`.
    pub(super) fn of_version(version: &str) -> Option<Self> {
        let mut numbers = version.split(['.', ' ']);
        if numbers.next() != Some("3") || version.contains("free-threading") || !cfg!(target_pointer_width = "64") {
            return None;
        }
        let python_3_12 = Self {
            state_frame: 56,
            frame_indirect: Some(0),
            frame_code: 0,
            frame_previous: 8,
            frame_instruction: 56,
            frame_owner: Some(70),
            code_instructions: 192,
            code_first_line: 68,
            code_filename: 112,
            code_name: 128,
            ascii_data: 40,
            text_data: 56,
        };
        match numbers.next()? {
            "11" => Some(Self {
                frame_indirect: Some(8),
                frame_code: 32,
                frame_previous: 48,
                frame_owner: None,
                code_instructions: 184,
                code_first_line: 72,
                ascii_data: 48,
                text_data: 72,
                ..python_3_12
            }),
            "12" => Some(python_3_12),
            "13" => Some(Self { state_frame: 72, frame_indirect: None, code_instructions: 200, ..python_3_12 }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_apart() {
        let code = |version: &str| Layout::of_version(version).map(|layout| layout.code_instructions);
        assert_eq!(code("3.11.7 (main, Dec  4 2023) [GCC 12.2.0]"), Some(184));
        assert_eq!(code("3.12.1 (main)"), Some(192));
        assert_eq!(code("3.13.0 (main)"), Some(200));
        for unknown in
            ["3.10.13 (main)", "3.14.0 (main)", "2.7.18 (default)", "3.13.0 experimental free-threading build", ""]
        {
            assert_eq!(code(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn states_of_texts_are_unpacked() {
        assert_eq!(TextState::of(0x64), TextState { width: 1, is_ascii: true, is_compact: true });
        assert_eq!(TextState::of(0x28 | 2), TextState { width: 2, is_ascii: false, is_compact: true });
    }
}
