//! What goes over the side channel: one JSON object a line.

use serde::{Deserialize, Serialize};

/// The version of these messages. Ranks of another version are turned away with a line in the log.
pub(super) const VERSION: u32 = 1;

/// No message is longer; a list of the ten thousand members of a world takes 60 KB.
pub(super) const MAX_LINE: usize = 4 << 20;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(super) enum Message {
    /// The first of a rank.
    Hello(Hello),
    /// The sender has this place in a communicator.
    Member(Membership),
    /// A communicator's members are all known: global ranks by rank in it.
    Members {
        /// The library's number of the communicator.
        id: u64,
        /// The global ranks.
        members: Vec<u32>,
    },
    /// A rank's operation takes too long: everybody is to dump.
    Dump {
        /// The rank whose operation it is.
        rank: u32,
        /// What takes too long.
        reason: String,
    },
    /// The sender's dump is written, or failed.
    Dumped {
        /// Where, or `None`.
        path: Option<String>,
        /// Why not.
        error: Option<String>,
    },
    /// The sender is alive.
    Beat,
    /// The sender ends as it should.
    Goodbye,
}

/// Who a rank is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub version: u32,
    pub token: String,
    pub rank: u32,
    pub host: String,
    pub process: u32,
}

/// A rank's place in a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Membership {
    /// The library's number of the communicator.
    pub id: u64,
    /// Its number of ranks.
    pub size: u32,
    /// The sender's rank in it.
    pub rank: u32,
}
