//! What is known of a request or of a matched message.

use std::sync::Arc;

use hangscope_recorder::{Communicator, Handle, Operation};

use crate::creations::Birth;
use crate::known::Known;
use crate::narrow::KeptArrays;

/// A request of the program whose operation is recorded.
#[derive(Debug, Clone)]
pub(crate) struct Tracked {
    pub handle: Handle,
    /// The communicator of a receive, which is told later what came, or that nothing did.
    pub receive: Option<Receive>,
    /// What to record each time when a persistent request is started.
    pub template: Option<Arc<Template>>,
    /// The communicator that the operation makes.
    pub birth: Option<Arc<Birth>>,
    /// The program has asked to cancel it.
    pub cancelled: bool,
    /// What the library reads until it has ended.
    #[expect(dead_code, reason = "it is there to be there")]
    pub kept: KeptArrays,
}

/// A receive.
#[derive(Debug, Clone)]
pub(crate) struct Receive {
    pub known: Arc<Known>,
    /// It takes a message from any source or with any tag.
    pub is_open: bool,
}

/// An operation that is started again and again.
#[derive(Debug)]
pub(crate) struct Template {
    pub channel: Arc<Communicator>,
    pub operation: Operation,
}

impl Tracked {
    pub(crate) fn of(handle: Handle) -> Self {
        Self { handle, receive: None, template: None, birth: None, cancelled: false, kept: None }
    }

    /// Whether the status tells what has to be amended.
    pub(crate) fn is_open(&self) -> bool {
        self.receive.as_ref().is_some_and(|receive| receive.is_open)
    }
}
