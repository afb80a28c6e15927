//! What went over each group, as far as it tells what the group is for.

use alloc::vec;
use alloc::vec::Vec;

use super::{Direction, Job};
use crate::dump::EntryHead;
use crate::symbols::{Args, StrId, Symbols};

/// Calls on one group or on a family of groups, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    /// All calls; ends of coalesced blocks are none.
    pub calls: u32,
    /// Point-to-point messages.
    pub messages: u32,
    /// `all_to_all`s.
    pub exchanges: u32,
    /// All-gathers and reduce-scatters of tensors.
    pub gathers: u32,
    /// Reductions of more than one element.
    pub sums: u32,
    /// Most dimensions of a tensor that was gathered or reduced.
    pub sum_dims: u32,
    /// Most dimensions of a tensor that was exchanged.
    pub exchange_dims: u32,
    /// A message to a higher place in the group, to a lower one, and between the two ends of a group of three or more.
    pub ways: Ways,
}

/// Which ways messages went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ways {
    pub up: bool,
    pub down: bool,
    pub around: bool,
}

/// What the name of an operation says about its use.
#[derive(Clone, Copy)]
enum Kind {
    Message,
    Exchange,
    Gather,
    Sum,
    BlockEnd,
    Other,
}

impl Kind {
    fn of(name: &str) -> Kind {
        let lower = name.to_ascii_lowercase();
        let has = |part: &str| lower.contains(part);
        match name {
            "send" | "recv" => Kind::Message,
            "coalesced" => Kind::BlockEnd,
            _ if has("barrier") => Kind::Other,
            _ if has("all_to_all") || has("alltoall") => Kind::Exchange,
            _ if has("gather") || has("scatter") => Kind::Gather,
            _ if has("reduce") => Kind::Sum,
            _ => Kind::Other,
        }
    }
}

impl Traffic {
    /// Counts the calls of all ranks, by group.
    pub fn of(job: &Job) -> Vec<Traffic> {
        let kinds: Vec<Kind> =
            (0..job.symbols.strings.len() as u32).map(|id| Kind::of(&job.op(StrId(id)).name)).collect();
        let shapes: Vec<(u32, bool)> = job.symbols.args.iter().map(|args| shape(&job.symbols, &args)).collect();
        let mut all = vec![Traffic::default(); job.groups.len()];
        for dump in &job.ranks {
            let mut counts: Vec<u32> = vec![0; dump.entries.heads().len()];
            dump.entries.for_each_head(|_, head| {
                if let Some(count) = counts.get_mut(head) {
                    *count += 1;
                }
            });
            for (&EntryHead { group_ref, op, args, .. }, times) in dump.entries.heads().iter().zip(counts) {
                let Some(&group) = dump.groups.get(group_ref as usize) else { continue };
                let Some(traffic) = all.get_mut(group.0 as usize) else { continue };
                let kind = kinds.get(op.index()).copied().unwrap_or(Kind::Other);
                let (dims, several) = shapes.get(args.0 as usize).copied().unwrap_or_default();
                traffic.count(kind, dims, several, times);
                if let (Kind::Message, Some(peer)) = (kind, job.op(op).peer) {
                    let size = job.group(group).members.len() as u32;
                    let own = job.group(group).position(dump.rank).map(|place| place as u32);
                    let (src, dst) = match peer.direction {
                        Direction::Send => (peer.src.or(own), peer.dst),
                        Direction::Recv => (peer.src, peer.dst.or(own)),
                    };
                    if let (Some(src), Some(dst)) = (src, dst) {
                        traffic.ways.add(src, dst, size);
                    }
                }
            }
        }
        all
    }

    fn count(&mut self, kind: Kind, dims: u32, several: bool, times: u32) {
        match kind {
            Kind::BlockEnd => return,
            Kind::Message => self.messages += times,
            Kind::Exchange => {
                self.exchanges += times;
                self.exchange_dims = self.exchange_dims.max(dims);
            }
            Kind::Gather => {
                self.gathers += times;
                self.sum_dims = self.sum_dims.max(dims);
            }
            Kind::Sum if several => {
                self.sums += times;
                self.sum_dims = self.sum_dims.max(dims);
            }
            Kind::Sum | Kind::Other => {}
        }
        self.calls += times;
    }

    /// Adds the traffic of another group of the family.
    pub fn add(&mut self, other: &Traffic) {
        self.calls = self.calls.saturating_add(other.calls);
        self.messages = self.messages.saturating_add(other.messages);
        self.exchanges = self.exchanges.saturating_add(other.exchanges);
        self.gathers = self.gathers.saturating_add(other.gathers);
        self.sums = self.sums.saturating_add(other.sums);
        self.sum_dims = self.sum_dims.max(other.sum_dims);
        self.exchange_dims = self.exchange_dims.max(other.exchange_dims);
        self.ways.up |= other.ways.up;
        self.ways.down |= other.ways.down;
        self.ways.around |= other.ways.around;
    }

    /// Whether most of it are messages.
    pub fn is_messages(&self) -> bool {
        self.messages > self.calls / 2
    }

    /// Whether most of it are `all_to_all`s.
    pub fn is_exchanges(&self) -> bool {
        self.exchanges > self.calls / 2
    }
}

impl Ways {
    fn add(&mut self, src: u32, dst: u32, size: u32) {
        if size > 2 && src.abs_diff(dst) == size - 1 {
            self.around = true;
        } else if src < dst {
            self.up = true;
        } else if src > dst {
            self.down = true;
        }
    }

    /// Whether everything goes one way and around the end: a ring, as attention over a split sequence makes it.
    pub fn is_ring(self) -> bool {
        self.around && self.up != self.down
    }
}

/// Most dimensions of an input, and whether some input has more than one element.
fn shape(symbols: &Symbols, args: &Args) -> (u32, bool) {
    let shapes = || symbols.shape_lists.get(args.input_sizes).iter().map(|&id| symbols.shapes.get(id));
    let several = |shape: &[i64]| shape.iter().all(|&extent| extent > 0) && shape.iter().any(|&extent| extent > 1);
    (shapes().map(<[i64]>::len).max().unwrap_or(0) as u32, shapes().any(several))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_go_one_way() {
        let ways = |pairs: &[(u32, u32)], size: u32| {
            let mut ways = Ways::default();
            pairs.iter().for_each(|&(src, dst)| ways.add(src, dst, size));
            ways.is_ring()
        };
        assert!(ways(&[(0, 1), (1, 2), (2, 3), (3, 0)], 4));
        assert!(!ways(&[(0, 1), (1, 2), (2, 3)], 4), "a pipeline that has only gone forward");
        assert!(!ways(&[(0, 1), (1, 2), (3, 0), (1, 0), (0, 3)], 4), "an interleaved pipeline");
        assert!(!ways(&[(0, 1), (1, 0)], 2));
    }

    #[test]
    fn names_of_calls() {
        let count = |name: &str| {
            let mut traffic = Traffic::default();
            traffic.count(Kind::of(name), 2, true, 1);
            (traffic.calls, traffic.messages, traffic.exchanges, traffic.gathers, traffic.sums)
        };
        assert_eq!(count("all_to_all"), (1, 0, 1, 0, 0));
        assert_eq!(count("ALLTOALL_BASE"), (1, 0, 1, 0, 0));
        assert_eq!(count("_reduce_scatter_base"), (1, 0, 0, 1, 0));
        assert_eq!(count("all_reduce"), (1, 0, 0, 0, 1));
        assert_eq!(count("all_reduce_barrier"), (1, 0, 0, 0, 0));
        assert_eq!(count("send"), (1, 1, 0, 0, 0));
        assert_eq!(count("coalesced"), (0, 0, 0, 0, 0));
    }
}
