//! The hangscope page: a Leptos app, and the workers that it starts from the same wasm.
//!
//! `boot.js` loads the glue and calls [`start`] on the page; `worker.js` loads the same glue and the same compiled
//! module in a worker and calls [`worker_main`] there. Nothing runs by itself when the module is loaded.

mod app;
mod worker;

pub use app::start;
pub use worker::worker_main;
