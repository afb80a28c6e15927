//! Channels of a communicator.
//!
//! MPI matches a message by its tag too, and a dump has no place for a tag: its readers take the n-th receive of a group
//! for that of the n-th send. So the messages of each tag are recorded as a group of their own.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Arc, PoisonError, RwLock};

use hangscope_recorder::{Communicator, CommunicatorInfo, Recorder};

use crate::known::Known;

/// Tags up to here have a channel each; those above share as many again. A program that takes a new tag for each message
/// makes no more of them than that.
const OWN_TAGS: u32 = 512;

/// Which channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChannelKey {
    /// Messages with a tag, by what all ranks make of the tag.
    Tag(u32),
    /// Looks at messages that are received by another call.
    Probes,
}

/// The channels that were used so far. The lock is taken to record a message, over memory only, and for writing once for
/// each channel.
#[derive(Debug, Default)]
pub(crate) struct ChannelTable {
    inner: RwLock<BTreeMap<ChannelKey, Arc<Communicator>>>,
}

impl ChannelKey {
    /// The channel of a tag; `None`: the communicator itself.
    pub(crate) fn of_tag(tag: c_int) -> Option<Self> {
        match u32::try_from(tag) {
            Err(_) | Ok(0) => None,
            Ok(tag) if tag < OWN_TAGS => Some(Self::Tag(tag)),
            Ok(tag) => Some(Self::Tag(OWN_TAGS + tag % OWN_TAGS)),
        }
    }

    fn word(self) -> String {
        match self {
            Self::Tag(tag) if tag < OWN_TAGS => format!("tag {tag}"),
            Self::Tag(tag) => format!("tags from {OWN_TAGS}, part {}", tag - OWN_TAGS),
            Self::Probes => "probes".to_owned(),
        }
    }
}

impl ChannelTable {
    pub(crate) fn for_each(&self, act: impl Fn(&Communicator)) {
        for channel in self.inner.read().unwrap_or_else(PoisonError::into_inner).values() {
            act(channel);
        }
    }
}

impl Known {
    /// Where messages with this tag are recorded; any tag is under the communicator itself.
    pub(crate) fn channel_of_tag(&self, recorder: &Recorder, tag: c_int) -> Arc<Communicator> {
        match ChannelKey::of_tag(tag) {
            None => Arc::clone(&self.base),
            Some(key) => self.channel(recorder, key),
        }
    }

    pub(crate) fn channel(&self, recorder: &Recorder, key: ChannelKey) -> Arc<Communicator> {
        let table = &self.channels.inner;
        if let Some(channel) = table.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Arc::clone(channel);
        }
        let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
        let made = table.entry(key).or_insert_with(|| {
            let base = self.base.info();
            let word = key.word();
            recorder.communicator(CommunicatorInfo {
                name: format!("{} {word}", base.name),
                description: format!("{} {word}", self.spoken()),
                members: self.base.members().map(<[u32]>::to_vec),
                ..base.clone()
            })
        });
        Arc::clone(made)
    }
}

#[cfg(test)]
mod tests {
    use super::{ChannelKey, OWN_TAGS};

    #[test]
    fn a_bounded_number_of_channels_and_the_same_one_on_every_rank() {
        assert_eq!(ChannelKey::of_tag(0), None);
        assert_eq!(ChannelKey::of_tag(-1), None);
        assert_eq!(ChannelKey::of_tag(7), Some(ChannelKey::Tag(7)));
        let mut keys: Vec<_> = (1..100_000).filter_map(ChannelKey::of_tag).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 2 * OWN_TAGS as usize - 1);
        assert_eq!(ChannelKey::of_tag(519).map(ChannelKey::word), Some("tags from 512, part 7".to_owned()));
    }
}
