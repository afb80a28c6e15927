//! Communicators that the program makes from others, and frees.

#![expect(unsafe_code, reason = "C functions under MPI's names")]

use std::ffi::c_int;
use std::sync::Arc;

use hangscope_recorder::{CommunicatorInfo, Handle, OpKind, Operation, guard};

use crate::flow::{SUCCESS, Site, enter};
use crate::known::Known;
use crate::session::Session;
use crate::tracked::Tracked;
use crate::wrap::wrap;
use crate::{flow, group};

/// A communicator that is being made. Its name is the same on all its members, and no other communicator's.
#[derive(Debug)]
pub(crate) struct Birth {
    name: String,
    description: String,
    /// Members may differ under one name: the lowest of them tells which.
    is_ambiguous: bool,
    /// Where the library writes the handle.
    place: usize,
}

impl Birth {
    /// The next one that is made from a communicator by a call that all its members make. `detail` says what they need
    /// not agree on, after a comma. It is not said of the communicator: parts of one split are siblings, of which readers
    /// expect the same.
    fn from(site: &Site, word: &str, detail: &str, is_ambiguous: bool, place: *const u8) -> Self {
        let nth = site.known.count_creation();
        Self {
            name: format!("{}/{word} {nth}{detail}", site.known.base.info().name),
            description: format!("{word} {nth} of {}", site.known.spoken()),
            is_ambiguous,
            place: place as usize,
        }
    }

    /// Notes that it has been made.
    pub(crate) fn complete(&self, session: &Session) {
        let handle = flow::request_at(session, self.place as *const u8, 0);
        if handle == session.abi.handles.comm_null || handle == 0 {
            return;
        }
        let known = (!group::is_intercommunicator(handle)).then(|| self.known(session, handle)).flatten();
        session.communicators.put(handle, known.map(Arc::new));
    }

    fn known(&self, session: &Session, handle: usize) -> Option<Known> {
        let (rank, size) = group::rank_and_size(handle)?;
        let members = group::members(&session.abi, handle)?;
        let which = if self.is_ambiguous {
            members.iter().min().map(|first| format!(", from rank {first}")).unwrap_or_default()
        } else {
            String::new()
        };
        let info = CommunicatorInfo {
            name: format!("{}{which}", self.name),
            description: self.description.clone(),
            rank,
            size,
            members: Some(members),
            shared_id: None,
        };
        Some(Known::new(session.recorder, info))
    }
}

/// Makes the wrapper of a call by which all members of a communicator make another one.
macro_rules! creations {
    ($($name:ident $kind:ident ($($argument:ident: $type:ident),*) $parent:ident $made:ident
        $word:literal $detail:expr, $is_ambiguous:literal;)*) => {$(
        wrap!($name, Plain, ($($argument: $type),*), |real| {
            let (entered, _outermost) = enter(|session| {
                let site = Site::of(session, $parent)?;
                let birth = Birth::from(&site, $word, $detail, $is_ambiguous, $made);
                let handle = site.record(&site.known.base, &Operation::collective(OpKind::$kind, None, None));
                Some((session, handle, birth))
            });
            let outcome = real($($argument),*);
            if let Some((session, handle, birth)) = entered {
                made(session, handle, &birth, outcome);
            }
            outcome
        });
    )*};
}

fn made(session: &Session, handle: Handle, birth: &Birth, outcome: c_int) {
    flow::leave(session, handle, outcome);
    if outcome == SUCCESS {
        guard(|| birth.complete(session));
    }
}

creations! {
    MPI_Comm_split Split (comm: Handle, colour: Number, key: Number, made: Out) comm made
        "split" &format!(", colour {colour}"), false;
    MPI_Comm_split_type Split (comm: Handle, kind: Number, key: Number, info: Handle, made: Out) comm made
        "split by type" "", true;
    MPI_Comm_dup Duplicate (comm: Handle, made: Out) comm made "duplicate" "", false;
    MPI_Comm_dup_with_info Duplicate (comm: Handle, info: Handle, made: Out) comm made
        "duplicate" "", false;
    MPI_Comm_create Create (comm: Handle, group: Handle, made: Out) comm made "group" "", true;
    MPI_Cart_create Create
        (comm: Handle, dimensions: Number, extents: Address, periods: Address, reorder: Number, made: Out) comm made
        "grid" "", false;
    MPI_Cart_sub Split (comm: Handle, remain: Address, made: Out) comm made "part of a grid" "", true;
    MPI_Graph_create Create
        (comm: Handle, nodes: Number, index: Address, edges: Address, reorder: Number, made: Out) comm made
        "graph" "", false;
    MPI_Dist_graph_create Create
        (comm: Handle, nodes: Number, sources: Address, degrees: Address, destinations: Address, weights: Address,
         info: Handle, reorder: Number, made: Out) comm made
        "graph" "", false;
    MPI_Dist_graph_create_adjacent Create
        (comm: Handle, inputs: Number, sources: Address, source_weights: Address, outputs: Number,
         destinations: Address, weights: Address, info: Handle, reorder: Number, made: Out) comm made
        "graph" "", false;
}

macro_rules! begun_duplicates {
    ($($name:ident ($($argument:ident: $type:ident),*) $parent:ident $made:ident $request:ident;)*) => {$(
        wrap!($name, Plain, ($($argument: $type),*), |real| {
            let (entered, _outermost) = enter(|session| {
                let site = Site::of(session, $parent)?;
                let birth = Birth::from(&site, "duplicate", "", false, $made);
                let handle = site.record(&site.known.base, &Operation::collective(OpKind::Duplicate, None, None));
                Some((session, Tracked { birth: Some(Arc::new(birth)), ..Tracked::of(handle) }))
            });
            let outcome = real($($argument),*);
            if let Some((session, tracked)) = entered {
                flow::begun(session, $request, tracked, outcome);
            }
            outcome
        });
    )*};
}

begun_duplicates! {
    MPI_Comm_idup (comm: Handle, made: Out, request: Out) comm made request;
    MPI_Comm_idup_with_info (comm: Handle, info: Handle, made: Out, request: Out) comm made request;
}

// Only the members of the group make this call, so it is recorded under the communicator that it makes.
wrap!(MPI_Comm_create_group, Plain, (comm: Handle, group: Handle, tag: Number, made: Out), |real| {
    let (entered, _outermost) = enter(|session| {
        let parent = session.known(comm)?;
        let members = group::group_members(&session.abi, session.abi.handle(group))?;
        let own = parent.base.members()?.get(parent.rank() as usize).copied()?;
        let rank = u32::try_from(members.iter().position(|member| *member == own)?).ok()?;
        let list = members_text(&members);
        let info = CommunicatorInfo {
            name: format!("{}/ranks {list}, tag {tag}, {}", parent.base.info().name, parent.count_group(&list, tag)),
            description: format!("ranks {list} of {}", parent.spoken()),
            rank,
            size: u32::try_from(members.len()).ok()?,
            members: Some(members),
            shared_id: None,
        };
        let known = Known::new(session.recorder, info);
        let handle = session.recorder.record(&known.base, &Operation::collective(OpKind::Create, None, None));
        Some((session, known, handle))
    });
    let outcome = real(comm, group, tag, made);
    if let Some((session, known, handle)) = entered {
        flow::leave(session, handle, outcome);
        guard(|| {
            let made = if outcome == SUCCESS { flow::request_at(session, made, 0) } else { 0 };
            if made == 0 || made == session.abi.handles.comm_null {
                known.free(session.recorder);
            } else {
                session.communicators.put(made, Some(Arc::new(known)));
            }
        });
    }
    outcome
});

macro_rules! ends {
    ($($name:ident)*) => {$(
        wrap!($name, Plain, (comm: Out), |real| {
            // It is forgotten before another one can have its handle.
            let (entered, _outermost) = enter(|session| {
                let handle = flow::request_at(session, comm, 0);
                session.communicators.remove(handle).map(|known| (session, known))
            });
            let outcome = real(comm);
            if let Some((session, known)) = entered {
                guard(|| known.free(session.recorder));
            }
            outcome
        });
    )*};
}

ends! { MPI_Comm_free MPI_Comm_disconnect }

/// A list of ranks as text: `0-3,8`; of a long one the first and the last, and a number made of all.
pub(crate) fn members_text(members: &[u32]) -> String {
    const SHOWN: usize = 8;
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for member in members {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*member) => *last = *member,
            _ => ranges.push((*member, *member)),
        }
    }
    if ranges.len() > SHOWN {
        // FNV-1a: the same on every rank, whatever its version of the standard library.
        let hash = members
            .iter()
            .flat_map(|member| member.to_le_bytes())
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let ends = (members.first().copied().unwrap_or_default(), members.last().copied().unwrap_or_default());
        return format!("{} … {} ({} of them, {hash:016x})", ends.0, ends.1, members.len());
    }
    let one = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    ranges.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::members_text;

    #[test]
    fn lists_of_members_are_short_and_differ() {
        assert_eq!(members_text(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(members_text(&[3, 2]), "3,2");
        let even: Vec<u32> = (0..4000).step_by(2).collect();
        let odd: Vec<u32> = (0..4000).step_by(2).map(|rank| if rank == 10 { 11 } else { rank }).collect();
        assert!(members_text(&even).len() < 60);
        assert_ne!(members_text(&even), members_text(&odd));
    }
}
