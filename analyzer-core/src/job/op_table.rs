//! The distinct operations of a job, taken apart once.

use alloc::string::String;
use alloc::vec::Vec;

use super::Op;
use crate::symbols::{StrId, StringTable};

/// One operation.
#[derive(Clone, Debug)]
struct Parts {
    op: Op,
    library: StrId,
    name: StrId,
}

/// Operations by the handle of their name.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpTable {
    ops: Vec<Option<Parts>>,
}

const NONE: &Op = &Op { library: String::new(), name: String::new(), peer: None };

impl OpTable {
    /// Takes a name apart if it is new.
    pub(super) fn add(&mut self, name: StrId, strings: &mut StringTable) {
        if self.ops.len() <= name.index() {
            self.ops.resize(name.index() + 1, None);
        }
        if let Some(place) = self.ops.get_mut(name.index())
            && place.is_none()
        {
            let op = Op::parse(strings.get(name));
            let library = strings.intern(&op.library);
            let name = strings.intern(&op.name);
            *place = Some(Parts { op, library, name });
        }
    }

    /// What a name says.
    pub(crate) fn get(&self, name: StrId) -> &Op {
        self.ops.get(name.index()).and_then(Option::as_ref).map_or(NONE, |parts| &parts.op)
    }

    /// The library of each operation; several may have one.
    pub(super) fn libraries(&self) -> impl Iterator<Item = &str> {
        self.ops.iter().flatten().map(|parts| parts.op.library.as_str())
    }

    /// Handle of the library part of a name.
    pub(crate) fn library(&self, name: StrId) -> StrId {
        self.ops.get(name.index()).and_then(Option::as_ref).map_or(StrId::EMPTY, |parts| parts.library)
    }

    /// Handle of a name without its library and ranks: equal for `nccl:all_reduce` and `gloo:all_reduce`.
    pub(crate) fn name(&self, name: StrId) -> StrId {
        self.ops.get(name.index()).and_then(Option::as_ref).map_or(StrId::EMPTY, |parts| parts.name)
    }
}
