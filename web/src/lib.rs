//! The hangscope page: a Leptos app, and the workers that it starts from the same wasm.
//!
//! `boot.js` loads the glue and calls [`start`] on the page; `worker.js` loads the same glue and the same compiled
//! module in a worker and calls [`worker_main`] there. Nothing runs by itself when the module is loaded.
//!
//! The page's own thread draws and listens; it neither reads nor analyses. Reader workers turn files into readings, one
//! more worker holds the analysis and answers questions about single cells ([`load`], [`worker`]). What it found stands
//! as one value beside the reactive graph ([`dataset`]), and [`page`] holds what the user sees of it. The table becomes
//! a list of draw commands without a canvas ([`table`]), so that most of it is tested natively.

mod app;
mod dataset;
#[cfg(test)]
mod example;
mod load;
mod measure;
mod overview;
mod page;
mod parts;
mod rank_status;
mod table;
mod text;
mod worker;

pub use app::start;
pub use measure::read_once;
pub use worker::worker_main;
