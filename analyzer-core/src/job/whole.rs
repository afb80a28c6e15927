//! The job as one value.

use alloc::string::String;
use alloc::vec::Vec;

use super::op_table::OpTable;
use super::{Capabilities, Group, GroupIdx, Op};
use crate::dump::{Entries, Entry, EntryHead, EntryIdx, GroupStatus, State};
use crate::report::{Quality, Site};
use crate::symbols::{Frame, FrameId, StackId, StrId, Symbols};

/// Names a rank that left a dump: its place in [`Job::ranks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RankIdx(pub u32);

/// What one rank left behind, in the job's symbols.
#[derive(Clone, Debug)]
pub struct RankDump {
    /// Global rank.
    pub rank: u32,
    /// The file.
    pub file: String,
    /// `version` of the dump.
    pub version: String,
    /// The entries, oldest first.
    pub entries: Entries,
    /// The group of each [`Entry::group_ref`].
    pub groups: Vec<GroupIdx>,
    /// `pg_status`, by group, sorted; only groups that the entries join to their numbers.
    pub statuses: Vec<(GroupIdx, GroupStatus)>,
    /// What the dump can tell.
    pub capabilities: Capabilities,
}

impl RankDump {
    /// The counters of a group, where the dump has them.
    pub fn status(&self, group: GroupIdx) -> Option<GroupStatus> {
        let at = self.statuses.binary_search_by_key(&group, |item| item.0).ok()?;
        self.statuses.get(at).map(|item| item.1)
    }
}

/// All dumps of a job.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Texts, frames, stacks and arguments of all ranks.
    pub symbols: Symbols,
    /// Ranks with a dump, ascending.
    pub ranks: Vec<RankDump>,
    /// Groups, by description, name and members.
    pub groups: Vec<Group>,
    /// Ranks that must exist (members of a group) and have no readable dump, ascending.
    pub missing_ranks: Vec<u32>,
    /// Ranks whose files could not be read, ascending; they are among `missing_ranks`.
    pub unreadable_ranks: Vec<u32>,
    /// Newest creation or completion time in any dump; 0 when there is none.
    pub snapshot_ns: i64,
    /// Whether dumps of any rank may be lost: an archive, a pack or a bundle is damaged or breaks off, or another job wrote dumps to the same place.
    pub dumps_may_be_lost: bool,
    /// Whether ranks went through the same rows so long after each other that their dumps may be of different runs.
    pub may_be_of_two_runs: bool,
    /// Whether there were dumps of another job or run, which are left out.
    pub other_runs_left_out: bool,
    /// What could not be read or is uncertain.
    pub quality: Vec<Quality>,
    /// Names of operations, taken apart.
    pub(super) ops: OpTable,
    /// Short names of the groups, in their order.
    pub(super) labels: Vec<String>,
    /// Whether a file is a library's, by the handle of its name.
    pub(super) library_files: Vec<bool>,
}

impl Job {
    /// The dump of a rank index.
    pub fn rank(&self, at: RankIdx) -> &RankDump {
        &self.ranks[at.0 as usize]
    }

    /// The index of a global rank that left a dump.
    pub fn rank_idx(&self, rank: u32) -> Option<RankIdx> {
        self.ranks.binary_search_by_key(&rank, |dump| dump.rank).ok().map(|at| RankIdx(at as u32))
    }

    /// A group.
    pub fn group(&self, at: GroupIdx) -> &Group {
        &self.groups[at.0 as usize]
    }

    /// An entry.
    pub fn entry(&self, rank: RankIdx, entry: EntryIdx) -> Entry {
        self.rank(rank).entries.get(entry)
    }

    /// What an entry has in common with others; `None` when there is no such entry.
    pub fn head(&self, rank: RankIdx, entry: EntryIdx) -> Option<&EntryHead> {
        self.rank(rank).entries.head(entry)
    }

    /// The call stack of an entry.
    pub fn stack(&self, rank: RankIdx, entry: EntryIdx) -> StackId {
        self.head(rank, entry).map_or(StackId::NOT_RECORDED, |head| head.stack)
    }

    /// Whether an entry is one end of a message.
    pub fn is_message(&self, rank: RankIdx, entry: EntryIdx) -> bool {
        self.head(rank, entry).is_some_and(|head| self.op(head.op).peer.is_some())
    }

    /// The group of an entry.
    pub fn group_of(&self, rank: RankIdx, entry: &Entry) -> Option<GroupIdx> {
        self.rank(rank).groups.get(entry.group_ref as usize).copied()
    }

    /// What an operation's name says.
    pub fn op(&self, name: StrId) -> &Op {
        self.ops.get(name)
    }

    /// The libraries of all operations; several may have one.
    pub fn libraries(&self) -> impl Iterator<Item = &str> {
        self.ops.libraries()
    }

    /// Whether operations run on devices, after the call that issues them. Those of MPI run in the call, those of gloo on the CPU.
    pub fn uses_devices(&self) -> bool {
        self.libraries().any(|library| library != "mpi" && library != "gloo")
    }

    /// Whether all operations are MPI's, which hangscope's own recorder records.
    pub fn is_of_mpi(&self) -> bool {
        self.libraries().all(|library| library == "mpi")
    }

    /// Handle of an operation's name without library and ranks.
    pub fn op_name(&self, name: StrId) -> StrId {
        self.ops.name(name)
    }

    /// How far an entry has come, as far as its recorder tells: where completion is never reported, retired means finished.
    pub fn state(&self, rank: RankIdx, entry: &Entry) -> State {
        if entry.state != State::Completed && entry.retired {
            let weak = &self.rank(rank).capabilities.weak_libraries;
            if weak.binary_search(&self.ops.library(entry.op)).is_ok() {
                return State::Completed;
            }
        }
        entry.state
    }

    /// Whether a completed entry took longer than its limit: if the rank did not go on afterwards, an abort released it.
    pub fn is_late(&self, entry: &Entry) -> bool {
        entry.state == State::Completed
            && entry.timeout_ms > 0
            && entry.created_ns > 0
            && entry.completed_ns.saturating_sub(entry.created_ns) / 1_000_000 > i64::from(entry.timeout_ms)
    }

    /// Calls `visit` with how far each entry of a rank has come, see [`Job::state`], whether it is retired, and whether it was late, see
    /// [`Job::is_late`]; before these with the place of its head.
    #[inline(always)]
    pub fn for_each_stage(&self, rank: RankIdx, mut visit: impl FnMut(usize, State, bool, bool)) {
        let dump = self.rank(rank);
        let weak = &dump.capabilities.weak_libraries;
        let of_head =
            |head: &EntryHead| (weak.binary_search(&self.ops.library(head.op)).is_ok(), i64::from(head.timeout_ms));
        let heads: Vec<(bool, i64)> = dump.entries.heads().iter().map(of_head).collect();
        dump.entries.for_each_state(|at, head, state, retired| {
            let (is_weak, timeout_ms) = heads.get(head).copied().unwrap_or_default();
            let (state, late) = match state {
                State::Completed => (state, timeout_ms > 0 && dump.entries.is_over(at, timeout_ms)),
                _ if retired && is_weak => (State::Completed, false),
                _ => (state, false),
            };
            visit(head, state, retired, late);
        });
    }

    /// Whether nobody can finish an operation before every member has begun it: all give, all take, and there is something to give.
    pub fn waits_for_all(&self, entry: &Entry) -> bool {
        let shapes = self.symbols.shape_lists.get(self.symbols.args.get(entry.args).input_sizes);
        self.op(entry.op).waits_for_all()
            && shapes.iter().all(|&shape| self.symbols.shapes.get(shape).iter().all(|&extent| extent > 0))
    }

    /// Whether a frame belongs to a library.
    pub fn is_library_frame(&self, frame: &Frame) -> bool {
        self.library_files.get(frame.file.index()).copied().unwrap_or(true)
    }

    /// The innermost frame of the user's program; where all belong to libraries, the innermost one outside torch; `None` without a stack.
    pub fn user_frame(&self, stack: StackId) -> Option<FrameId> {
        let frames = || self.symbols.stacks.frames(stack);
        let frame = |id: &FrameId| self.symbols.frames.get(*id);
        frames()
            .find(|id| !self.is_library_frame(&frame(id)))
            .or_else(|| frames().find(|id| !self.symbols.strings.get(frame(id).file).contains("/torch/")))
            .or_else(|| frames().next())
    }

    /// A frame as the report shows it.
    pub fn site(&self, frame: FrameId) -> Site {
        let frame = self.symbols.frames.get(frame);
        Site {
            function: self.symbols.strings.get(frame.function).into(),
            file: self.symbols.strings.get(frame.file).into(),
            line: frame.line,
        }
    }

    /// The innermost user frame as the report shows it.
    pub fn call_site(&self, stack: StackId) -> Option<Site> {
        self.user_frame(stack).map(|frame| self.site(frame))
    }
}
