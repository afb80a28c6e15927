//! Communicators.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::plugin::Plugin;
use crate::task::{Event, Function};

/// A communicator of this process. Copies are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Communicator(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: u64,
    rank: u32,
    size: u32,
    hub: String,
    plugin: Option<Arc<Plugin>>,
    context: Event,
    splits: AtomicU64,
    executed: AtomicU64,
    /// NCCL numbers each function's calls.
    numbers: Mutex<HashMap<Function, u64>>,
    results: Mutex<Vec<(Function, Vec<f32>)>>,
}

impl Communicator {
    /// Joins one; its id is the same on all ranks.
    pub(crate) fn join(
        hub: &str,
        plugin: Option<&Arc<Plugin>>,
        id: u64,
        name: Option<&str>,
        rank: u32,
        size: u32,
    ) -> Self {
        let context = plugin.map_or(Event::NONE, |plugin| Event::of(plugin.init(id, name, size, rank)));
        Self(Arc::new(Inner {
            id,
            rank,
            size,
            hub: hub.to_owned(),
            plugin: plugin.cloned(),
            context,
            splits: AtomicU64::new(0),
            executed: AtomicU64::new(0),
            numbers: Mutex::default(),
            results: Mutex::default(),
        }))
    }

    /// A part of this one, of all ranks with the same colour.
    pub(crate) fn split(&self, colour: impl Fn(u32) -> u32, name: Option<&str>) -> Self {
        let count = self.0.splits.fetch_add(1, Ordering::Relaxed) + 1;
        let own = colour(self.rank());
        let members: Vec<u32> = (0..self.size()).filter(|rank| colour(*rank) == own).collect();
        let rank = members.iter().take_while(|member| **member < self.rank()).count();
        let id = [self.id(), count, own.into()].into_iter().fold(0xcbf2_9ce4_8422_2325, mix);
        let number = |length| u32::try_from(length).unwrap_or(u32::MAX);
        Self::join(&self.0.hub, self.0.plugin.as_ref(), id, name, number(rank), number(members.len()))
    }

    /// Its id.
    pub(crate) fn id(&self) -> u64 {
        self.0.id
    }

    /// The rank in it.
    pub(crate) fn rank(&self) -> u32 {
        self.0.rank
    }

    /// How many ranks it has.
    pub(crate) fn size(&self) -> u32 {
        self.0.size
    }

    /// The plugin's context.
    pub(crate) fn context(&self) -> *mut c_void {
        self.0.context.handle()
    }

    /// Gives it up.
    pub(crate) fn destroy(&self) {
        if let Some(plugin) = &self.0.plugin {
            plugin.finalize(self.context());
        }
    }

    /// What its operations have given since the last look.
    pub(crate) fn take_results(&self) -> Vec<(Function, Vec<f32>)> {
        std::mem::take(&mut *self.0.results.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn put_result(&self, function: Function, result: Vec<f32>) {
        self.0.results.lock().unwrap_or_else(PoisonError::into_inner).push((function, result));
    }

    pub(crate) fn hub(&self) -> &str {
        &self.0.hub
    }

    /// The number of the next collective that its stream comes to.
    pub(crate) fn next_executed(&self) -> u64 {
        self.0.executed.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn next_number(&self, function: Function) -> u64 {
        let mut numbers = self.0.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let number = numbers.entry(function).or_default();
        *number += 1;
        *number - 1
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// One step of FNV.
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x0100_0000_01b3)
}
