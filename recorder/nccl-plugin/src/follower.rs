//! The thread that sees operations begin and end, so that nobody else waits for anything.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hangscope_recorder::{Handle, Recorder, guard, is_inert, log_line, without_signals};

use crate::communicator::Comm;
use crate::cuda::{Driver, Marker, Reached};

/// Time between two looks: times of ends are this coarse.
const LOOK: Duration = Duration::from_millis(10);
/// Time between two looks for operations that no channel told of. Each goes through the whole ring.
const SWEEP: Duration = Duration::from_millis(250);
/// News that wait for the thread, at most.
const CAPACITY: usize = 1 << 16;
/// How long the end of the program waits for what is just ending.
const LAST_LOOK: Duration = Duration::from_millis(200);

/// Operations that are done when their stream has come to a place.
#[derive(Debug)]
pub(crate) struct Follow {
    pub comm: Arc<Comm>,
    pub handles: Vec<Handle>,
    /// The stream of the markers, by its address.
    pub stream: usize,
    /// Before the launch; `None`: there is no such place, or the stream has come to it.
    pub begin: Option<Marker>,
    pub end: Marker,
}

/// What the thread is told.
#[derive(Debug)]
enum News {
    Follow(Follow),
    /// An operation ended, so that earlier ones must have.
    Ended(Arc<Comm>, Handle),
}

/// The thread's door.
#[derive(Debug)]
pub(crate) struct Follower {
    recorder: &'static Recorder,
    driver: Option<Driver>,
    once: Once,
    inbox: Mutex<Inbox>,
    wake: Condvar,
    closed: Condvar,
}

#[derive(Debug, Default)]
struct Inbox {
    news: Vec<News>,
    closing: Option<Instant>,
    is_closed: bool,
}

impl Follower {
    pub(crate) fn new(recorder: &'static Recorder, driver: Option<Driver>) -> Self {
        Self {
            recorder,
            driver,
            once: Once::new(),
            inbox: Mutex::default(),
            wake: Condvar::new(),
            closed: Condvar::new(),
        }
    }

    pub(crate) fn driver(&self) -> Option<&Driver> {
        self.driver.as_ref()
    }

    /// Completes operations when their stream has come there.
    pub(crate) fn follow(&'static self, follow: Follow) {
        self.tell(News::Follow(follow));
    }

    /// Completes what came before an operation that ended.
    pub(crate) fn ended(&'static self, comm: &Arc<Comm>, handle: Handle) {
        self.tell(News::Ended(Arc::clone(comm), handle));
    }

    fn tell(&'static self, news: News) {
        self.once.call_once(|| {
            let body = without_signals(move || self.run());
            if thread::Builder::new().name("hangscope-nccl".to_owned()).spawn(body).is_err() {
                log_line("no operation will be seen to end: the system refused a thread");
                self.inbox().is_closed = true;
            }
        });
        let mut inbox = self.inbox();
        if inbox.is_closed || inbox.news.len() >= CAPACITY {
            drop(inbox);
            self.lose(&news);
            return;
        }
        inbox.news.push(news);
        drop(inbox);
        self.wake.notify_one();
    }

    /// The thread is gone, or stuck in the driver: nothing will tell of these.
    fn lose(&self, news: &News) {
        if let News::Follow(follow) = news {
            for handle in &follow.handles {
                self.recorder.nonblocking(*handle);
                follow.comm.unseen(*handle);
            }
        }
    }

    /// Looks once more, and makes no call of CUDA's from then on: the driver is about to go.
    pub(crate) fn close(&self) {
        if !self.once.is_completed() {
            return;
        }
        let deadline = Instant::now() + LAST_LOOK;
        let mut inbox = self.inbox();
        inbox.closing = Some(deadline);
        self.wake.notify_one();
        while !inbox.is_closed {
            // A thread that is stuck in the driver does not hold up the end of the program.
            let Some(left) = (deadline + LOOK * 2).checked_duration_since(Instant::now()) else { return };
            inbox = self.closed.wait_timeout(inbox, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        if let Some(driver) = &self.driver {
            driver.relax_this_thread();
        }
        let mut work = Work::new(self.recorder, self.driver.as_ref());
        while !is_inert() {
            let (news, closing) = self.wait(work.is_idle());
            let looked = guard(|| work.look(news, closing.is_some()));
            let is_over = closing.is_some_and(|deadline| work.is_idle() || Instant::now() >= deadline);
            if looked.is_none() || is_over {
                break;
            }
        }
        let mut inbox = self.inbox();
        inbox.is_closed = true;
        inbox.news.clear();
        self.closed.notify_all();
    }

    fn wait(&self, is_idle: bool) -> (Vec<News>, Option<Instant>) {
        let mut inbox = self.inbox();
        if is_idle {
            while inbox.news.is_empty() && inbox.closing.is_none() {
                inbox = self.wake.wait(inbox).unwrap_or_else(PoisonError::into_inner);
            }
        } else {
            // Not woken by every launch: they come by the thousand.
            drop(inbox);
            thread::sleep(LOOK);
            inbox = self.inbox();
        }
        (std::mem::take(&mut inbox.news), inbox.closing)
    }
}

/// What the thread knows.
struct Work<'a> {
    recorder: &'a Recorder,
    driver: Option<&'a Driver>,
    /// In the order of each stream, which comes to its places one after the other.
    streams: HashMap<(usize, usize), VecDeque<Follow>>,
    /// The newest end of each communicator, by its address.
    ended: HashMap<usize, (Arc<Comm>, Handle)>,
    swept: Instant,
}

impl<'a> Work<'a> {
    fn new(recorder: &'a Recorder, driver: Option<&'a Driver>) -> Self {
        Self { recorder, driver, streams: HashMap::new(), ended: HashMap::new(), swept: Instant::now() }
    }

    fn is_idle(&self) -> bool {
        self.streams.is_empty() && self.ended.is_empty()
    }

    fn look(&mut self, news: Vec<News>, is_last: bool) {
        for one in news {
            match one {
                News::Follow(follow) => {
                    self.streams.entry((follow.end.context(), follow.stream)).or_default().push_back(follow);
                }
                News::Ended(comm, handle) => self.note_end(comm, handle),
            }
        }
        self.look_at_streams();
        if is_last || self.swept.elapsed() >= SWEEP {
            self.swept = Instant::now();
            for (_, (comm, handle)) in self.ended.drain() {
                self.recorder.complete_before(&comm.recorded, handle);
            }
        }
    }

    fn note_end(&mut self, comm: Arc<Comm>, handle: Handle) {
        let newest = self.ended.entry(Arc::as_ptr(&comm).addr()).or_insert((comm, handle));
        if newest.1.to_word() < handle.to_word() {
            newest.1 = handle;
        }
    }

    fn look_at_streams(&mut self) {
        let Some(driver) = self.driver else { return };
        let recorder = self.recorder;
        self.streams.retain(|_, follows| {
            while let Some(front) = follows.front_mut() {
                match look_at(recorder, driver, front) {
                    Reached::NotYet => break,
                    Reached::Yes | Reached::Never => {
                        if let Some(Follow { begin, end, .. }) = follows.pop_front() {
                            begin.into_iter().chain([end]).for_each(|marker| driver.recycle(marker));
                        }
                    }
                }
            }
            !follows.is_empty()
        });
    }
}

fn look_at(recorder: &Recorder, driver: &Driver, follow: &mut Follow) -> Reached {
    if let Some(begin) = &follow.begin {
        match driver.reached(begin) {
            Reached::Yes => follow.handles.iter().for_each(|handle| recorder.start(*handle)),
            other => return other,
        }
        if let Some(begin) = follow.begin.take() {
            driver.recycle(begin);
        }
    }
    let reached = driver.reached(&follow.end);
    if reached == Reached::Yes {
        follow.handles.iter().for_each(|handle| recorder.complete(*handle));
        if let Some(last) = follow.handles.last() {
            follow.comm.overtaken(recorder, *last);
        }
    }
    reached
}
