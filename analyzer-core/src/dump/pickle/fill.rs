//! Filling containers: the opcodes that take items from the stack.

use alloc::format;
use alloc::string::String;

use super::super::value::{NOWHERE, Value};
use super::cursor::Fatal;
use super::machine::Machine;

pub(super) const KEY_WITHOUT_VALUE: &str = "a dict has a key without a value";

impl Machine<'_> {
    #[inline(always)]
    pub(super) fn appends(&mut self) -> Result<(), Fatal> {
        let from = self.unmark()?;
        self.settle(from)?;
        self.sink.offset = Some(self.cursor.at() as u64);
        let Some((head, items)) = self.stack.split_at_mut_checked(from) else { return Err(self.underflow()) };
        let Some(holder) = head.last_mut() else { return Err(self.underflow()) };
        let Value::List { slot } = *holder else {
            return self.appends_to_filled(from);
        };
        *holder = self.sink.list(items);
        self.stack.truncate(from);
        self.filled(slot)
    }

    #[cold]
    fn appends_to_filled(&mut self, from: usize) -> Result<(), Fatal> {
        let Some((head, items)) = self.stack.split_at_mut_checked(from) else { return Err(self.underflow()) };
        let Some(holder) = head.last_mut() else { return Err(self.underflow()) };
        match *holder {
            Value::Entries { slot, .. } | Value::Dumps { slot, .. } => {
                *holder = self.sink.extend_list(*holder, items);
                self.stack.truncate(from);
                self.filled(slot)
            }
            Value::Opaque => {
                self.stack.truncate(from);
                Ok(())
            }
            other => self.appends_to_digested(from, other),
        }
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
        self.sink.offset = Some(self.cursor.at() as u64);
        let Some(([.., holder], [item])) = self.stack.split_at_mut_checked(from) else { return Err(self.underflow()) };
        match (*holder, *item) {
            // Long lists of entries are never held twice.
            (Value::List { slot }, Value::Entry(_) | Value::Dump(_)) => {
                *holder = self.sink.list(&[*item]);
                self.stack.truncate(from);
                self.filled(slot)
            }
            (Value::List { slot }, item) => {
                let index = self.partials.start(false, alloc::vec![item]);
                *holder = Value::Partial { slot, index };
                self.stack.truncate(from);
                Ok(())
            }
            _ => self.appends_to_filled(from),
        }
    }

    #[inline(always)]
    pub(super) fn setitems(&mut self) -> Result<(), Fatal> {
        let from = self.unmark()?;
        self.settle(from)?;
        self.sink.offset = Some(self.cursor.at() as u64);
        let Some((head, items)) = self.stack.split_at_mut_checked(from) else { return Err(self.underflow()) };
        let Some(holder) = head.last_mut() else { return Err(self.underflow()) };
        let (pairs, odd) = items.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(self.wrong(String::from(KEY_WITHOUT_VALUE)));
        }
        let Value::Dict { slot } = *holder else {
            return self.setitems_to_filled(from);
        };
        *holder = self.sink.dict(pairs);
        if let Value::Entry(row) = *holder
            && !self.memo.replaced
        {
            self.patterns.learn(self.cursor.rest(), &self.memo, self.sink.entry_at(row));
        }
        self.stack.truncate(from);
        self.filled(slot)
    }

    #[cold]
    fn setitems_to_filled(&mut self, from: usize) -> Result<(), Fatal> {
        let Some((head, items)) = self.stack.split_at_mut_checked(from) else { return Err(self.underflow()) };
        let Some(holder) = head.last_mut() else { return Err(self.underflow()) };
        match *holder {
            Value::Groups { slot, .. } | Value::Statuses { slot, .. } | Value::Dumps { slot, .. } => {
                *holder = self.sink.extend_dict(*holder, items.as_chunks::<2>().0);
                self.stack.truncate(from);
                self.filled(slot)
            }
            Value::Opaque => {
                self.stack.truncate(from);
                Ok(())
            }
            other => self.setitems_to_digested(from, other),
        }
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
        self.sink.offset = Some(self.cursor.at() as u64);
        let Some(&Value::Dict { slot }) = from.checked_sub(1).and_then(|at| self.stack.get(at)) else {
            return self.setitems_to_filled(from);
        };
        let items = self.stack.split_off(from);
        let index = self.partials.start(true, items);
        self.set_top(Value::Partial { slot, index });
        Ok(())
    }

    pub(super) fn tuple(&mut self, len: usize) -> Result<(), Fatal> {
        let Some(from) = self.stack.len().checked_sub(len) else { return Err(self.underflow()) };
        self.guard_mark(from)?;
        self.tuple_from(from)
    }

    #[inline(always)]
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

    /// After the container on top was digested: its memo slot gets the digest, too.
    #[inline(always)]
    fn filled(&mut self, slot: u32) -> Result<(), Fatal> {
        if slot == NOWHERE && self.sink.stop.is_none() {
            return Ok(());
        }
        self.filled_in_memo(slot)
    }

    fn filled_in_memo(&mut self, slot: u32) -> Result<(), Fatal> {
        if let Some(top) = self.stack.last_mut() {
            *top = top.with_slot(slot);
            if slot != NOWHERE {
                self.memo.update(slot, top.with_slot(NOWHERE));
            }
        }
        self.sink_stopped().map_or(Ok(()), Err)
    }

    #[inline(always)]
    fn set_top(&mut self, value: Value) {
        if let Some(top) = self.stack.last_mut() {
            *top = value;
        }
    }

    /// Digests the containers above `from` that were filled one item at a time: now something uses them.
    #[inline(always)]
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
