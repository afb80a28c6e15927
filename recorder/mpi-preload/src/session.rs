//! The recording of this process, from `MPI_Init` to `MPI_Finalize`.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use hangscope_recorder::{CommunicatorInfo, Recorder, Settings, Source, guard, is_inert};

use crate::abi::Abi;
use crate::communicator_table::CommunicatorTable;
use crate::datatypes::Datatypes;
use crate::known::Known;
use crate::mpi_library::{self, pmpi};
use crate::request_table::RequestTable;
use crate::{group, line};

/// All that the wrappers need.
#[derive(Debug)]
pub(crate) struct Session {
    pub recorder: &'static Recorder,
    pub abi: Abi,
    pub communicators: CommunicatorTable,
    pub requests: RequestTable,
    /// Messages that were matched and are not received yet.
    pub messages: RequestTable,
    pub datatypes: Datatypes,
}

static SESSION: OnceLock<Session> = OnceLock::new();
static STAGE: AtomicU8 = AtomicU8::new(BEFORE);

const BEFORE: u8 = 0;
const RUNNING: u8 = 1;
const OVER: u8 = 2;

/// The recording, while there is one.
pub(crate) fn session() -> Option<&'static Session> {
    if is_inert() {
        return None;
    }
    match STAGE.load(Ordering::Acquire) {
        RUNNING => SESSION.get(),
        // MPI may have been initialised by a call that went past the wrappers.
        BEFORE if is_initialized() => {
            start();
            SESSION.get()
        }
        _ => None,
    }
}

/// The binary interface, once it is known.
pub(crate) fn abi() -> Option<&'static Abi> {
    SESSION.get().map(|session| &session.abi)
}

/// Begins to record. MPI is initialised.
pub(crate) fn start() {
    guard(|| {
        let session = SESSION.get_or_init(Session::new);
        // Who comes second finds the first one's session; only a beginning is followed by running.
        if STAGE.compare_exchange(BEFORE, RUNNING, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            session.adopt_world();
        }
    });
}

/// Ends the recording: MPI goes down.
pub(crate) fn finish() {
    if let Some(session) = session() {
        guard(|| session.recorder.finish());
    }
    STAGE.store(OVER, Ordering::Release);
}

#[expect(unsafe_code, reason = "calls of the MPI library")]
fn is_initialized() -> bool {
    let (mut begun, mut ended): (c_int, c_int) = (0, 0);
    pmpi!(PMPI_Initialized(&raw mut begun => *mut c_int)) == Some(0)
        && begun != 0
        && pmpi!(PMPI_Finalized(&raw mut ended => *mut c_int)) == Some(0)
        && ended == 0
}

impl Session {
    fn new() -> Self {
        let abi = mpi_library::detect();
        let (settings, faults) = Settings::from_environment();
        for fault in &faults {
            line::say(fault);
        }
        let source = Source { library: "mpi", version: mpi_library::version(&abi) };
        Self {
            recorder: Recorder::launch(settings, source),
            abi,
            communicators: CommunicatorTable::default(),
            requests: RequestTable::new(),
            messages: RequestTable::new(),
            datatypes: Datatypes::new(),
        }
    }

    fn adopt_world(&self) {
        let world = self.abi.handles.comm_world;
        let Some((rank, size)) = group::rank_and_size(world) else { return };
        self.recorder.tell_identity(rank, size);
        let known = Known::new(self.recorder, CommunicatorInfo::of_world("world", rank, size));
        self.communicators.put(world, Some(Arc::new(known)));
    }

    /// The communicator behind a handle. `None`: it is null, or one that is not recorded.
    pub(crate) fn known(&self, word: usize) -> Option<Arc<Known>> {
        let handle = self.abi.handle(word);
        match self.communicators.get(handle) {
            Some(known) => known,
            None if handle == self.abi.handles.comm_null || handle == 0 => None,
            None => self.discover(handle),
        }
    }

    /// A communicator that no wrapper saw being made.
    fn discover(&self, handle: usize) -> Option<Arc<Known>> {
        let known = (!group::is_intercommunicator(handle)).then(|| self.found(handle)).flatten().map(Arc::new);
        self.communicators.put(handle, known.clone());
        known
    }

    fn found(&self, handle: usize) -> Option<Known> {
        let (rank, size) = group::rank_and_size(handle)?;
        let members = group::members(&self.abi, handle)?;
        let given = group::name(handle);
        let list = crate::creations::members_text(&members);
        let name = if given.is_empty() { format!("found [{list}]") } else { format!("{given} [{list}]") };
        Some(Known::new(
            self.recorder,
            CommunicatorInfo {
                name,
                description: if given.is_empty() { format!("ranks {list}") } else { given },
                rank,
                size,
                members: Some(members),
                shared_id: None,
            },
        ))
    }
}
