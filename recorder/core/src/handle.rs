//! What a caller holds of a recording.

use std::num::NonZeroU64;

/// Names one recording for ever: it says slot and generation, so the handle of a recording that was overwritten
/// changes nothing.
///
/// C libraries keep it as a pointer-sized word; 0 is no recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handle(Option<NonZeroU64>);

impl Handle {
    /// No recording.
    pub const NONE: Self = Self(None);

    pub(crate) fn of_ticket(ticket: u64) -> Self {
        Self(NonZeroU64::new(ticket.wrapping_add(1)))
    }

    pub(crate) fn ticket(self) -> Option<u64> {
        self.0.map(|word| word.get() - 1)
    }

    /// The handle as a word; 0 is [`Handle::NONE`].
    #[must_use]
    pub fn to_word(self) -> u64 {
        self.0.map_or(0, NonZeroU64::get)
    }

    /// The handle that a word stands for.
    #[must_use]
    pub fn from_word(word: u64) -> Self {
        Self(NonZeroU64::new(word))
    }

    /// Whether there is a recording.
    #[must_use]
    pub fn is_some(self) -> bool {
        self.0.is_some()
    }
}
