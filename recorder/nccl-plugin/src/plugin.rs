//! What the plugin does with NCCL's events.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use hangscope_recorder::{Handle, Operation, Recorder, log_line};

use crate::abi::{Head, Version, event};
use crate::communicator::{Comm, Introduction};
use crate::cuda::{Driver, Marker};
use crate::follower::{Follow, Follower};
use crate::group::{Group, Issued, Rest};
use crate::handle::Given;
use crate::settings::PluginSettings;
use crate::table::Table;
use crate::task::Tasks;

/// The plugin of a process. It lives as long as the process does.
///
/// Calls of CUDA's are made in no lock, and no lock is held for longer than a few words of memory take.
#[derive(Debug)]
pub(crate) struct Plugin {
    pub(crate) recorder: &'static Recorder,
    pub(crate) follower: Follower,
    pub(crate) tasks: Tasks,
    pub(crate) kernel_ch: bool,
    pub(crate) groups: Table<Group>,
    launches: Table<Launch>,
    communicators: RwLock<HashMap<u64, Arc<Comm>>>,
    contexts: AtomicU64,
    told_of_several: AtomicBool,
}

/// A launch that has begun.
#[derive(Debug)]
struct Launch {
    comm: Arc<Comm>,
    group: u64,
    stream: usize,
    begin: Option<Marker>,
}

/// Groups and launches that are open at the same time; there are as many as threads that call NCCL.
const OPEN: usize = 1024;

impl Plugin {
    pub(crate) fn launch(recorder: &'static Recorder, settings: &PluginSettings) -> &'static Self {
        let driver = settings.cuda_library.as_deref().and_then(Driver::open);
        Box::leak(Box::new(Self {
            recorder,
            follower: Follower::new(recorder, driver),
            tasks: Tasks::new(),
            kernel_ch: settings.kernel_ch,
            groups: Table::new(OPEN),
            launches: Table::new(OPEN),
            communicators: RwLock::default(),
            contexts: AtomicU64::new(0),
            told_of_several: AtomicBool::new(false),
        }))
    }

    /// The events that are asked for. Those of proxies and of the network never are.
    pub(crate) fn events(&self, version: Version) -> u64 {
        if !self.recorder.is_on() {
            return 0;
        }
        let channels = if self.kernel_ch { event::COLL | event::KERNEL_CH } else { 0 };
        let calls = event::GROUP_API | event::COLL_API | event::P2P_API | event::KERNEL_LAUNCH;
        match version {
            Version::V4 => event::GROUP | event::COLL | event::P2P | channels,
            // A message's peer is known at its task alone.
            Version::V5 | Version::V6 => calls | event::P2P | channels,
        }
    }

    /// Whether anything tells when operations end.
    pub(crate) fn sees_ends(&self, version: Version) -> bool {
        self.kernel_ch || version.has_calls() && self.follower.driver().is_some()
    }

    /// Takes a new communicator in; gives its context for NCCL, 0 for one that is not recorded.
    pub(crate) fn init(&self, told: &Introduction) -> u64 {
        if self.recorder.rank().is_none() {
            // The first communicator of a program is that of all ranks as a rule.
            self.recorder.tell_identity(told.rank, told.size);
        }
        let mut communicators = self.communicators.write().unwrap_or_else(PoisonError::into_inner);
        if communicators.values().any(|comm| comm.id == told.id && comm.rank != told.rank) {
            drop(communicators);
            if !self.told_of_several.swap(true, Ordering::Relaxed) {
                log_line("this process is several ranks of one communicator; only the first of them is recorded");
            }
            return 0;
        }
        let context = self.contexts.fetch_add(1, Ordering::Relaxed) + 1;
        let comm = Comm::new(told, self.recorder, self.sees_ends(told.version));
        communicators.insert(context, Arc::new(comm));
        context
    }

    /// Lets a communicator go.
    pub(crate) fn finalize(&self, context: u64) {
        let gone = self.communicators.write().unwrap_or_else(PoisonError::into_inner).remove(&context);
        if let Some(comm) = gone {
            self.recorder.free(&comm.recorded);
        }
    }

    pub(crate) fn communicator(&self, context: u64) -> Option<Arc<Comm>> {
        self.communicators.read().unwrap_or_else(PoisonError::into_inner).get(&context).cloned()
    }

    /// An operation of a communicator, out of the watchdog's sight if nothing would tell its end.
    pub(crate) fn record(&self, comm: &Comm, operation: Operation) -> Handle {
        self.recorder.record(&comm.recorded, &Operation { untracked: !comm.tracked, ..operation })
    }

    /// Records the end of the messages that were issued together, if there are any.
    pub(crate) fn close_block(&'static self, group: u64, comm: &Arc<Comm>) {
        if let Some((block, stream)) = self.groups.with(group, |group| group.close_block(comm)).flatten() {
            let handle = self.record(comm, Operation::block_end());
            block.close(self.recorder, handle);
            self.groups.with(group, |group| group.issue(comm, Issued { handle, stream }));
        }
    }

    pub(crate) fn close_blocks(&'static self, group: u64) {
        for comm in self.groups.with(group, |group| group.communicators()).unwrap_or_default() {
            self.close_block(group, &comm);
        }
    }

    /// The caller has ended a group, and NCCL has launched it, or will.
    pub(crate) fn end_group(&'static self, group: u64) {
        self.close_blocks(group);
        let communicators = self.groups.with(group, |group| {
            group.is_ended = true;
            group.communicators()
        });
        for comm in communicators.unwrap_or_default() {
            match self.groups.with(group, |group| group.settle(&comm)).flatten() {
                Some(Rest::Follow(follow)) => self.follower.follow(follow),
                // Channels tell of what is launched.
                Some(Rest::Lost(comm, issued)) if !self.kernel_ch => self.lose_sight(&comm, &issued),
                // Version 4 tells of no launches at all.
                Some(Rest::NotLaunched(comm, issued))
                    if comm.version.has_calls() && !self.follow_stream(&comm, &issued) =>
                {
                    self.lose_sight(&comm, &issued);
                    // Where calls return before they launch, the launch is yet to come.
                    self.groups.with(group, |group| issued.iter().for_each(|one| group.issue(&comm, *one)));
                }
                Some(Rest::Lost(..) | Rest::NotLaunched(..)) | None => {}
            }
        }
    }

    /// Follows operations without a launch by the streams that they were issued on. That holds for a communicator whose
    /// calls launch before they return: what was enqueued through another door than the usual is on the stream too.
    fn follow_stream(&'static self, comm: &Arc<Comm>, issued: &[Issued]) -> bool {
        let Some(driver) = self.follower.driver() else { return false };
        let mut streams: Vec<usize> = issued.iter().map(|one| one.stream).collect();
        streams.dedup();
        // Several streams have several places.
        let &[stream] = streams.as_slice() else { return false };
        if !comm.launches_inside() || !comm.tracked {
            return false;
        }
        let Some(end) = driver.mark(stream) else { return false };
        let handles = issued.iter().map(|one| one.handle).collect();
        self.follower.follow(Follow { comm: Arc::clone(comm), handles, stream, begin: None, end });
        true
    }

    /// Nothing will tell when these end, until a later one of the communicator does; the watchdog is not to wait for it.
    pub(crate) fn lose_sight(&self, comm: &Comm, issued: &[Issued]) {
        for one in issued {
            self.recorder.nonblocking(one.handle);
            comm.unseen(one.handle);
        }
    }

    /// `KernelLaunch` begins.
    pub(crate) fn begin_launch(&'static self, comm: &Arc<Comm>, head: Head, stream: usize) -> Option<Given> {
        let Some(Given::Group(group)) = Given::from_word(head.parent) else { return None };
        self.close_block(group, comm);
        if self.groups.with(group, |group| group.has_issued(comm)) != Some(true) {
            return None;
        }
        let begin = self.follower.driver().and_then(|driver| driver.mark(stream));
        Some(Given::Launch(self.launches.put(Launch { comm: Arc::clone(comm), group, stream, begin })))
    }

    /// `KernelLaunch` is over: the kernel is on its stream.
    pub(crate) fn end_launch(&'static self, launch: u64) {
        let Some(Launch { comm, group, stream, begin }) = self.launches.take(launch) else { return };
        let driver = self.follower.driver();
        let end = begin.as_ref().and_then(|_| driver?.mark(stream));
        let launched = self.groups.with(group, |group| (group.launch(&comm, stream, begin.zip(end)), group.is_ended));
        let Some(((issued, unused), is_late)) = launched else { return };
        if let Some(driver) = driver {
            unused.into_iter().for_each(|marker| driver.recycle(marker));
        }
        for one in &issued {
            self.recorder.launched(one.handle);
        }
        if !is_late {
            comm.launched_inside();
            return;
        }
        let rest = self.groups.with(group, |group| group.settle(&comm)).flatten();
        if self.kernel_ch || matches!(rest, Some(Rest::Follow(_))) {
            // They were out of the watchdog's sight.
            issued.iter().for_each(|one| self.recorder.waited(one.handle, true));
        }
        if let Some(Rest::Follow(follow)) = rest {
            self.follower.follow(follow);
        }
    }
}
