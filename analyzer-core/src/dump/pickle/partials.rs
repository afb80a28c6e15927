//! Containers that get their items one at a time.

use alloc::vec::Vec;

use super::super::value::Value;

/// The items of the containers that are being filled by `APPEND` and `SETITEM`, until something uses the container.
#[derive(Debug, Default)]
pub(super) struct Partials {
    all: Vec<Partial>,
    free: Vec<u32>,
}

/// One such container.
#[derive(Debug, Default)]
pub(super) struct Partial {
    pub(super) is_dict: bool,
    pub(super) items: Vec<Value>,
}

impl Partials {
    /// How many containers are being filled.
    #[inline(always)]
    pub(super) fn live(&self) -> usize {
        self.all.len() - self.free.len()
    }

    pub(super) fn start(&mut self, is_dict: bool, items: Vec<Value>) -> u32 {
        let partial = Partial { is_dict, items };
        if let Some(index) = self.free.pop()
            && let Some(place) = self.all.get_mut(index as usize)
        {
            *place = partial;
            return index;
        }
        self.all.push(partial);
        self.all.len() as u32 - 1
    }

    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Partial> {
        self.all.get_mut(index as usize)
    }

    pub(super) fn get(&self, index: u32) -> Option<&Partial> {
        self.all.get(index as usize)
    }

    /// Takes a container out; its number is free again.
    pub(super) fn take(&mut self, index: u32) -> Partial {
        let Some(partial) = self.all.get_mut(index as usize) else {
            return Partial::default();
        };
        self.free.push(index);
        core::mem::take(partial)
    }
}
