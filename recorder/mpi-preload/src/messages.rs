//! Sends and receives.

#![expect(unsafe_code, reason = "C functions under MPI's names")]

use std::ffi::c_int;
use std::sync::Arc;

use hangscope_recorder::{Buffer, Communicator, DataType, Handle, OpKind, Operation, Peer};

use crate::completion::{settle, settle_outcome};
use crate::flow::{self, SUCCESS, Site, enter};
use crate::mpi_library::pmpi;
use crate::session::Session;
use crate::status::StatusBuffer;
use crate::tracked::{Receive, Template, Tracked};
use crate::wait_all;
use crate::wrap::wrap;

/// A message as it is recorded: where, and as what.
#[derive(Debug)]
pub(crate) struct Message {
    channel: Arc<Communicator>,
    operation: Operation,
    receive: Option<Receive>,
}

impl Message {
    /// `None`: it goes nowhere, or its communicator is not recorded.
    fn send(
        session: &'static Session,
        comm: usize,
        to: c_int,
        tag: c_int,
        count: u64,
        datatype: usize,
    ) -> Option<Self> {
        let site = Site::of(session, comm)?;
        let peer = Peer::Rank(u32::try_from(to).ok()?);
        let buffer = site.buffer(count, datatype);
        let operation = Operation::message(OpKind::Send, peer, buffer.unwrap_or(NOTHING));
        Some(Self {
            channel: site.known.channel_of_tag(session.recorder, tag),
            operation: Operation { input: buffer, output: buffer, ..operation },
            receive: None,
        })
    }

    /// A receive has no size: its buffer may be larger than the message.
    pub(crate) fn receive(session: &'static Session, comm: usize, from: c_int, tag: c_int) -> Option<Self> {
        let abi = &session.abi;
        if from == abi.proc_null {
            return None;
        }
        let site = Site::of(session, comm)?;
        // Where the tag is open the channel is not known, and so no send may be held against the receive.
        let is_open = from == abi.any_source || tag == abi.any_tag;
        let peer = if is_open { Peer::Any } else { Peer::Rank(u32::try_from(from).ok()?) };
        Some(Self {
            channel: if tag == abi.any_tag {
                Arc::clone(&site.known.base)
            } else {
                site.known.channel_of_tag(session.recorder, tag)
            },
            operation: Operation { input: None, output: None, ..Operation::message(OpKind::Recv, peer, NOTHING) },
            receive: Some(Receive { known: site.known, is_open }),
        })
    }

    pub(crate) fn record(self, session: &Session) -> Tracked {
        let handle = session.recorder.record(&self.channel, &self.operation);
        Tracked { receive: self.receive, ..Tracked::of(handle) }
    }

    fn prepare(self) -> Tracked {
        let template = Template { channel: self.channel, operation: self.operation };
        Tracked { receive: self.receive, template: Some(Arc::new(template)), ..Tracked::of(Handle::NONE) }
    }
}

const NOTHING: Buffer = Buffer { count: 0, dtype: DataType::Unknown };

/// A message of a call that returns when it has left or come. `call` takes the status.
fn blocking(
    message: impl FnOnce(&'static Session) -> Option<Message>,
    status: *mut u8,
    call: impl FnOnce(*mut u8) -> c_int,
) -> c_int {
    let (entered, _outermost) = enter(|session| message(session).map(|message| (session, message.record(session))));
    let Some((session, tracked)) = entered else { return call(status) };
    if !tracked.is_open() {
        let outcome = call(status);
        settle_outcome(session, tracked, outcome);
        return outcome;
    }
    let mut own = StatusBuffer::new(&session.abi, 1);
    let told = if session.abi.ignores(status) { own.as_mut_ptr() } else { status };
    let outcome = call(told);
    settle(session, tracked, told, outcome);
    outcome
}

/// A message of a call that only begins it.
fn nonblocking(
    message: impl FnOnce(&'static Session) -> Option<Message>,
    request: *mut u8,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let (entered, _outermost) = enter(|session| message(session).map(|message| (session, message.record(session))));
    let outcome = call();
    if let Some((session, tracked)) = entered {
        flow::begun(session, request, tracked, outcome);
    }
    outcome
}

/// A message that is begun later, by `MPI_Start`.
fn persistent(
    message: impl FnOnce(&'static Session) -> Option<Message>,
    request: *mut u8,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let (entered, _outermost) = enter(|session| message(session).map(|message| (session, message.prepare())));
    let outcome = call();
    if let Some((session, tracked)) = entered {
        flow::prepared(session, request, tracked, outcome);
    }
    outcome
}

macro_rules! sends {
    ($($plain:ident $large:ident $begun:ident $begun_large:ident $prepared:ident $prepared_large:ident;)*) => {
        $(
            sends!(@block $plain Plain);
            sends!(@block $large Large);
            sends!(@begin $begun Plain nonblocking);
            sends!(@begin $begun_large Large nonblocking);
            sends!(@begin $prepared Plain persistent);
            sends!(@begin $prepared_large Large persistent);
        )*
    };
    (@block $name:ident $width:ident) => {
        wrap!($name, $width,
            (buffer: Address, count: Count, datatype: Handle, to: Number, tag: Number, comm: Handle), |real| {
            blocking(
                |session| Message::send(session, comm, to, tag, elements(count), datatype),
                std::ptr::null_mut(),
                |_| real(buffer, count, datatype, to, tag, comm),
            )
        });
    };
    (@begin $name:ident $width:ident $flow:ident) => {
        wrap!($name, $width,
            (buffer: Address, count: Count, datatype: Handle, to: Number, tag: Number, comm: Handle, request: Out),
            |real| {
            $flow(
                |session| Message::send(session, comm, to, tag, elements(count), datatype),
                request,
                || real(buffer, count, datatype, to, tag, comm, request),
            )
        });
    };
}

fn elements(count: impl crate::arguments::Elements) -> u64 {
    count.elements()
}

sends! {
    MPI_Send MPI_Send_c MPI_Isend MPI_Isend_c MPI_Send_init MPI_Send_init_c;
    MPI_Ssend MPI_Ssend_c MPI_Issend MPI_Issend_c MPI_Ssend_init MPI_Ssend_init_c;
    MPI_Rsend MPI_Rsend_c MPI_Irsend MPI_Irsend_c MPI_Rsend_init MPI_Rsend_init_c;
    MPI_Bsend MPI_Bsend_c MPI_Ibsend MPI_Ibsend_c MPI_Bsend_init MPI_Bsend_init_c;
}

macro_rules! receives {
    ($($plain:ident $begun:ident $prepared:ident $replace:ident $width:ident;)*) => {
        $(
            wrap!($plain, $width,
                (buffer: Address, count: Count, datatype: Handle, from: Number, tag: Number, comm: Handle, status: Out),
                |real| {
                blocking(
                    |session| Message::receive(session, comm, from, tag),
                    status,
                    |status| real(buffer, count, datatype, from, tag, comm, status),
                )
            });
            receives!(@begin $begun $width nonblocking);
            receives!(@begin $prepared $width persistent);
            wrap!($replace, $width,
                (buffer: Address, count: Count, datatype: Handle, to: Number, send_tag: Number, from: Number,
                 recv_tag: Number, comm: Handle, status: Out),
                |real| {
                both_at_once(
                    |session| Message::receive(session, comm, from, recv_tag),
                    |session| Message::send(session, comm, to, send_tag, elements(count), datatype),
                    status,
                    |status| real(buffer, count, datatype, to, send_tag, from, recv_tag, comm, status),
                )
            });
        )*
    };
    (@begin $name:ident $width:ident $flow:ident) => {
        wrap!($name, $width,
            (buffer: Address, count: Count, datatype: Handle, from: Number, tag: Number, comm: Handle, request: Out),
            |real| {
            $flow(
                |session| Message::receive(session, comm, from, tag),
                request,
                || real(buffer, count, datatype, from, tag, comm, request),
            )
        });
    };
}

receives! {
    MPI_Recv MPI_Irecv MPI_Recv_init MPI_Sendrecv_replace Plain;
    MPI_Recv_c MPI_Irecv_c MPI_Recv_init_c MPI_Sendrecv_replace_c Large;
}

/// A send and a receive of one call, of which MPI does not tell which is missing.
fn both_at_once(
    receive: impl FnOnce(&'static Session) -> Option<Message>,
    send: impl FnOnce(&'static Session) -> Option<Message>,
    status: *mut u8,
    call: impl FnOnce(*mut u8) -> c_int,
) -> c_int {
    let (entered, _outermost) = enter(|session| {
        let receive = receive(session).map(|message| message.record(session));
        let send = send(session).map(|message| message.record(session));
        Some((session, [receive, send]))
    });
    let Some((session, [receive, send])) = entered else { return call(status) };
    let mut own = StatusBuffer::new(&session.abi, 1);
    let told = if session.abi.ignores(status) { own.as_mut_ptr() } else { status };
    let outcome = call(told);
    if let Some(receive) = receive {
        settle(session, receive, told, outcome);
    }
    if let Some(send) = send {
        settle_outcome(session, send, outcome);
    }
    outcome
}

/// `MPI_Sendrecv` is by its definition a send and a receive that are begun at once and waited for together; run as these
/// two, it shows which of them is missing.
macro_rules! send_and_receive {
    ($($name:ident $width:ident;)*) => {$(
        wrap!($name, $width,
            (sent_buffer: Address, sent: Count, sent_type: Handle, to: Number, send_tag: Number, buffer: Address,
             count: Count, datatype: Handle, from: Number, recv_tag: Number, comm: Handle, status: Out),
            |real| {
            let (entered, _outermost) = enter(|session| {
                session.known(comm)?;
                let receive = Message::receive(session, comm, from, recv_tag).map(|message| message.record(session));
                let send = Message::send(session, comm, to, send_tag, elements(sent), sent_type)
                    .map(|message| message.record(session));
                Some((session, [receive, send]))
            });
            let Some((session, tracked)) = entered else {
                return real(
                    sent_buffer, sent, sent_type, to, send_tag, buffer, count, datatype, from, recv_tag, comm, status,
                );
            };
            let mut requests = wait_all::Pair::new(session);
            let mut begun = begin_receive(buffer, count.into(), datatype, from, recv_tag, comm, requests.at(0));
            if begun == SUCCESS {
                begun = begin_send(sent_buffer, sent.into(), sent_type, to, send_tag, comm, requests.at(1));
            }
            if begun == SUCCESS {
                requests.wait(tracked, status)
            } else {
                tracked.into_iter().flatten().for_each(|one| settle_outcome(session, one, begun));
                begun
            }
        });
    )*};
}

send_and_receive! {
    MPI_Sendrecv Plain;
    MPI_Sendrecv_c Large;
}

/// Defines a function that begins a message by whichever form takes its count.
macro_rules! beginnings {
    ($($name:ident $plain:ident $large:ident;)*) => {$(
        fn $name(
            buffer: usize, count: i64, datatype: usize, peer: c_int, tag: c_int, comm: usize, request: *mut u8,
        ) -> c_int {
            match c_int::try_from(count) {
                Ok(count) => pmpi!($plain(
                    buffer => usize, count => c_int, datatype => usize, peer => c_int, tag => c_int, comm => usize,
                    request => *mut u8,
                )),
                Err(_) => pmpi!($large(
                    buffer => usize, count => i64, datatype => usize, peer => c_int, tag => c_int, comm => usize,
                    request => *mut u8,
                )),
            }
            .unwrap_or(flow::FAILURE)
        }
    )*};
}

beginnings! {
    begin_receive PMPI_Irecv PMPI_Irecv_c;
    begin_send PMPI_Isend PMPI_Isend_c;
}
