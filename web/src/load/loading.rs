//! A load under way: files go to reader workers, one at a time each, and what these read goes to the analysis worker.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use hangscope_analyzer_core::report::Report;
use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;

use crate::dataset::Dataset;
use crate::load::protocol::{Answer, Request};
use crate::load::source::{Opened, Source, SourcePlace};
use crate::load::worker_handle::{WorkerEvent, WorkerHandle};

/// More readers than this gain nothing, and each has its own memory.
const MOST_READERS: usize = 8;

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
    analyst: Option<Analyst>,
    on_event: Rc<dyn Fn(LoadEvent)>,
}

struct Reader {
    worker: Rc<WorkerHandle>,
    /// The file that it is at.
    reading: Option<Source>,
}

impl Loading {
    /// Starts to read `opened`. Answers of the analyst that belong to no load go to `on_answer`.
    pub(crate) fn start(
        glue_url: &str,
        opened: Opened,
        on_event: impl Fn(LoadEvent) + 'static,
        on_answer: impl Fn(Answer) + 'static,
    ) -> Result<Self, JsValue> {
        let progress = Progress {
            title: opened.title,
            files: opened.sources.len(),
            bytes: opened.sources.iter().map(|source| source.size_bytes).sum(),
            ..Progress::default()
        };
        let inner = Rc::new(RefCell::new(Inner {
            glue_url: glue_url.to_owned(),
            progress: progress.clone(),
            queue: opened.sources.into(),
            readers: Vec::new(),
            analyst: None,
            on_event: Rc::new(on_event),
        }));
        let for_analyst = Rc::downgrade(&inner);
        let analyst = WorkerHandle::spawn(glue_url, move |event| match event {
            WorkerEvent::Answer(Answer::Analyzed, payload) => analyzed(&for_analyst, &payload),
            WorkerEvent::Answer(answer, _) => on_answer(answer),
            WorkerEvent::Died(message) => match for_analyst.upgrade() {
                Some(inner) => fail(&inner, &message),
                None => on_answer(Answer::Panicked { message }),
            },
        })?;
        inner.borrow_mut().analyst = Some(Rc::new(analyst));

        let wanted = reader_count().min(progress.files).max(1);
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
            WorkerEvent::Answer(Answer::Read { size_bytes, entries }, payload) => {
                if let Some(analyst) = &inner.borrow().analyst {
                    analyst.send(&Request::Add, Some(&payload.get(0)));
                }
                done(&inner, index, size_bytes, entries);
            }
            WorkerEvent::Answer(Answer::Unreadable { reason }, _) => unreadable(&inner, index, &reason),
            WorkerEvent::Answer(..) => {}
            WorkerEvent::Died(reason) => {
                replace(&inner, index);
                unreadable(&inner, index, &format!("the reader stopped ({reason}); the command may have more memory"));
            }
        }
    })?;
    Ok(Reader { worker: Rc::new(worker), reading: None })
}

/// Puts a new worker in the place of a dead one.
fn replace(inner: &Rc<RefCell<Inner>>, index: usize) {
    let Ok(mut fresh) = spawn_reader(inner, index) else { return };
    let mut state = inner.borrow_mut();
    let Some(reader) = state.readers.get_mut(index) else { return };
    fresh.reading = reader.reading.take();
    let dead = std::mem::replace(reader, fresh);
    // This runs inside of the dead one's own callback: let that return first.
    leptos::task::spawn_local(async move { drop(dead) });
}

fn unreadable(inner: &Rc<RefCell<Inner>>, index: usize, reason: &str) {
    let size_bytes = {
        let state = inner.borrow();
        let Some(source) = state.readers.get(index).and_then(|reader| reader.reading.as_ref()) else { return };
        if let Some(analyst) = &state.analyst {
            let request = Request::AddUnreadable { name: source.name.clone(), reason: reason.to_owned() };
            analyst.send(&request, None);
        }
        source.size_bytes
    };
    done(inner, index, size_bytes, 0);
}

/// A reader is through with its file.
fn done(inner: &Rc<RefCell<Inner>>, index: usize, size_bytes: u64, entries: u64) {
    let (on_event, progress) = {
        let state = &mut *inner.borrow_mut();
        let read = state.readers.get_mut(index).and_then(|reader| reader.reading.take());
        let progress = &mut state.progress;
        progress.files_done += 1;
        progress.entries += entries;
        match read {
            Some(source) if source.size_bytes > 0 => progress.bytes_done += source.size_bytes,
            // Sizes of files on a server may not have been known.
            _ => {
                progress.bytes += size_bytes;
                progress.bytes_done += size_bytes;
            }
        }
        (Rc::clone(&state.on_event), progress.clone())
    };
    on_event(LoadEvent::Progress(progress));
    feed(inner, index);
    finish_if_read(inner);
}

/// Gives a reader its next file.
fn feed(inner: &Rc<RefCell<Inner>>, index: usize) {
    let mut state = inner.borrow_mut();
    let state = &mut *state;
    let Some(reader) = state.readers.get_mut(index) else { return };
    let Some(source) = state.queue.pop_front() else { return };
    let name = source.name.clone();
    match &source.place {
        SourcePlace::Disk(file) => reader.worker.send(&Request::ReadFile { name }, Some(file)),
        SourcePlace::Server(url) => reader.worker.send(&Request::ReadUrl { name, url: url.clone() }, None),
    }
    reader.reading = Some(source);
}

fn finish_if_read(inner: &Rc<RefCell<Inner>>) {
    let mut state = inner.borrow_mut();
    if state.progress.files_done < state.progress.files {
        return;
    }
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
    let text = |index| payload.get(index).as_string().unwrap_or_default();
    let (report_json, report_text) = (text(0), text(1));
    let bytes = |index| Uint8Array::new(&payload.get(index)).to_vec();
    let parsed = serde_json::from_str::<Report>(&report_json)
        .map_err(|error| error.to_string())
        .and_then(|report| Ok((report, postcard::from_bytes(&bytes(2)).map_err(|error| error.to_string())?)));
    match (parsed, analyst) {
        (Ok((report, index)), Some(analyst)) => {
            let dataset = Dataset::new(title, report, index, bytes(3), report_text, report_json);
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
