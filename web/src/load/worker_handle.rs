//! A worker, as the page sees it.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{Blob, BlobPropertyBag, ErrorEvent, MessageEvent, Url, Worker, WorkerOptions, WorkerType};

use crate::load::protocol::{Answer, Request};

/// The worker's first lines. They are run from a Blob and not from an address of their own, since only such a worker
/// takes over the page's content policy: a worker loaded from an address would be free to send data anywhere.
const WORKER_SOURCE: &str = include_str!("../../worker.js");

/// What comes from a worker.
pub(crate) enum WorkerEvent {
    /// An answer and what came with it.
    Answer(Answer, Array),
    /// The worker is dead: out of memory, or a fault in this program.
    Died(String),
}

/// A message, and what of it moves over.
type Outgoing = (Array, Array);

/// A running worker. It ends when this is dropped.
pub(crate) struct WorkerHandle {
    worker: Worker,
    /// Messages that wait until the worker listens; `None` once it does.
    waiting: Rc<RefCell<Option<Vec<Outgoing>>>>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
}

impl WorkerHandle {
    /// Starts a worker and hands it the glue's address and the page's own compiled module.
    pub(crate) fn spawn(glue_url: &str, on_event: impl Fn(WorkerEvent) + 'static) -> Result<Self, JsValue> {
        let kind = BlobPropertyBag::new();
        kind.set_type("text/javascript");
        let source = Blob::new_with_str_sequence_and_options(&Array::of1(&WORKER_SOURCE.into()), &kind)?;
        let url = Url::create_object_url_with_blob(&source)?;
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = Worker::new_with_options(&url, &options)?;

        let waiting = Rc::new(RefCell::new(Some(Vec::<Outgoing>::new())));
        let on_event = Rc::new(on_event);
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new({
            let (worker, waiting, on_event) = (worker.clone(), Rc::clone(&waiting), Rc::clone(&on_event));
            move |event: MessageEvent| match split(&event.data()) {
                Some((Answer::Ready, _)) => {
                    // The address is needed until the worker has read its source.
                    let _ = Url::revoke_object_url(&url);
                    for (message, transferred) in waiting.borrow_mut().take().unwrap_or_default() {
                        let _ = worker.post_message_with_transfer(&message, &transferred);
                    }
                }
                Some((Answer::Panicked { message }, _)) => on_event(WorkerEvent::Died(message)),
                Some((answer, payload)) => on_event(WorkerEvent::Answer(answer, payload)),
                None => {}
            }
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        let on_error = Closure::<dyn FnMut(ErrorEvent)>::new(move |event: ErrorEvent| {
            // It is told on the page; the console need not say it again.
            event.prevent_default();
            // A fault of the program has been told by then; what is left is memory that the browser did not give.
            let message = event.message();
            let reason = if message.contains("unreachable") {
                format!("the browser has no more memory for it ({message})")
            } else {
                message
            };
            on_event(WorkerEvent::Died(reason));
        });
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));

        let message = Object::new();
        Reflect::set(&message, &"glue".into(), &glue_url.into())?;
        Reflect::set(&message, &"module".into(), &wasm_bindgen::module())?;
        worker.post_message(&message)?;
        Ok(Self { worker, waiting, _on_message: on_message, _on_error: on_error })
    }

    /// Sends a request. What is in `payload` and not a file moves over and is gone here.
    pub(crate) fn send(&self, request: &Request, payload: Option<&JsValue>) {
        let Ok(header) = postcard::to_allocvec(request) else { return };
        let message = Array::of1(&Uint8Array::from(header.as_slice()));
        let transferred = Array::new();
        if let Some(payload) = payload {
            message.push(payload);
            if payload.is_instance_of::<js_sys::ArrayBuffer>() {
                transferred.push(payload);
            }
        }
        match self.waiting.borrow_mut().as_mut() {
            Some(waiting) => waiting.push((message, transferred)),
            None => {
                let _ = self.worker.post_message_with_transfer(&message, &transferred);
            }
        }
    }
}

impl Drop for WorkerHandle {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

/// A message as an answer and what came with it.
fn split(message: &JsValue) -> Option<(Answer, Array)> {
    let parts: &Array = message.dyn_ref()?;
    let answer = postcard::from_bytes(&Uint8Array::new(&parts.get(0)).to_vec()).ok()?;
    Some((answer, parts.slice(1, parts.length())))
}
