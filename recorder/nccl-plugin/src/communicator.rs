//! A communicator as NCCL tells of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hangscope_recorder::{Communicator, CommunicatorInfo, Handle, Recorder};

use crate::abi::Version;

/// What NCCL tells at `init`.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    pub version: Version,
    /// The same on all ranks, and another for every communicator.
    pub id: u64,
    /// What the program calls it; empty where it says nothing.
    pub name: String,
    pub size: u32,
    /// The rank in this communicator.
    pub rank: u32,
}

/// A communicator of this process.
#[derive(Debug)]
pub(crate) struct Comm {
    pub version: Version,
    pub id: u64,
    pub size: u32,
    pub rank: u32,
    pub recorded: Arc<Communicator>,
    /// Whether anything tells when its operations end.
    pub tracked: bool,
    /// Its calls launch before they return, as seen: at the end of a group its operations are on their streams.
    launches_inside: AtomicBool,
    /// The newest operation of whose end nothing will tell: the end of a later one does. 0: there is none.
    unseen: AtomicU64,
}

impl Comm {
    pub(crate) fn new(told: &Introduction, recorder: &Recorder, tracked: bool) -> Self {
        // Programs may give two communicators one name; the id tells them apart, on every rank in the same way.
        let info = CommunicatorInfo {
            name: format!("{:#018x}", told.id),
            description: told.name.clone(),
            rank: told.rank,
            size: told.size,
            members: members(told, recorder),
            shared_id: Some(told.id),
        };
        Self {
            version: told.version,
            id: told.id,
            size: told.size,
            rank: told.rank,
            recorded: recorder.communicator(info),
            tracked,
            launches_inside: AtomicBool::new(false),
            unseen: AtomicU64::new(0),
        }
    }

    pub(crate) fn launches_inside(&self) -> bool {
        self.launches_inside.load(Ordering::Relaxed)
    }

    /// Notes that a launch came before the end of its group.
    pub(crate) fn launched_inside(&self) {
        self.launches_inside.store(true, Ordering::Relaxed);
    }

    /// Notes an operation of whose end nothing will tell.
    pub(crate) fn unseen(&self, handle: Handle) {
        self.unseen.fetch_max(handle.to_word(), Ordering::Relaxed);
    }

    /// Takes notice of an operation's end: NCCL runs those of one communicator in order, so it is the end of earlier
    /// ones too.
    pub(crate) fn overtaken(&self, recorder: &Recorder, handle: Handle) {
        let unseen = self.unseen.load(Ordering::Relaxed);
        if unseen != 0 {
            recorder.complete_before(&self.recorded, handle);
            if unseen < handle.to_word() {
                // Otherwise another one came meanwhile, and waits for the next end.
                let _ = self.unseen.compare_exchange(unseen, 0, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
    }
}

/// Global ranks by ranks in the communicator, where nobody has to be asked.
fn members(told: &Introduction, recorder: &Recorder) -> Option<Vec<u32>> {
    let rank = recorder.rank()?;
    if told.size == 1 {
        return Some(vec![rank]);
    }
    // With another rank in it than in the job, the order is not that of the job.
    (recorder.world_size() == Some(told.size) && rank == told.rank).then(|| (0..told.size).collect())
}
