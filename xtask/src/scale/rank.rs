//! What the recorder of one rank holds.

use std::ops::Range;

use super::fault::FaultKind;
use super::hang::Hang;
use super::program::{Call, Dimension, Program};
use super::random::Random;

/// When the job's clock began, in nanoseconds.
const EPOCH_NS: i64 = 1_795_977_000_000_000_000;
/// From one operation to the next.
const PERIOD_NS: i64 = 2_000_000;

/// How far an operation came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Scheduled,
    Started,
    Completed,
}

impl State {
    pub(super) const ALL: [Self; 3] = [Self::Scheduled, Self::Started, Self::Completed];

    pub(super) fn name(self) -> &'static str {
        ["scheduled", "started", "completed"][self as usize]
    }
}

/// One entry of the ring.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) call: Call,
    pub(super) record: u64,
    pub(super) sequence: u64,
    pub(super) dtype: &'static str,
    pub(super) state: State,
    pub(super) created_ns: i64,
    pub(super) duration_ms: Option<f64>,
}

impl Entry {
    pub(super) fn started_ns(&self) -> Option<i64> {
        (self.state != State::Scheduled).then_some(self.created_ns + 100_000)
    }

    pub(super) fn completed_ns(&self) -> Option<i64> {
        self.is_completed().then_some(self.created_ns + 900_000)
    }

    pub(super) fn is_completed(&self) -> bool {
        self.state == State::Completed
    }
}

/// The counters of a rank's group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub(super) enqueued: u64,
    pub(super) started: u64,
    pub(super) completed: u64,
}

/// All that the recorder of a rank holds.
#[derive(Debug)]
pub(super) struct RankDump {
    pub(super) rank: u32,
    pub(super) entries: Vec<Entry>,
    /// By [`Dimension::index`].
    pub(super) counters: [Counters; 3],
}

impl RankDump {
    /// Runs the program on `rank` over `indices`, of which up to `jitter` at the beginning fell out of the ring.
    pub(super) fn new(program: &Program, hang: &Hang, rank: u32, indices: &Range<u64>, jitter: u32) -> Self {
        let mut random = Random::new(u64::from(rank) + 1);
        let first = indices.start + random.up_to(jitter.into());
        let mut sequence = Dimension::ALL.map(|dimension| program.calls_before(first, dimension));
        let mut completed = sequence;
        let mut entries = Vec::with_capacity(indices.end.saturating_sub(first) as usize);
        let mut one_is_started = false;
        for index in first..indices.end {
            let mut call = program.call(index);
            let mut dtype = if call.dimension == Dimension::World { "Float" } else { "BFloat16" };
            match hang.at(rank, index) {
                Some(FaultKind::Skip) => continue,
                Some(FaultKind::Straggler) => break,
                Some(FaultKind::Shape) => call.elements = [call.elements[0].saturating_sub(16); 2],
                Some(FaultKind::Dtype) => dtype = "Float",
                None => {}
            }
            let hangs = hang.hangs(rank, index);
            let state = match (hangs, one_is_started) {
                (false, _) => State::Completed,
                (true, false) => State::Started,
                (true, true) => State::Scheduled,
            };
            one_is_started |= hangs;
            let at = call.dimension.index();
            sequence[at] += 1;
            if !hangs {
                completed[at] = sequence[at];
            }
            entries.push(Entry {
                call,
                record: first + entries.len() as u64,
                sequence: sequence[at],
                dtype,
                state,
                created_ns: EPOCH_NS + index as i64 * PERIOD_NS + random.up_to(199_999) as i64,
                duration_ms: (!hangs).then(|| random.between(0.05, 3.0)),
            });
        }
        let counters = Dimension::ALL.map(|dimension| {
            let (enqueued, completed) = (sequence[dimension.index()], completed[dimension.index()]);
            Counters { enqueued, started: enqueued.min(completed + 1), completed }
        });
        Self { rank, entries, counters }
    }
}
