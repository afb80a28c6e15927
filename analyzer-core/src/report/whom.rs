//! For whom a rank waits.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use core::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Ranks as ranges: a text, but for a part of it that reads otherwise.
///
/// Of ten thousand ranks that wait for each other each waits for all but itself: what these texts have in common is in memory once.
#[derive(Clone, Debug, Default)]
pub struct Whom {
    shared: Arc<str>,
    /// The part of the shared text that is left out, ...
    cut: Range<usize>,
    /// ... and what stands there.
    instead: String,
}

impl Whom {
    /// A shared text, with something else in the place of a part of it.
    pub(super) fn new(shared: Arc<str>, cut: Range<usize>, instead: String) -> Whom {
        Whom { shared, cut, instead }
    }

    /// Whether it is nobody.
    pub fn is_empty(&self) -> bool {
        self.parts().iter().all(|part| part.is_empty())
    }

    fn parts(&self) -> [&str; 3] {
        let before = self.shared.get(..self.cut.start).unwrap_or_default();
        let after = self.shared.get(self.cut.end..).unwrap_or_default();
        [before, &self.instead, after]
    }
}

impl From<Arc<str>> for Whom {
    fn from(text: Arc<str>) -> Whom {
        Whom { shared: text, ..Whom::default() }
    }
}

impl From<&str> for Whom {
    fn from(text: &str) -> Whom {
        Whom { instead: text.to_string(), ..Whom::default() }
    }
}

impl fmt::Display for Whom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().iter().try_for_each(|part| f.write_str(part))
    }
}

impl PartialEq for Whom {
    fn eq(&self, other: &Whom) -> bool {
        let bytes = |whom: &Whom| whom.parts().map(str::len).iter().sum::<usize>();
        bytes(self) == bytes(other)
            && self.parts().iter().flat_map(|part| part.bytes()).eq(other.parts().iter().flat_map(|part| part.bytes()))
    }
}

impl Eq for Whom {}

impl Serialize for Whom {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string())
    }
}

impl<'de> Deserialize<'de> for Whom {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Whom, D::Error> {
        Ok(Whom { instead: String::deserialize(deserializer)?, ..Whom::default() })
    }
}
