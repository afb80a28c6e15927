//! What NCCL holds of an event.
//!
//! NCCL keeps a pointer-sized word for each event and passes it back: as parent of others, long after the event ended,
//! and sometimes twice. So it is never a pointer. It says what the event is, and by which number it is found; whoever
//! comes with one that is gone finds nothing.

use std::ffi::c_void;

use hangscope_recorder::Handle;

/// A handle that NCCL was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// A call.
    Call(Handle),
    /// What became of a call: NCCL's task.
    Task(Handle),
    /// A channel's part of a task.
    Channel(Handle, u8),
    /// A group of calls.
    Group(u64),
    /// A launch.
    Launch(u64),
}

/// Bits of the number.
const NUMBER_BITS: u32 = 53;
const NUMBERS: u64 = (1 << NUMBER_BITS) - 1;
/// Where the event's kind stands, above the channel.
const KIND_SHIFT: u32 = 61;

impl Given {
    /// The word for NCCL; `None` stands for nothing.
    pub(crate) fn to_word(self) -> u64 {
        let (kind, channel, number) = match self {
            Self::Call(handle) => (1, 0, handle.to_word()),
            Self::Task(handle) => (2, 0, handle.to_word()),
            Self::Channel(handle, channel) => (3, channel, handle.to_word()),
            Self::Group(number) => (4, 0, number),
            Self::Launch(number) => (5, 0, number),
        };
        if number == 0 { 0 } else { kind << KIND_SHIFT | u64::from(channel) << NUMBER_BITS | number & NUMBERS }
    }

    /// What a word from NCCL stands for.
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        let number = word & NUMBERS;
        let handle = Handle::from_word(number);
        let [.., high, higher] = word.to_le_bytes();
        let channel = (u16::from_le_bytes([high, higher]) >> 5).to_le_bytes()[0];
        match (number, word >> KIND_SHIFT) {
            (0, _) => None,
            (_, 1) => Some(Self::Call(handle)),
            (_, 2) => Some(Self::Task(handle)),
            (_, 3) => Some(Self::Channel(handle, channel)),
            (_, 4) => Some(Self::Group(number)),
            (_, 5) => Some(Self::Launch(number)),
            _ => None,
        }
    }
}

/// A word as C has it.
pub(crate) fn as_pointer(word: u64) -> *mut c_void {
    std::ptr::without_provenance_mut(usize::try_from(word).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back_and_differ() {
        let handle = Handle::from_word(123_456);
        let given = [
            Given::Call(handle),
            Given::Task(handle),
            Given::Channel(handle, 0),
            Given::Channel(handle, 255),
            Given::Group(9),
            Given::Launch(9),
        ];
        for (at, one) in given.iter().enumerate() {
            assert_eq!(Given::from_word(one.to_word()), Some(*one));
            assert!(given[..at].iter().all(|other| other.to_word() != one.to_word()));
        }
    }

    #[test]
    fn what_was_never_given_is_nothing() {
        assert_eq!(Given::from_word(0), None);
        assert_eq!(Given::from_word(0x7ffd_1234_5678), None);
        assert_eq!(Given::from_word(u64::MAX), None);
        assert_eq!(Given::Call(Handle::NONE).to_word(), 0);
    }
}
