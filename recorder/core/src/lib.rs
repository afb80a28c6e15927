//! Gives a program that has no Flight Recorder one: a ring of the operations that a process asked its communication
//! library for, a watchdog that sees when one of them does not end, and a writer of dumps in PyTorch's format, which
//! `hangscope` and PyTorch's own analyser read.
//!
//! It runs inside programs of other people, so: recording takes no lock and no memory, a panic stays here
//! ([`guard()`]), a forked child is left alone, and dumping asks for nothing that a stuck thread may hold.
//!
//! Not here: NCCL, MPI and CUDA. The plugin and the preloaded library know these, and tell the [`Recorder`] what
//! happens in the terms of an [`Operation`] on a [`Communicator`].
//!
//! ```
//! use hangscope_recorder::{Buffer, CommunicatorInfo, DataType, OpKind, Operation, Recorder, Settings, Source};
//!
//! let settings = Settings { rank: Some(0), world_size: Some(1), watchdog: false, ..Settings::default() };
//! let recorder = Recorder::launch(settings, Source { library: "mpi", version: "example".to_owned() });
//! let world = recorder.communicator(CommunicatorInfo::of_world("world", 0, 1));
//! let buffer = Buffer { count: 1024, dtype: DataType::Float };
//! let handle = recorder.record(&world, &Operation::collective(OpKind::AllReduce, Some(buffer), Some(buffer)));
//! recorder.complete(handle);
//! assert_eq!(recorder.snapshot().entries.len(), 1);
//! ```

#![cfg(unix)]
#![deny(missing_docs)]

mod channel;
mod clock;
mod communicator;
mod data_type;
mod dump;
mod guard;
mod handle;
mod log;
mod op_kind;
mod operation;
mod record;
mod recorder;
mod registry;
mod ring;
mod settings;
mod slot;
mod snapshot;
mod stack;
mod sync;
mod thread;
mod trigger;
mod watchdog;

pub use communicator::{Communicator, CommunicatorInfo};
pub use data_type::DataType;
pub use guard::{guard, is_inert};
pub use handle::Handle;
pub use log::line as log_line;
pub use op_kind::OpKind;
pub use operation::{Block, Buffer, Operation, Peer};
pub use recorder::{Recorder, Source};
pub use settings::{
    CHANNEL_PORT_OFFSET, ChannelSetting, DumpForm, FILE_PREFIX, RANK_VARIABLES, SIZE_VARIABLES, Settings, Stacks,
    duration,
};
pub use snapshot::{Snapshot, SnapshotEntry};
pub use watchdog::without_signals;
