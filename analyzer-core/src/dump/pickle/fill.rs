//! Filling containers: the opcodes that take items from the stack.

use alloc::format;
use alloc::string::String;

use super::super::value::{NOWHERE, Value};
use super::cursor::Fatal;
use super::machine::Machine;

pub(super) const KEY_WITHOUT_VALUE: &str = "a dict has a key without a value";

impl Machine<'_> {
    #[inline]
    pub(super) fn appends(&mut self) -> Result<(), Fatal> {
        let from = self.unmark()?;
        self.settle(from)?;
        let Some(holder) = from.checked_sub(1).and_then(|at| self.stack.get(at)).copied() else {
            return Err(self.underflow());
        };
        self.sink.offset = Some(self.cursor.at() as u64);
        let items = self.stack.get(from..).unwrap_or(&[]);
        let value = match holder {
            Value::List { .. } => self.sink.list(items),
            Value::Entries { .. } | Value::Dumps { .. } | Value::Opaque => self.sink.extend_list(holder, items),
            _ => return self.appends_to_digested(from, holder),
        };
        self.stack.truncate(from);
        self.replace_holder(holder, value)
    }

    /// A list of one of the kinds that can't grow once they are digested: it is opened again.
    #[cold]
    fn appends_to_digested(&mut self, from: usize, holder: Value) -> Result<(), Fatal> {
        let slot = holder.slot();
        let items = self.stack.split_off(from);
        if let Value::Partial { index, .. } = holder
            && let Some(partial) = self.partials.get_mut(index)
            && !partial.is_dict
        {
            partial.items.extend_from_slice(&items);
            return Ok(());
        }
        let Some(mut unfolded) = self.sink.unfold(holder) else {
            let found = holder.describe();
            return Err(self.sink_stopped().unwrap_or_else(|| self.wrong(format!("items are appended to {found}"))));
        };
        unfolded.extend_from_slice(&items);
        let index = self.partials.start(false, unfolded);
        self.set_top(Value::Partial { slot, index });
        Ok(())
    }

    pub(super) fn append(&mut self) -> Result<(), Fatal> {
        let Some(from) = self.stack.len().checked_sub(1) else { return Err(self.underflow()) };
        self.guard_mark(from.saturating_sub(1))?;
        self.settle(from)?;
        let Some(holder) = from.checked_sub(1).and_then(|at| self.stack.get(at)).copied() else {
            return Err(self.underflow());
        };
        let Some(&item) = self.stack.get(from) else { return Err(self.underflow()) };
        self.sink.offset = Some(self.cursor.at() as u64);
        let value = match holder {
            // Long lists of entries are never held twice.
            Value::List { .. } if matches!(item, Value::Entry(_) | Value::Dump(_)) => self.sink.list(&[item]),
            Value::Entries { .. } | Value::Dumps { .. } | Value::Opaque => self.sink.extend_list(holder, &[item]),
            Value::List { slot } => {
                let index = self.partials.start(false, alloc::vec![item]);
                self.stack.truncate(from);
                self.set_top(Value::Partial { slot, index });
                return Ok(());
            }
            _ => return self.appends_to_digested(from, holder),
        };
        self.stack.truncate(from);
        self.replace_holder(holder, value)
    }

    #[inline]
    pub(super) fn setitems(&mut self) -> Result<(), Fatal> {
        let from = self.unmark()?;
        self.settle(from)?;
        let Some(holder) = from.checked_sub(1).and_then(|at| self.stack.get(at)).copied() else {
            return Err(self.underflow());
        };
        self.sink.offset = Some(self.cursor.at() as u64);
        let items = self.stack.get(from..).unwrap_or(&[]);
        let (pairs, odd) = items.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(self.wrong(String::from(KEY_WITHOUT_VALUE)));
        }
        let value = match holder {
            Value::Dict { .. } => self.sink.dict(pairs),
            Value::Groups { .. } | Value::Statuses { .. } | Value::Dumps { .. } | Value::Opaque => {
                self.sink.extend_dict(holder, pairs)
            }
            _ => return self.setitems_to_digested(from, holder),
        };
        self.stack.truncate(from);
        self.replace_holder(holder, value)
    }

    #[cold]
    fn setitems_to_digested(&mut self, from: usize, holder: Value) -> Result<(), Fatal> {
        let items = self.stack.split_off(from);
        if let Value::Partial { index, .. } = holder
            && let Some(partial) = self.partials.get_mut(index)
            && partial.is_dict
        {
            partial.items.extend_from_slice(&items);
            return Ok(());
        }
        if items.is_empty() {
            return Ok(());
        }
        let found = holder.describe();
        Err(self.wrong(format!("a key is added to {found}, which was complete already")))
    }

    pub(super) fn setitem(&mut self) -> Result<(), Fatal> {
        let Some(from) = self.stack.len().checked_sub(2) else { return Err(self.underflow()) };
        self.guard_mark(from.saturating_sub(1))?;
        self.settle(from)?;
        let Some(holder) = from.checked_sub(1).and_then(|at| self.stack.get(at)).copied() else {
            return Err(self.underflow());
        };
        self.sink.offset = Some(self.cursor.at() as u64);
        match holder {
            Value::Dict { slot } => {
                let items = self.stack.split_off(from);
                let index = self.partials.start(true, items);
                self.set_top(Value::Partial { slot, index });
                Ok(())
            }
            Value::Groups { .. } | Value::Statuses { .. } | Value::Dumps { .. } | Value::Opaque => {
                let pairs = self.stack.get(from..).unwrap_or(&[]).as_chunks::<2>().0;
                let value = self.sink.extend_dict(holder, pairs);
                self.stack.truncate(from);
                self.replace_holder(holder, value)
            }
            _ => self.setitems_to_digested(from, holder),
        }
    }

    pub(super) fn tuple(&mut self, len: usize) -> Result<(), Fatal> {
        let Some(from) = self.stack.len().checked_sub(len) else { return Err(self.underflow()) };
        self.guard_mark(from)?;
        self.tuple_from(from)
    }

    #[inline]
    pub(super) fn tuple_from(&mut self, from: usize) -> Result<(), Fatal> {
        self.settle(from)?;
        self.sink.offset = Some(self.cursor.at() as u64);
        let value = self.sink.list(self.stack.get(from..).unwrap_or(&[]));
        self.finish_container(from, value)
    }

    pub(super) fn finish_container(&mut self, from: usize, value: Value) -> Result<(), Fatal> {
        self.stack.truncate(from);
        self.push(value)?;
        self.sink_stopped().map_or(Ok(()), Err)
    }

    /// Puts the digest of a container in its place on the stack and in the memo.
    #[inline]
    fn replace_holder(&mut self, holder: Value, value: Value) -> Result<(), Fatal> {
        let slot = holder.slot();
        let value = if slot == NOWHERE {
            value
        } else {
            self.memo.update(slot, value.with_slot(NOWHERE));
            value.with_slot(slot)
        };
        self.set_top(value);
        match self.sink.stop {
            None => Ok(()),
            Some(_) => self.sink_stopped().map_or(Ok(()), Err),
        }
    }

    #[inline]
    fn set_top(&mut self, value: Value) {
        if let Some(top) = self.stack.last_mut() {
            *top = value;
        }
    }

    /// Digests the containers above `from` that were filled one item at a time: now something uses them.
    #[inline]
    pub(super) fn settle(&mut self, from: usize) -> Result<(), Fatal> {
        if self.partials.live() == 0 {
            return Ok(());
        }
        self.settle_each(from)
    }

    #[cold]
    fn settle_each(&mut self, from: usize) -> Result<(), Fatal> {
        for at in from..self.stack.len() {
            let Some(&Value::Partial { slot, index }) = self.stack.get(at) else { continue };
            let partial = self.partials.take(index);
            self.sink.offset = Some(self.cursor.at() as u64);
            let value = if partial.is_dict {
                self.sink.dict(partial.items.as_chunks::<2>().0)
            } else {
                self.sink.list(&partial.items)
            };
            if slot != NOWHERE {
                self.memo.update(slot, value.with_slot(NOWHERE));
            }
            if let Some(place) = self.stack.get_mut(at) {
                *place = value.with_slot(slot);
            }
        }
        self.sink_stopped().map_or(Ok(()), Err)
    }

    pub(super) fn pop_value(&mut self) -> Result<(), Fatal> {
        // `POP` takes a mark when one is on top.
        if self.marks.last().is_some_and(|&mark| mark as usize == self.stack.len()) {
            self.marks.pop();
            return Ok(());
        }
        let Some(at) = self.stack.len().checked_sub(1) else { return Err(self.underflow()) };
        self.forget(at);
        Ok(())
    }

    pub(super) fn forget(&mut self, from: usize) {
        for value in self.stack.drain(from.min(self.stack.len())..) {
            if let Value::Partial { index, .. } = value {
                self.partials.take(index);
            }
        }
    }
}
