//! A load under way: files go to reader workers, one at a time each, and what these gather goes to the analysis worker. Packs, which
//! need little work and may be large, are read by the analysis worker itself.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use hangscope_analyzer_core::report::Report;
use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;

use crate::dataset::Dataset;
use crate::load::protocol::{Answer, Request};
use crate::load::source::{Opened, Source};
use crate::load::worker_handle::{WorkerEvent, WorkerHandle};
use crate::overview::{Blocks, TableData};

/// More readers than this gain nothing, and each has its own memory.
const MOST_READERS: usize = 8;

/// After so many files, or so many bytes of them, a reader gives away what it gathered: what a dead reader had is read again.
const HANDED_FILES: usize = 32;
const HANDED_BYTES: u64 = 64_000_000;

/// So many readers may die over no file before what they had gathered is given up.
const MOST_DEATHS: u32 = 3;

/// How far a load is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) title: String,
    pub(crate) files: usize,
    pub(crate) files_done: usize,
    pub(crate) bytes: u64,
    pub(crate) bytes_done: u64,
    pub(crate) entries: u64,
}

/// What a load says.
pub(crate) enum LoadEvent {
    Progress(Progress),
    /// All is read and analysed. The worker tells about cells from now on.
    Done(Box<Dataset>, Analyst),
    /// It cannot be analysed here.
    Failed {
        title: String,
        reason: String,
    },
}

/// The worker that holds an analysis.
pub(crate) type Analyst = Rc<WorkerHandle>;

/// A load. It stops when this is dropped.
pub(crate) struct Loading {
    inner: Rc<RefCell<Inner>>,
}

struct Inner {
    glue_url: String,
    progress: Progress,
    queue: VecDeque<Source>,
    readers: Vec<Reader>,
    /// Packs that the analyst is at, in the order in which it was told.
    packs: VecDeque<Source>,
    /// How many readers died over no file.
    deaths: u32,
    /// Whether all is read, and the analysis begun.
    is_read: bool,
    analyst: Option<Analyst>,
    on_event: Rc<dyn Fn(LoadEvent)>,
}

struct Reader {
    worker: Rc<WorkerHandle>,
    /// The file that it is at.
    reading: Option<Source>,
    /// Files that it read and did not give away, with their entries.
    gathered: Vec<(Source, u64)>,
    /// Whether it is giving them away.
    handing_over: bool,
}

impl Loading {
    /// Starts to read `opened`. Answers of the analyst that belong to no load go to `on_answer`, with what came with them.
    pub(crate) fn start(
        glue_url: &str,
        opened: Opened,
        on_event: impl Fn(LoadEvent) + 'static,
        on_answer: impl Fn(Answer, Array) + 'static,
    ) -> Result<Self, JsValue> {
        let progress = Progress {
            title: opened.title,
            files: opened.sources.len(),
            bytes: opened.sources.iter().map(|source| source.size_bytes).sum(),
            ..Progress::default()
        };
        let (packs, files): (Vec<Source>, Vec<Source>) = opened.sources.into_iter().partition(Source::is_pack);
        let inner = Rc::new(RefCell::new(Inner {
            glue_url: glue_url.to_owned(),
            progress: progress.clone(),
            queue: files.into(),
            readers: Vec::new(),
            packs: VecDeque::new(),
            deaths: 0,
            is_read: false,
            analyst: None,
            on_event: Rc::new(on_event),
        }));
        let for_analyst = Rc::downgrade(&inner);
        let analyst = WorkerHandle::spawn(glue_url, move |event| match event {
            WorkerEvent::Answer(Answer::Analyzed, payload) => analyzed(&for_analyst, &payload),
            WorkerEvent::Answer(Answer::Read { size_bytes, entries }, _) => {
                pack_done(&for_analyst, size_bytes, entries);
            }
            WorkerEvent::Answer(Answer::Unreadable { reason }, _) => pack_unreadable(&for_analyst, &reason),
            WorkerEvent::Answer(answer, payload) => on_answer(answer, payload),
            WorkerEvent::Died(message) => match for_analyst.upgrade() {
                Some(inner) => fail(&inner, &message),
                None => on_answer(Answer::Panicked { message }, Array::new()),
            },
        })?;
        inner.borrow_mut().analyst = Some(Rc::new(analyst));

        for pack in packs {
            let mut state = inner.borrow_mut();
            if let Some(analyst) = &state.analyst {
                pack.send_to(analyst);
            }
            state.packs.push_back(pack);
        }
        let wanted = reader_count().min(inner.borrow().queue.len());
        for index in 0..wanted {
            let reader = spawn_reader(&inner, index)?;
            inner.borrow_mut().readers.push(reader);
        }
        let loading = Self { inner };
        for index in 0..wanted {
            feed(&loading.inner, index);
        }
        finish_if_read(&loading.inner);
        Ok(loading)
    }
}

/// One for every core but the page's own.
fn reader_count() -> usize {
    let cores = web_sys::window().map_or(1.0, |window| window.navigator().hardware_concurrency());
    (cores as usize).saturating_sub(1).clamp(1, MOST_READERS)
}

fn spawn_reader(inner: &Rc<RefCell<Inner>>, index: usize) -> Result<Reader, JsValue> {
    let weak = Rc::downgrade(inner);
    let glue_url = inner.borrow().glue_url.clone();
    let worker = WorkerHandle::spawn(&glue_url, move |event| {
        let Some(inner) = weak.upgrade() else { return };
        match event {
            WorkerEvent::Answer(Answer::Read { size_bytes, entries }, _) => read(&inner, index, size_bytes, entries),
            WorkerEvent::Answer(Answer::Shard, payload) => handed_over(&inner, index, &payload.get(0)),
            WorkerEvent::Answer(Answer::Unreadable { reason }, _) => unreadable(&inner, index, &reason),
            WorkerEvent::Answer(..) => {}
            WorkerEvent::Died(reason) => {
                replace(&inner, index);
                unreadable(&inner, index, &format!("the reader stopped ({reason}); the command may have more memory"));
                // Where it died over no file, there is another one for it all the same.
                feed(&inner, index);
                finish_if_read(&inner);
            }
        }
    })?;
    Ok(Reader { worker: Rc::new(worker), reading: None, gathered: Vec::new(), handing_over: false })
}

/// Puts a new worker in the place of a dead one. What that had gathered is gone, and its files are read again.
fn replace(inner: &Rc<RefCell<Inner>>, index: usize) {
    let fresh = spawn_reader(inner, index);
    let mut state = inner.borrow_mut();
    let state = &mut *state;
    let Some(reader) = state.readers.get_mut(index) else { return };
    let gathered = std::mem::take(&mut reader.gathered);
    reader.handing_over = false;
    state.deaths += u32::from(reader.reading.is_none());
    let is_given_up = state.deaths > MOST_DEATHS;
    if is_given_up && let Some(analyst) = &state.analyst {
        gathered
            .iter()
            .for_each(|(source, _)| add_unreadable(analyst, source, "the readers of it stopped again and again"));
    }
    for (source, entries) in gathered.into_iter().rev().filter(|_| !is_given_up) {
        state.progress.files_done -= 1;
        state.progress.entries -= entries;
        state.progress.bytes_done = state.progress.bytes_done.saturating_sub(source.size_bytes);
        state.queue.push_front(source);
    }
    let Ok(mut fresh) = fresh else { return };
    fresh.reading = reader.reading.take();
    let dead = std::mem::replace(reader, fresh);
    // This runs inside of the dead one's own callback: let that return first.
    leptos::task::spawn_local(async move { drop(dead) });
}

fn unreadable(inner: &Rc<RefCell<Inner>>, index: usize, reason: &str) {
    let source = {
        let mut state = inner.borrow_mut();
        let Some(source) = state.readers.get_mut(index).and_then(|reader| reader.reading.take()) else { return };
        if let Some(analyst) = &state.analyst {
            add_unreadable(analyst, &source, reason);
        }
        source
    };
    done(inner, &source, source.size_bytes, 0);
    feed(inner, index);
    finish_if_read(inner);
}

/// A reader is through with its file.
fn read(inner: &Rc<RefCell<Inner>>, index: usize, size_bytes: u64, entries: u64) {
    let source = inner.borrow_mut().readers.get_mut(index).and_then(|reader| reader.reading.take());
    let Some(source) = source else { return };
    done(inner, &source, size_bytes, entries);
    if let Some(reader) = inner.borrow_mut().readers.get_mut(index) {
        reader.gathered.push((source, entries));
    }
    feed(inner, index);
    finish_if_read(inner);
}

/// A reader gave away what it had gathered.
fn handed_over(inner: &Rc<RefCell<Inner>>, index: usize, bytes: &JsValue) {
    {
        let mut state = inner.borrow_mut();
        if let Some(analyst) = &state.analyst {
            analyst.send(&Request::Add, Some(bytes));
        }
        if let Some(reader) = state.readers.get_mut(index) {
            reader.gathered.clear();
            reader.handing_over = false;
        }
    }
    feed(inner, index);
    finish_if_read(inner);
}

fn pack_done(inner: &Weak<RefCell<Inner>>, size_bytes: u64, entries: u64) {
    let Some(inner) = inner.upgrade() else { return };
    let Some(source) = inner.borrow_mut().packs.pop_front() else { return };
    done(&inner, &source, size_bytes, entries);
    finish_if_read(&inner);
}

fn pack_unreadable(inner: &Weak<RefCell<Inner>>, reason: &str) {
    let Some(inner) = inner.upgrade() else { return };
    let Some(source) = inner.borrow_mut().packs.pop_front() else { return };
    if let Some(analyst) = &inner.borrow().analyst {
        add_unreadable(analyst, &source, reason);
    }
    done(&inner, &source, source.size_bytes, 0);
    finish_if_read(&inner);
}

fn add_unreadable(analyst: &WorkerHandle, source: &Source, reason: &str) {
    analyst.send(&Request::AddUnreadable { name: source.name.clone(), reason: reason.to_owned() }, None);
}

/// Counts a file that is through.
fn done(inner: &Rc<RefCell<Inner>>, source: &Source, size_bytes: u64, entries: u64) {
    let (on_event, progress) = {
        let state = &mut *inner.borrow_mut();
        let progress = &mut state.progress;
        progress.files_done += 1;
        progress.entries += entries;
        if source.size_bytes > 0 {
            progress.bytes_done += source.size_bytes;
        } else {
            // Sizes of files on a server may not have been known.
            progress.bytes += size_bytes;
            progress.bytes_done += size_bytes;
        }
        (Rc::clone(&state.on_event), progress.clone())
    };
    on_event(LoadEvent::Progress(progress));
}

/// Gives a reader its next file, or has it give away what it gathered.
fn feed(inner: &Rc<RefCell<Inner>>, index: usize) {
    let mut state = inner.borrow_mut();
    let state = &mut *state;
    let Some(reader) = state.readers.get_mut(index) else { return };
    if reader.reading.is_some() || reader.handing_over {
        return;
    }
    let bytes: u64 = reader.gathered.iter().map(|(source, _)| source.size_bytes).sum();
    let is_enough = reader.gathered.len() >= HANDED_FILES || bytes >= HANDED_BYTES;
    let next = if is_enough { None } else { state.queue.pop_front() };
    match next {
        Some(source) => {
            source.send_to(&reader.worker);
            reader.reading = Some(source);
        }
        None if !reader.gathered.is_empty() => {
            reader.worker.send(&Request::HandOver, None);
            reader.handing_over = true;
        }
        None => {}
    }
}

fn finish_if_read(inner: &Rc<RefCell<Inner>>) {
    let mut state = inner.borrow_mut();
    let is_busy = |reader: &Reader| reader.reading.is_some() || reader.handing_over || !reader.gathered.is_empty();
    if state.is_read || !state.queue.is_empty() || !state.packs.is_empty() || state.readers.iter().any(is_busy) {
        return;
    }
    state.is_read = true;
    if let Some(analyst) = &state.analyst {
        analyst.send(&Request::Analyze, None);
    }
    // Their memory is free for the analysis. This runs inside of a reader's callback: let that return first.
    let readers = std::mem::take(&mut state.readers);
    leptos::task::spawn_local(async move { drop(readers) });
}

fn analyzed(inner: &Weak<RefCell<Inner>>, payload: &Array) {
    let Some(inner) = inner.upgrade() else { return };
    let (on_event, title, analyst) = {
        let mut state = inner.borrow_mut();
        (Rc::clone(&state.on_event), state.progress.title.clone(), state.analyst.take())
    };
    let report_text = payload.get(0).as_string().unwrap_or_default();
    let facts = Uint8Array::new(&payload.get(1)).to_vec();
    let parsed = postcard::from_bytes::<Report>(&facts)
        .map_err(|error| error.to_string())
        .and_then(|report| Ok((report, TableData::from_blocks(Blocks::from_buffers(payload))?)));
    match (parsed, analyst) {
        (Ok((report, table)), Some(analyst)) => {
            let dataset = Dataset::new(title, report, table, report_text);
            on_event(LoadEvent::Done(Box::new(dataset), analyst));
        }
        (Err(error), _) => on_event(LoadEvent::Failed { title, reason: error }),
        (_, None) => {}
    }
}

/// The analyst is dead, and with it what was read.
fn fail(inner: &Rc<RefCell<Inner>>, reason: &str) {
    let (on_event, title) = {
        let mut state = inner.borrow_mut();
        state.queue.clear();
        (Rc::clone(&state.on_event), state.progress.title.clone())
    };
    on_event(LoadEvent::Failed { title, reason: reason.to_owned() });
}
