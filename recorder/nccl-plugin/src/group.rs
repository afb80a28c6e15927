//! Calls that NCCL takes up together.

use std::sync::Arc;

use hangscope_recorder::{Block, Handle};

use crate::block::MessageBlock;
use crate::communicator::Comm;
use crate::cuda::Marker;
use crate::follower::Follow;

/// From the start of a group to its end. A call on its own is a group too.
#[derive(Debug)]
pub(crate) struct Group {
    /// Whether the caller opened it.
    is_explicit: bool,
    pub is_ended: bool,
    batches: Vec<Batch>,
}

/// What a group holds of one communicator.
#[derive(Debug)]
pub(crate) struct Batch {
    pub comm: Arc<Comm>,
    issued: Vec<Issued>,
    block: Option<Arc<MessageBlock>>,
    is_launched: bool,
    begin: Option<Marker>,
    /// After the last launch, and its stream.
    end: Option<(Marker, usize)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Issued {
    pub handle: Handle,
    /// The caller's stream, by its address.
    pub stream: usize,
}

/// What is left to do for a batch when its group has ended.
#[derive(Debug)]
pub(crate) enum Rest {
    /// Its launch is marked.
    Follow(Follow),
    /// It was launched, and cannot be followed.
    Lost(Arc<Comm>, Vec<Issued>),
    /// It was not launched, or nobody said so.
    NotLaunched(Arc<Comm>, Vec<Issued>),
}

impl Group {
    pub(crate) fn new(is_explicit: bool) -> Self {
        Self { is_explicit, is_ended: false, batches: Vec::new() }
    }

    fn batch(&mut self, comm: &Arc<Comm>) -> &mut Batch {
        let at = self.batches.iter().position(|batch| Arc::ptr_eq(&batch.comm, comm)).unwrap_or_else(|| {
            self.batches.push(Batch::new(Arc::clone(comm)));
            self.batches.len() - 1
        });
        &mut self.batches[at]
    }

    /// Takes a message in; tells its place among those that are issued together.
    pub(crate) fn join(&mut self, comm: &Arc<Comm>) -> (Block, Arc<MessageBlock>) {
        let is_explicit = self.is_explicit;
        let block = self.batch(comm).block.get_or_insert_default();
        let place = match block.join() {
            // NCCL turns some collectives into messages within a call that nobody opened a group for.
            0 if !is_explicit => Block::Single,
            0 => Block::First,
            _ => Block::Inner,
        };
        (place, Arc::clone(block))
    }

    pub(crate) fn issue(&mut self, comm: &Arc<Comm>, issued: Issued) {
        self.batch(comm).issued.push(issued);
    }

    /// Whether a launch can be of something that was issued here.
    pub(crate) fn has_issued(&mut self, comm: &Arc<Comm>) -> bool {
        !self.batch(comm).issued.is_empty()
    }

    /// The messages that nothing else will join; `None`: there are none, or one that stands for itself.
    /// With the stream of the last of them.
    pub(crate) fn close_block(&mut self, comm: &Arc<Comm>) -> Option<(Arc<MessageBlock>, usize)> {
        let is_explicit = self.is_explicit;
        let batch = self.batch(comm);
        let block = batch.block.take().filter(|block| is_explicit || block.members() > 1)?;
        Some((block, batch.issued.last().map_or(0, |one| one.stream)))
    }

    pub(crate) fn communicators(&self) -> Vec<Arc<Comm>> {
        self.batches.iter().map(|batch| Arc::clone(&batch.comm)).collect()
    }

    /// Notes a launch; gives what was issued, and markers that are of no use any more.
    pub(crate) fn launch(
        &mut self,
        comm: &Arc<Comm>,
        stream: usize,
        markers: Option<(Marker, Marker)>,
    ) -> (Vec<Issued>, Vec<Marker>) {
        let batch = self.batch(comm);
        batch.is_launched = true;
        let mut unused = Vec::new();
        if let Some((begin, end)) = markers {
            match batch.begin {
                None => batch.begin = Some(begin),
                Some(_) => unused.push(begin),
            }
            unused.extend(batch.end.replace((end, stream)).map(|(marker, _)| marker));
        }
        (batch.issued.clone(), unused)
    }

    /// What is left to do for one communicator's batch, which is taken out.
    pub(crate) fn settle(&mut self, comm: &Arc<Comm>) -> Option<Rest> {
        let at = self.batches.iter().position(|batch| Arc::ptr_eq(&batch.comm, comm))?;
        let batch = self.batches.swap_remove(at);
        Some(batch.settle())
    }
}

impl Batch {
    fn new(comm: Arc<Comm>) -> Self {
        Self { comm, issued: Vec::new(), block: None, is_launched: false, begin: None, end: None }
    }

    fn settle(self) -> Rest {
        let Self { comm, issued, is_launched, begin, end, .. } = self;
        match end {
            Some((end, stream)) => {
                let handles = issued.iter().map(|one| one.handle).collect();
                Rest::Follow(Follow { comm, handles, stream, begin, end })
            }
            None if is_launched => Rest::Lost(comm, issued),
            None => Rest::NotLaunched(comm, issued),
        }
    }
}
