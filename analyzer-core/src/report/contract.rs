//! The report: one type for `--format json`, the page and embedding messages.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::Whom;

/// Version of the report's shape.
pub const SCHEMA: u32 = 1;

/// What the dumps of a job say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Who wrote the report.
    pub tool: Tool,
    /// [`Kind`] of the first finding, or `no_fault`, or `nothing_pending`.
    pub verdict: String,
    /// One sentence: what, where, which ranks, first place in user code.
    pub headline: String,
    /// The job as a whole.
    pub job: JobFacts,
    /// What broke, origin first. Consequences are not findings.
    pub findings: Vec<Finding>,
    /// Every rank of the job, in order.
    pub ranks: Vec<RankState>,
    /// What could not be read or is uncertain.
    pub data_quality: Vec<Quality>,
}

impl Report {
    /// Whether some dumps break off. What an operation hangs in is written last, so that a job without a fault in what is left is not healthy.
    pub fn breaks_off(&self) -> bool {
        self.data_quality.iter().any(|note| note.kind == QualityKind::Truncated)
    }
}

/// Name and version of this program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// `hangscope`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The job as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFacts {
    /// How many ranks the job has as far as the dumps tell; `None` if they don't.
    pub world_size: Option<u32>,
    /// Ranks with a readable dump.
    pub ranks_loaded: u32,
    /// Ranks without one, as ranges.
    pub ranks_missing: String,
    /// Distinct dump versions, oldest first.
    pub dump_versions: Vec<String>,
    /// Distinct library prefixes of the operations, sorted.
    pub backends: Vec<String>,
    /// Entries of all dumps.
    pub entries: u64,
    /// Rows of the table.
    pub rows: u64,
    /// Process groups.
    pub groups: u32,
    /// Newest creation or completion time in any dump: Unix nanoseconds; 0 when there is none.
    pub snapshot_ns: i64,
}

/// What was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// Suspects never issued the op the others wait in, and issued nothing after it.
    MissingRank,
    /// Suspects left out one or more ops and went on.
    SkippedCollective,
    /// Suspects issued one or more ops that nobody else issued.
    ExtraCollective,
    /// The same ops in another order.
    OrderMismatch,
    /// Another operation at the same place.
    OpMismatch,
    /// The same op from another place in the code.
    CallSiteMismatch,
    /// Sizes disagree.
    SizeMismatch,
    /// Dtypes disagree.
    DtypeMismatch,
    /// Sizes of an all_to_all cannot agree.
    SplitMismatch,
    /// Roots disagree.
    RootMismatch,
    /// A send without its receive, or the reverse.
    P2pUnmatched,
    /// A send and its receive disagree on size or dtype.
    P2pSizeMismatch,
    /// A cycle of waits over groups or pairs.
    CrossGroupDeadlock,
    /// Suspects issued the op, but their device has not reached or not finished what the others have.
    RankBehind,
    /// Every member issued the row with equal arguments, and it did not finish.
    AllJoined,
    /// A member that the others wait for left no readable dump.
    NoDump,
}

impl Kind {
    /// The word of the contract.
    pub fn name(self) -> &'static str {
        match self {
            Kind::MissingRank => "missing_rank",
            Kind::SkippedCollective => "skipped_collective",
            Kind::ExtraCollective => "extra_collective",
            Kind::OrderMismatch => "order_mismatch",
            Kind::OpMismatch => "op_mismatch",
            Kind::CallSiteMismatch => "call_site_mismatch",
            Kind::SizeMismatch => "size_mismatch",
            Kind::DtypeMismatch => "dtype_mismatch",
            Kind::SplitMismatch => "split_mismatch",
            Kind::RootMismatch => "root_mismatch",
            Kind::P2pUnmatched => "p2p_unmatched",
            Kind::P2pSizeMismatch => "p2p_size_mismatch",
            Kind::CrossGroupDeadlock => "cross_group_deadlock",
            Kind::RankBehind => "rank_behind",
            Kind::AllJoined => "all_joined",
            Kind::NoDump => "no_dump",
        }
    }
}

/// The class of root cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// A rank's program stopped or is slow before the op.
    CpuStuck,
    /// A rank's program took another branch.
    CpuDivergence,
    /// The ranks called the op with arguments that do not fit together.
    BadArguments,
    /// A kernel on a rank's device did not finish.
    GpuStuck,
    /// The transport or a device failed.
    NetworkOrHardware,
    /// Devices run operations of several groups in different orders.
    LaunchOrder,
    /// A process died or could not dump.
    ProcessLost,
    /// The dumps do not tell.
    Undetermined,
}

impl Cause {
    /// As a person says it, at the start of a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Cause::CpuStuck => "CPU stuck or slow",
            Cause::CpuDivergence => "CPU control flow diverged",
            Cause::BadArguments => "Bad arguments",
            Cause::GpuStuck => "GPU stuck",
            Cause::NetworkOrHardware => "Network or hardware",
            Cause::LaunchOrder => "Launch order",
            Cause::ProcessLost => "Process lost",
            Cause::Undetermined => "Cause undetermined",
        }
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// One of several readings of the evidence.
    Low,
    /// The evidence points there and leaves room.
    Medium,
    /// The evidence allows hardly anything else.
    High,
}

impl Confidence {
    /// The word of the contract.
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }

    /// One step less sure.
    pub fn lowered(self) -> Confidence {
        match self {
            Confidence::High => Confidence::Medium,
            _ => Confidence::Low,
        }
    }
}

/// One thing that broke. How it is written stands in `finding_form.rs`: documents leave out `cycle` and `also` where they are empty.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Finding {
    /// `F1`, `F2`, … in the order of the report.
    pub id: String,
    /// What was observed.
    pub kind: Kind,
    /// The class of root cause.
    pub cause: Cause,
    /// How sure it is.
    pub confidence: Confidence,
    /// The process group where it happened.
    pub group: Option<FindingGroup>,
    /// `collective_seq_id` of the origin row; `None` for P2P.
    pub seq: Option<u32>,
    /// The pair and message, for P2P.
    pub p2p: Option<P2pPlace>,
    /// The operation, without the library prefix.
    pub op: String,
    /// The ranks that the headline blames, as ranges; empty when none can be singled out.
    pub suspects: String,
    /// Whether two sides are there that the evidence cannot tell apart.
    pub tie: bool,
    /// Ranks that wait in the origin row, as ranges.
    pub victims: String,
    /// Ranks that wait elsewhere because of it, as ranges.
    pub blocked: String,
    /// Who did what at the origin, largest side first.
    pub sides: Vec<Side>,
    /// Where waits go round: each step waits for the next, the last for the first. Empty where they don't.
    #[serde(default)]
    pub cycle: Vec<CycleStep>,
    /// Where else the same happened: the same row of sibling groups. Suspects and victims count these too.
    #[serde(default)]
    pub also: Vec<FindingGroup>,
    /// Facts from the dumps that led here.
    pub evidence: Vec<String>,
    /// Other readings, and what speaks for them.
    pub alternatives: Vec<Alternative>,
    /// What to do now.
    pub next_steps: Vec<String>,
}

/// The group of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingGroup {
    /// As in the dump.
    pub name: String,
    /// As in the dump.
    pub desc: String,
    /// As people say: `tp[2,3]`, `world`.
    pub label: String,
    /// Members, as ranges.
    pub ranks: String,
}

/// A message between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct P2pPlace {
    /// Sender: a global rank.
    pub src: u32,
    /// Receiver: a global rank.
    pub dst: u32,
    /// Which message of this pair in this group, from 1, as far back as the dumps reach.
    pub nth: u32,
}

/// A step of a cycle of waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleStep {
    /// The ranks that wait there, as ranges.
    pub ranks: String,
    /// Where they wait.
    pub place: Place,
    /// The pair and message, for P2P.
    pub p2p: Option<P2pPlace>,
    /// Those of the next step that they wait for, as ranges.
    pub waits_for: String,
}

/// What some ranks did at the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The ranks of this side, as ranges.
    pub ranks: String,
    /// What they issued; `None` if nothing.
    pub op: Option<String>,
    /// How far it came.
    pub state: SideState,
    /// One shape per tensor.
    pub input_sizes: Vec<Vec<i64>>,
    /// One shape per tensor.
    pub output_sizes: Vec<Vec<i64>>,
    /// One dtype per tensor.
    pub input_dtypes: Vec<String>,
    /// One dtype per tensor.
    pub output_dtypes: Vec<String>,
    /// Innermost user frame.
    pub call_site: Option<Site>,
    /// Whole stack, innermost first; empty when not recorded.
    pub frames: Vec<Site>,
    /// For a side that issued nothing: where it was last seen.
    pub last_op: Option<LastOp>,
}

/// State of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideState {
    /// Not issued.
    Missing,
    /// Issued by the CPU.
    Scheduled,
    /// Reached by the device.
    Started,
    /// Done.
    Completed,
    /// Not known.
    Unknown,
}

/// The last operation that a rank issued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastOp {
    /// Label of the group.
    pub group: String,
    /// The operation.
    pub op: String,
    /// Its row.
    pub seq: Option<u32>,
    /// Where in the user's code.
    pub call_site: Option<Site>,
}

/// A place in the code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// Function.
    pub function: String,
    /// File as recorded.
    pub file: String,
    /// Line.
    pub line: u32,
}

impl Site {
    /// `clip_grad_norm (train.py:92)`: the file without its folders.
    pub fn short(&self) -> String {
        let file = self.file.rsplit(['/', '\\']).next().unwrap_or(&self.file);
        format!("{} ({file}:{})", self.function, self.line)
    }
}

/// A place in the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Label of the group.
    pub group: String,
    /// Row; `None` for P2P.
    pub seq: Option<u32>,
    /// Operation.
    pub op: String,
}

/// One rank of the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankState {
    /// Global rank.
    pub rank: u32,
    /// Its part in what happened.
    pub status: RankStatus,
    /// Its oldest unfinished row.
    pub waits_in: Option<Place>,
    /// The ranks that this row waits for, as ranges.
    pub waits_for: Whom,
}

/// A rank's part in what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankStatus {
    /// Waits for nothing and is not blamed.
    Ok,
    /// Blamed by a finding.
    Suspect,
    /// Waits in the origin row.
    Victim,
    /// Waits elsewhere.
    Blocked,
    /// Left no dump.
    NoDump,
    /// Left a file that cannot be read.
    Unreadable,
}

impl RankStatus {
    /// The word of the contract.
    pub fn name(self) -> &'static str {
        match self {
            RankStatus::Ok => "ok",
            RankStatus::Suspect => "suspect",
            RankStatus::Victim => "victim",
            RankStatus::Blocked => "blocked",
            RankStatus::NoDump => "no_dump",
            RankStatus::Unreadable => "unreadable",
        }
    }
}

/// Another reading of the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternative {
    /// The class of root cause.
    pub cause: Cause,
    /// What speaks for it and what would confirm it.
    pub why: String,
}

/// Something that could not be read or is uncertain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// What kind of thing.
    pub kind: QualityKind,
    /// The rank concerned; `None` for the whole job or when unknown.
    pub rank: Option<u32>,
    /// The file concerned.
    pub file: Option<String>,
    /// What it is and what it means for the verdict.
    pub detail: String,
}

/// Kinds of [`Quality`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QualityKind {
    /// A rank left no dump.
    NoDump,
    /// A file could not be read.
    Unreadable,
    /// A file breaks off.
    Truncated,
    /// A dump has no entries.
    Empty,
    /// The ring buffer wrapped: older rows are unknown.
    Wrapped,
    /// No call stacks.
    NoFrames,
    /// No start events: scheduled may mean running.
    NoStartEvents,
    /// The recorder does not report completion.
    WeakStates,
    /// Only unfinished entries were dumped.
    OnlyActive,
    /// Dumps of different versions.
    MixedVersions,
    /// A group's members are not recorded and were taken from who used it.
    UnknownMembership,
    /// Ranks disagree about a group.
    MembershipConflict,
    /// Two files for one rank.
    DuplicateRank,
    /// A file whose rank is unknown.
    UnknownRank,
    /// Clocks of the hosts differ.
    ClockSkew,
    /// A dump is much larger than usual.
    UnusualSize,
}

impl QualityKind {
    /// The word of the contract.
    pub fn name(self) -> &'static str {
        match self {
            QualityKind::NoDump => "no_dump",
            QualityKind::Unreadable => "unreadable",
            QualityKind::Truncated => "truncated",
            QualityKind::Empty => "empty",
            QualityKind::Wrapped => "wrapped",
            QualityKind::NoFrames => "no_frames",
            QualityKind::NoStartEvents => "no_start_events",
            QualityKind::WeakStates => "weak_states",
            QualityKind::OnlyActive => "only_active",
            QualityKind::MixedVersions => "mixed_versions",
            QualityKind::UnknownMembership => "unknown_membership",
            QualityKind::MembershipConflict => "membership_conflict",
            QualityKind::DuplicateRank => "duplicate_rank",
            QualityKind::UnknownRank => "unknown_rank",
            QualityKind::ClockSkew => "clock_skew",
            QualityKind::UnusualSize => "unusual_size",
        }
    }
}
